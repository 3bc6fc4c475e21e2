/** Whether a certificate chains to a root that the operator trusts. */
import type { X509Certificate } from 'node:crypto';
import type { Finding, Timestamp } from '@measurement-exchange/contract';
import { finding } from './findings.ts';
import { isSignedByIssuer, namesIssuer, parseCertificate } from './parsedCertificates.ts';

export interface Root {
  /** The party whose certificates it may issue; undefined: those of any party that has no root of its own. */
  party: string | undefined;
  x509Der: Uint8Array;
  notBefore: Timestamp;
  notAfter: Timestamp;
}

export interface IssuedCertificate {
  party: string;
  x509Der: Uint8Array;
}

/** What there is to find about a certificate that the caller's `field` names or holds. */
export type TrustCheck = (field: string, certificate: IssuedCertificate) => Finding[];

/** Reads the roots once, for all certificates of a request. Where no root applies, everything is trusted. */
export function trustCheck(roots: readonly Root[], now: Timestamp): TrustCheck {
  const known = roots.map((root) => ({ ...root, x509: parseCertificate(root.x509Der) }));
  return (field, { party, x509Der }) => {
    const own = known.filter((root) => root.party === party);
    const applicable = own.length > 0 ? own : known.filter((root) => root.party === undefined);
    if (applicable.length === 0) return [];
    const why = whyUntrusted(parseCertificate(x509Der), applicable, now);
    return why === undefined ? [] : [finding('CERTIFICATE_UNTRUSTED', field, why)];
  };
}

/** The path is the certificate and its root: roots issue the certificates of parties themselves. */
function whyUntrusted(
  certificate: X509Certificate,
  roots: (Root & { x509: X509Certificate })[],
  now: Timestamp,
): string | undefined {
  const issuers = roots.filter((root) => namesIssuer(certificate, root.x509));
  const whys = issuers.map((root) => {
    if (!root.x509.ca) return 'The trusted root that issued the certificate is not a certificate authority.';
    if (now < root.notBefore) return 'The trusted root that issued the certificate is not valid yet.';
    if (now > root.notAfter) return 'The trusted root that issued the certificate has expired.';
    if (!isSignedByIssuer(certificate, root.x509))
      return 'The trusted root it names did not sign the certificate.';
    return undefined;
  });
  // One good root is enough: a renewed one has the name and the key of its predecessor.
  if (whys.includes(undefined)) return undefined;
  return whys[0] ?? 'No root that is trusted for the party issued the certificate.';
}
