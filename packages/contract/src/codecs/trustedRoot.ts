import { array, bytes, nameOf, object, optional, type Static, text, timestamp } from '../json/schema.ts';
import { Finding } from './common.ts';

/** A root certificate, as DER or PEM; for one party, or for all where `party` is absent. */
const input = {
  party: optional(nameOf('measurementConsumer', 'dataProvider', 'duchy')),
  x509Der: optional(bytes({ min: 1 })),
};
export const TrustedRootInput = object({ ...input, x509Pem: optional(text(20_000, 1)) });
export type TrustedRootInput = Static<typeof TrustedRootInput>;

export const TrustedRoot = object({
  name: optional(nameOf('trustedRoot')),
  ...input,
  subjectKeyIdentifier: bytes(),
  notBefore: timestamp(),
  notAfter: timestamp(),
  createTime: optional(timestamp()),
  findings: optional(array(Finding)),
});
export type TrustedRoot = Static<typeof TrustedRoot>;
