/** Verifies the signatures on uploads and messages. A sender has no other way to prove its identity. */
import { ConsentError, verifySignature, type X509 } from '@measurement-exchange/consent';
import { ExchangeError, type SignedMessage } from '@measurement-exchange/contract';
import { trustedCertificate } from '../computations/certificates.ts';
import type { Duchy } from '../computations/context.ts';
import { NotReady, PermanentError } from '../computations/errors.ts';
import { exchangeUnavailable, mismatch } from '../computations/rejections.ts';
import { Failures } from './slots.ts';

/** The party that claims to have signed a message, the name of the party's certificate, and the computation's ID. */
export interface Sender {
  party: string;
  certificate: string;
  computation: string;
}

/**
 * The maximum number of rejected certificates per minute, for each party and computation. The limit is low, because
 * checking a certificate may require a call to the exchange.
 */
const MOST_REJECTED = 10;

/**
 * Returns a function that verifies a message. The function throws if the message was not signed with a certificate that
 * is trusted for the party.
 */
export function createSignatureCheck(duchy: Duchy) {
  const rejected = new Failures(MOST_REJECTED, 'certificates for this computation');
  return async (signed: SignedMessage, { party, certificate, computation }: Sender, part: string) => {
    const x509 = await rejected.run(
      `${computation} ${party}`,
      () => certificateOf(duchy, party, certificate, `${part}.certificate`),
      (error) => error instanceof ExchangeError && error.reason === 'CERTIFICATE_IS_INVALID',
    );
    try {
      await verifySignature(signed, x509);
    } catch (error) {
      if (!(error instanceof ConsentError)) throw error;
      throw mismatch(`${part}.signature`, error.message);
    }
  };
}

export type SignatureCheck = ReturnType<typeof createSignatureCheck>;

async function certificateOf(duchy: Duchy, party: string, name: string, field: string): Promise<X509> {
  try {
    return await trustedCertificate(duchy, party, name);
  } catch (error) {
    if (error instanceof NotReady) {
      const message = `${field}: ${error.message}`;
      throw new ExchangeError('UNAVAILABLE', message, { cause: error, retryAfterSeconds: 1 });
    }
    if (!(error instanceof PermanentError)) throw exchangeUnavailable(error);
    // Send the detail to the caller, because it describes the caller's own certificate.
    const description = [error.message, error.detail].filter(Boolean).join(' ');
    throw new ExchangeError('CERTIFICATE_IS_INVALID', `${field}: ${description}`, {
      violations: [{ field, description }],
      cause: error,
    });
  }
}
