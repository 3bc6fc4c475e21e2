import { bytes, enumOf, object, optional, type Static, timestamp } from '../schema.ts';
import { REVOCATION_STATES } from '../states.ts';
import { certificateName } from './common.ts';

export const Certificate = object({
  name: certificateName,
  x509Der: bytes(),
  subjectKeyIdentifier: bytes(),
  revocationState: optional(enumOf(REVOCATION_STATES)),
  notBefore: timestamp(),
  notAfter: timestamp(),
});
export type Certificate = Static<typeof Certificate>;
