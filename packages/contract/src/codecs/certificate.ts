import * as s from '../json/schema.ts';
import { REVOCATION_STATES } from '../values/states.ts';
import { certificateName, Finding } from './common.ts';

/** A certificate in DER or PEM. The exchange rejects an input that contains both fields or neither. */
export const CertificateInput = s.object({
  x509Der: s.optional(s.bytes({ min: 1 })),
  x509Pem: s.optional(s.text(20_000, 1)),
});

export const Certificate = s.object({
  name: s.optional(certificateName),
  x509Der: s.bytes(),
  subjectKeyIdentifier: s.bytes(),
  revocationState: s.optional(s.enumOf(REVOCATION_STATES)),
  notBefore: s.timestamp(),
  notAfter: s.timestamp(),
  expiresIn: s.optional(s.text(20)),
  findings: s.optional(s.array(Finding)),
});
export type Certificate = s.Static<typeof Certificate>;

export const RevokeRequest = s.object({ revocationState: s.enumOf(REVOCATION_STATES) });
