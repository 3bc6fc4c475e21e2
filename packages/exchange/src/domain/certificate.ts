import { ExchangeError, type RevocationState, type Timestamp } from '@measurement-exchange/contract';

export interface Certificate {
  /** A resource name such as `dataProviders/x`. */
  party: string;
  id: string;
  notBefore: Timestamp;
  notAfter: Timestamp;
  revocationState: RevocationState | undefined;
}

/** A certificate with its version, which grows only when the revocation state changes. */
export interface VersionedCertificate extends Certificate {
  version: number;
}

export const EXPIRING_DAYS = 30;

export function certificateName(party: string, id: string): string {
  return `${party}/certificates/${id}`;
}

/**
 * Throws if the certificate does not exist or cannot be used now. `field` is the request field that names the
 * certificate.
 */
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
  const name = certificateName(certificate.party, certificate.id);
  throw new ExchangeError('CERTIFICATE_IS_INVALID', `${field} names ${name}, which ${why}.`, {
    metadata: { field, certificate: name },
  });
}

export function whyUnusable(certificate: Certificate, now: Timestamp): string | undefined {
  const { revocationState } = certificate;
  if (revocationState !== undefined) return `is ${inWords(revocationState)}`;
  if (now < certificate.notBefore) return 'is not valid yet';
  if (now > certificate.notAfter) return 'has expired';
  return undefined;
}

/**
 * Throws if a measurement depends on a certificate that is revoked or on hold, because the measurement will soon fail
 * and accepts no more data. The argument lists all such certificates of the measurement.
 */
export function requireNoneRevoked([revoked]: Certificate[]): void {
  if (revoked === undefined) return;
  const name = certificateName(revoked.party, revoked.id);
  throw new ExchangeError(
    'CERTIFICATE_IS_INVALID',
    `The measurement depends on ${name}, which is ${inWords(revoked.revocationState!)}.`,
    { metadata: { certificate: name } },
  );
}

export function revoke<C extends VersionedCertificate>(before: C, to: RevocationState): C {
  if (before.revocationState === to) return before;
  if (before.revocationState === 'REVOKED') throw stateIllegal(before);
  return { ...before, revocationState: to, version: before.version + 1 };
}

/**
 * Releases a certificate's hold. Throws if the certificate is not on hold. Also throws if `cascading` is true: in that
 * case, some measurements that depend on the certificate have not failed yet.
 */
export function releaseHold<C extends VersionedCertificate>(before: C, cascading: boolean): C {
  if (before.revocationState !== 'HOLD') throw stateIllegal(before);
  if (cascading) {
    // Let the caller retry until all measurements created before the hold have failed. After the release, the exchange
    // could not tell these measurements apart from later ones.
    throw new ExchangeError(
      'UNAVAILABLE',
      'Measurements that depend on the certificate are still being failed: retry.',
      { retryAfterSeconds: 1, metadata: { certificate: certificateName(before.party, before.id) } },
    );
  }
  return { ...before, revocationState: undefined, version: before.version + 1 };
}

function stateIllegal({ party, id, revocationState }: Certificate): ExchangeError {
  const state = revocationState === undefined ? 'not on hold' : `${inWords(revocationState)}, which is final`;
  const name = certificateName(party, id);
  return new ExchangeError('CERTIFICATE_REVOCATION_STATE_ILLEGAL', `${name} is ${state}.`, {
    metadata: { certificate: name, ...(revocationState && { revocationState }) },
  });
}

function inWords(state: RevocationState): string {
  return state === 'HOLD' ? 'on hold' : 'revoked';
}

export function revocationMessage(certificate: string, state: RevocationState): string {
  return `${certificate} was ${state === 'HOLD' ? 'put on hold' : 'revoked'}.`;
}

/**
 * Returns the remaining validity as a proto3 JSON duration. Returns undefined if the certificate is revoked, on hold,
 * or expired, or is still valid for more than 30 days.
 */
export function expiresIn(certificate: Certificate, now: Timestamp): string | undefined {
  if (certificate.revocationState !== undefined) return undefined;
  const seconds = Math.floor((Date.parse(certificate.notAfter) - Date.parse(now)) / 1000);
  return seconds >= 0 && seconds <= EXPIRING_DAYS * 24 * 3600 ? `${seconds}s` : undefined;
}
