import * as s from '../json/schema.ts';
import { Finding } from './common.ts';

/** The issuer and subject of a token, and the party (or `operator`) that this subject acts for. */
const input = { issuer: s.text(1000, 1), subject: s.text(255, 1), resource: s.text(100, 1) };
export const PrincipalInput = s.object(input);
export type PrincipalInput = s.Static<typeof PrincipalInput>;

export const PrincipalBinding = s.object({
  name: s.optional(s.nameOf('principal')),
  ...input,
  createTime: s.optional(s.timestamp()),
  findings: s.optional(s.array(Finding)),
});
export type PrincipalBinding = s.Static<typeof PrincipalBinding>;

/**
 * A successful change that is not in the transition log. The transition log records the state changes of measurements,
 * requisitions, and computations. Rejected requests appear only in the service's own log output.
 */
export const AuditEntry = s.object({
  time: s.timestamp(),
  principal: s.text(200),
  operation: s.text(100),
  name: s.text(500),
  outcome: s.enumOf(['OK']),
  requestId: s.text(100),
});
export type AuditEntry = s.Static<typeof AuditEntry>;
