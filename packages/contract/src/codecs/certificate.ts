import { array, bytes, enumOf, object, optional, type Static, text, timestamp } from '../json/schema.ts';
import { REVOCATION_STATES } from '../values/states.ts';
import { certificateName, Finding } from './common.ts';

/** DER or PEM, one of them. */
export const CertificateInput = object({
  x509Der: optional(bytes({ min: 1 })),
  x509Pem: optional(text(20_000, 1)),
});
export type CertificateInput = Static<typeof CertificateInput>;

export const Certificate = object({
  name: optional(certificateName),
  x509Der: bytes(),
  subjectKeyIdentifier: bytes(),
  revocationState: optional(enumOf(REVOCATION_STATES)),
  notBefore: timestamp(),
  notAfter: timestamp(),
  expiresIn: optional(text(20)),
  findings: optional(array(Finding)),
});
export type Certificate = Static<typeof Certificate>;

export const RevokeRequest = object({ revocationState: enumOf(REVOCATION_STATES) });
export type RevokeRequest = Static<typeof RevokeRequest>;
