import { array, enumOf, nameOf, object, optional, type Static, text, timestamp } from '../json/schema.ts';
import { Finding } from './common.ts';

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
  findings: optional(array(Finding)),
});
export type PrincipalBinding = Static<typeof PrincipalBinding>;

/** One mutation outside the transition log. Refused calls are in the log of the service, not here. */
export const AuditEntry = object({
  time: timestamp(),
  principal: text(200),
  operation: text(100),
  name: text(500),
  outcome: enumOf(['OK']),
  requestId: text(100),
});
export type AuditEntry = Static<typeof AuditEntry>;
