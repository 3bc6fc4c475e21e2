/** Reads certificates of other parties from the exchange, and verifies them against the trusted roots. */

import type { X509 } from '@measurement-exchange/consent';
import { ExchangeError } from '@measurement-exchange/contract';
import type { Dependencies } from './deps.ts';

/** A certificate that does not exist or is revoked. */
export class CertificateFault extends Error {
  readonly code: 'CERTIFICATE_MISSING' | 'CERTIFICATE_REVOKED';

  constructor(code: CertificateFault['code'], message: string) {
    super(message);
    this.name = 'CertificateFault';
    this.code = code;
  }
}

/** `dataProviders/x` of `dataProviders/x/certificates/y`. */
export function partyOf(certificate: string): string {
  return certificate.split('/').slice(0, 2).join('/');
}

/** Throws `CertificateFault`, or a `ConsentError` where no trusted root of the party issued it. */
export async function trustedCertificate(
  { client, trust, clock }: Dependencies,
  name: string,
  signal?: AbortSignal,
): Promise<X509> {
  const certificate = await client.getCertificate({ name, ...(signal && { signal }) }).catch((error) => {
    if (!(error instanceof ExchangeError && error.code === 'NOT_FOUND')) throw error;
    throw new CertificateFault('CERTIFICATE_MISSING', `the exchange has no ${name}`);
  });
  if (certificate.revocationState !== undefined) {
    throw new CertificateFault('CERTIFICATE_REVOKED', `${name} is in state ${certificate.revocationState}`);
  }
  return trust.verify(partyOf(name), certificate.x509Der, new Date(clock.now()));
}
