import { ExchangeError, type RevocationState, type Timestamp } from '@measurement-exchange/contract';

/** The properties that decide whether a certificate may be used. */
export interface Certificate {
  /** `dataProviders/x` … */
  party: string;
  id: string;
  notBefore: Timestamp;
  notAfter: Timestamp;
  revocationState: RevocationState | undefined;
}

/** A certificate with its version; only its revocation state ever changes. */
export interface VersionedCertificate extends Certificate {
  version: number;
}

export const EXPIRING_DAYS = 30;

function nameOf({ party, id }: Certificate): string {
  return `${party}/certificates/${id}`;
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
  const name = nameOf(certificate);
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

/** A measurement that depends on such a certificate is about to be failed, and accepts no more results. */
export function requireNoneRevoked([revoked]: Certificate[]): void {
  if (revoked === undefined) return;
  const name = nameOf(revoked);
  throw new ExchangeError(
    'CERTIFICATE_IS_INVALID',
    `The measurement rests on ${name}, which is ${inWords(revoked.revocationState!)}.`,
    { metadata: { certificate: name } },
  );
}

/** Revokes a certificate, which is final, or puts it on hold; returns the same record if nothing changes. */
export function revoke<C extends VersionedCertificate>(before: C, to: RevocationState): C {
  if (before.revocationState === to) return before;
  if (before.revocationState === 'REVOKED') throw stateIllegal(before);
  return { ...before, revocationState: to, version: before.version + 1 };
}

/** `cascading`: some measurements that depended on it when it was put on hold have not been failed yet. */
export function releaseHold<C extends VersionedCertificate>(before: C, cascading: boolean): C {
  if (before.revocationState !== 'HOLD') throw stateIllegal(before);
  if (cascading) {
    // After the release, measurements from before the hold could not be told from those created later.
    throw new ExchangeError(
      'UNAVAILABLE',
      'Measurements that rested on the certificate are still being failed: retry.',
      { retryAfterSeconds: 1, metadata: { certificate: nameOf(before) } },
    );
  }
  return { ...before, revocationState: undefined, version: before.version + 1 };
}

function stateIllegal(certificate: Certificate): ExchangeError {
  const { revocationState } = certificate;
  const state = revocationState === undefined ? 'not on hold' : `${inWords(revocationState)}, which is final`;
  const name = nameOf(certificate);
  return new ExchangeError('CERTIFICATE_REVOCATION_STATE_ILLEGAL', `${name} is ${state}.`, {
    metadata: { certificate: name, ...(revocationState && { revocationState }) },
  });
}

function inWords(state: RevocationState): string {
  return state === 'HOLD' ? 'on hold' : 'revoked';
}

/** The failure message of a measurement that depended on the certificate. */
export function revocationMessage(certificate: string, state: RevocationState): string {
  return `${certificate} was ${state === 'HOLD' ? 'put on hold' : 'revoked'}.`;
}

/** The remaining validity as a proto3 JSON duration, if it is at most 30 days. */
export function expiresIn(certificate: Certificate, now: Timestamp): string | undefined {
  if (certificate.revocationState !== undefined) return undefined;
  const seconds = Math.floor((Date.parse(certificate.notAfter) - Date.parse(now)) / 1000);
  return seconds >= 0 && seconds <= EXPIRING_DAYS * 24 * 3600 ? `${seconds}s` : undefined;
}
