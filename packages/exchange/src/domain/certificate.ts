import { ExchangeError, type RevocationState, type Timestamp } from '@measurement-exchange/contract';

/** What decides whether a certificate may be used. */
export interface Certificate {
  /** `dataProviders/x` … */
  party: string;
  id: string;
  notBefore: Timestamp;
  notAfter: Timestamp;
  revocationState: RevocationState | undefined;
}

/** The certificate a request refers to, when it exists and may be used now; `field` is the caller's. */
export function requireUsable(
  certificate: Certificate | undefined,
  field: string,
  now: Timestamp,
): Certificate {
  if (certificate === undefined) {
    throw new ExchangeError('CERTIFICATE_NOT_FOUND', `${field} names a certificate that does not exist.`, {
      code: 'FAILED_PRECONDITION',
      metadata: { field },
    });
  }
  const why = whyUnusable(certificate, now);
  if (why === undefined) return certificate;
  const name = `${certificate.party}/certificates/${certificate.id}`;
  throw new ExchangeError('CERTIFICATE_IS_INVALID', `${field} names ${name}, which ${why}.`, {
    metadata: { field, certificate: name },
  });
}

function whyUnusable(certificate: Certificate, now: Timestamp): string | undefined {
  if (certificate.revocationState === 'REVOKED') return 'is revoked';
  if (certificate.revocationState === 'HOLD') return 'is on hold';
  if (now < certificate.notBefore) return 'is not valid yet';
  if (now > certificate.notAfter) return 'has expired';
  return undefined;
}
