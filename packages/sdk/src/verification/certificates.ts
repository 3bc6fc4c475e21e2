/** Reads other parties' certificates from the exchange, and verifies them against the trusted roots. */
import type { TrustStore, X509 } from '@measurement-exchange/consent';
import { type Certificate, ExchangeError } from '@measurement-exchange/contract';
import { partyOf } from '../client/names.ts';
import { Fault } from './fault.ts';

/** Thrown if a certificate does not exist, is revoked, or does not belong to the expected party. */
export class CertificateFault extends Fault<
  'CERTIFICATE_MISSING' | 'CERTIFICATE_REVOKED' | 'CERTIFICATE_OF_ANOTHER_PARTY'
> {
  override readonly name = 'CertificateFault';
}

export type FetchCertificate = (name: string) => Promise<Certificate>;

/**
 * Reads the certificate `name` and verifies it. Throws `CertificateFault` in the same cases as `certificateInForce`.
 * Throws `ConsentError` if the certificate is not valid for the party at `now` (see `TrustStore.verify`).
 */
export async function trustedCertificate(
  party: string,
  name: string,
  { fetch, trust, now }: { fetch: FetchCertificate; trust: TrustStore; now: Date },
): Promise<X509> {
  const { x509Der } = await certificateInForce(party, name, fetch);
  return trust.verify(party, x509Der, now);
}

/** Reads the certificate `name`. Throws `CertificateFault` if it is missing, revoked, or does not belong to `party`. */
export async function certificateInForce(
  party: string,
  name: string,
  fetch: FetchCertificate,
): Promise<Certificate> {
  if (partyOf(name) !== party) {
    throw new CertificateFault('CERTIFICATE_OF_ANOTHER_PARTY', `${name} is not a certificate of ${party}`);
  }
  const certificate = await existing(name, fetch);
  const { revocationState } = certificate;
  if (revocationState === undefined) return certificate;
  throw new CertificateFault('CERTIFICATE_REVOKED', `${name} is revoked (${revocationState})`);
}

/** Reads a certificate, even if it is revoked. Throws `CertificateFault` if it does not exist. */
export function existing(name: string, fetch: FetchCertificate): Promise<Certificate> {
  return fetch(name).catch((error) => {
    if (!(error instanceof ExchangeError && error.reason === 'CERTIFICATE_NOT_FOUND')) throw error;
    throw new CertificateFault('CERTIFICATE_MISSING', `the exchange has no ${name}`);
  });
}
