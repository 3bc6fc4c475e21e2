/** Verifies other parties' certificates. */
import { ConsentError, type ConsentErrorCode, type X509 } from '@measurement-exchange/consent';
import {
  ExchangeError,
  type FailureCode,
  isId,
  type Position,
  PREFERRED,
} from '@measurement-exchange/contract';
import type { Duchy } from './context.ts';
import { NotReady, PermanentError } from './errors.ts';

/**
 * Fetches and verifies a party's certificate. Throws if the certificate is invalid, revoked, or on hold, or if its root
 * is not trusted for the party.
 */
export async function trustedCertificate(
  { client, trust }: Pick<Duchy, 'client' | 'trust'>,
  party: string,
  name: string,
): Promise<X509> {
  const position = positionOf(party);
  const [parent, id = ''] = name.split('/certificates/');
  // Leave the name out of the error, because an invalid name could be of any length.
  if (parent !== party || !isId(id) || id === PREFERRED) {
    throw new PermanentError('CERTIFICATE_FOREIGN', position);
  }
  const { x509Der, revocationState } = await client.getCertificate({ name }).catch((error) => {
    const isAbsent = error instanceof ExchangeError && error.reason === 'CERTIFICATE_NOT_FOUND';
    throw isAbsent ? new PermanentError('CERTIFICATE_NOT_FOUND', position) : error;
  });
  if (revocationState) {
    throw new PermanentError('CERTIFICATE_REVOKED', position, { detail: revocationState });
  }
  try {
    return await trust.verify(party, x509Der, new Date());
  } catch (error) {
    if (!(error instanceof ConsentError)) throw error;
    const options = { detail: error.message, cause: error };
    throw error.code.endsWith('_NOT_YET_VALID')
      ? new NotReady('WAITS_FOR_CERTIFICATE', position, options)
      : new PermanentError('CERTIFICATE_INVALID', position, options);
  }
}

function positionOf(party: string): Position {
  if (party.startsWith('duchies/')) return { duchy: party };
  if (party.startsWith('dataProviders/')) return { dataProvider: party };
  return { field: 'measurementConsumerCertificate' };
}

/**
 * Failure codes for a message that has a valid signature, but was not signed for this computation and its terms. The
 * keys are the codes of the ConsentError.
 */
const UNBOUND: Partial<Record<ConsentErrorCode, FailureCode>> = {
  BINDING_MISSING: 'BINDING_MISSING',
  BINDING_MISMATCH: 'TERMS_MISMATCH',
  TERMS_DIFFER: 'TERMS_MISMATCH',
};

/**
 * Awaits a check of a signature, key, or ciphertext. Converts a ConsentError to a PermanentError, which fails the
 * computation.
 */
export async function requireConsent<T>(code: FailureCode, at: Position, check: Promise<T>): Promise<T> {
  try {
    return await check;
  } catch (error) {
    if (!(error instanceof ConsentError)) throw error;
    const { message: detail } = error;
    throw new PermanentError(UNBOUND[error.code] ?? code, at, { detail, cause: error });
  }
}
