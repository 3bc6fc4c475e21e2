/** Reads certificates of other parties from the exchange, and verifies them against the trusted roots. */

import type { X509 } from '@measurement-exchange/consent';
import { type Certificate, ExchangeError } from '@measurement-exchange/contract';
import { partyOf } from '../client/names.ts';
import type { Dependencies } from './deps.ts';

/** A certificate that does not exist, is revoked, or is not the one that was asked for. */
export class CertificateFault extends Error {
  readonly code: 'CERTIFICATE_MISSING' | 'CERTIFICATE_REVOKED' | 'CERTIFICATE_OF_ANOTHER_PARTY';

  constructor(code: CertificateFault['code'], message: string) {
    super(message);
    this.name = 'CertificateFault';
    this.code = code;
  }
}

/** Throws `CertificateFault`, or a `ConsentError` unless a root that is trusted for this very party issued it. */
export async function trustedCertificate(
  deps: Dependencies,
  party: string,
  name: string,
  signal?: AbortSignal,
): Promise<X509> {
  if (partyOf(name) !== party) {
    throw new CertificateFault('CERTIFICATE_OF_ANOTHER_PARTY', `${name} is no certificate of ${party}`);
  }
  const { x509Der, revocationState } = await fetchCertificate(deps, name, signal);
  if (revocationState !== undefined) {
    throw new CertificateFault('CERTIFICATE_REVOKED', `${name} is in state ${revocationState}`);
  }
  return deps.trust.verify(party, x509Der, new Date(deps.clock.now()));
}

export async function fetchCertificate(
  { client }: Dependencies,
  name: string,
  signal?: AbortSignal,
): Promise<Certificate> {
  return client.getCertificate({ name, ...(signal && { signal }) }).catch((error) => {
    if (!(error instanceof ExchangeError && error.code === 'NOT_FOUND')) throw error;
    throw new CertificateFault('CERTIFICATE_MISSING', `the exchange has no ${name}`);
  });
}
