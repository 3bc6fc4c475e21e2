/**
 * Ensures that a requestId creates at most one resource per parent and collection, even if requests are repeated or
 * concurrent.
 */
import { hash } from 'node:crypto';
import { type EncryptionPublicKey, ExchangeError, equalBytes } from '@measurement-exchange/contract';
import { uniqueViolation } from '../database/db.ts';

export function contentHash(content: string | Uint8Array): Uint8Array {
  return hash('sha256', content, 'buffer');
}

/**
 * Returns the public key without `format`, for the hash of a request. A client may omit `format` in a JSON request,
 * and set `format` when it repeats the request in protobuf.
 */
export function withoutFormat({ format: _format, ...key }: EncryptionPublicKey): EncryptionPublicKey {
  return key;
}

/**
 * Runs `attempt`. Runs it again if a concurrent request created the same resource first, so that an insert violated the
 * unique index `index`. The next attempt finds the resource of the other request. `races` is the maximum number of
 * repetitions.
 */
export async function idempotently<T>(index: string, races: number, attempt: () => Promise<T>): Promise<T> {
  for (let lost = 0; ; lost++) {
    try {
      return await attempt();
    } catch (error) {
      if (uniqueViolation(error) !== index || lost >= races) throw error;
    }
  }
}

export function requireSameContent(
  stored: Uint8Array,
  given: Uint8Array,
  requestId: string,
  existing: string,
): void {
  if (equalBytes(stored, given)) return;
  throw new ExchangeError(
    'REQUEST_ID_REUSED',
    'This requestId was used with other content: resend the same request, or use a new requestId.',
    { metadata: { requestId, existing } },
  );
}
