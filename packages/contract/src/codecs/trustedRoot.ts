import * as s from '../json/schema.ts';
import { Finding } from './common.ts';

/** A root certificate without a `party` is trusted for every party that has no root of its own. */
const input = {
  party: s.optional(s.nameOf('measurementConsumer', 'dataProvider', 'duchy')),
  x509Der: s.optional(s.bytes({ min: 1 })),
};
export const TrustedRootInput = s.object({ ...input, x509Pem: s.optional(s.text(20_000, 1)) });

export const TrustedRoot = s.object({
  name: s.optional(s.nameOf('trustedRoot')),
  ...input,
  subjectKeyIdentifier: s.bytes(),
  notBefore: s.timestamp(),
  notAfter: s.timestamp(),
  createTime: s.optional(s.timestamp()),
  findings: s.optional(s.array(Finding)),
});
export type TrustedRoot = s.Static<typeof TrustedRoot>;
