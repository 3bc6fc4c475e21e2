import { nameOf, object, optional, type Static, text, timestamp } from '../schema.ts';

/** Whom a subject of an issuer speaks for: a party, or `operator`. */
export const PrincipalInput = object({
  issuer: text(1000, 1),
  subject: text(255, 1),
  resource: text(100, 1),
});
export type PrincipalInput = Static<typeof PrincipalInput>;

export const PrincipalBinding = object({
  name: optional(nameOf('principal')),
  issuer: text(1000, 1),
  subject: text(255, 1),
  resource: text(100, 1),
  createTime: optional(timestamp()),
});
export type PrincipalBinding = Static<typeof PrincipalBinding>;

/** One mutation outside the transition log. */
export const AuditEntry = object({
  time: timestamp(),
  principal: text(200),
  operation: text(100),
  name: text(500),
  version: optional(text(20)),
  requestId: text(100),
});
export type AuditEntry = Static<typeof AuditEntry>;
