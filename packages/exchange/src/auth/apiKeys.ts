/**
 * Verifies API keys. The exchange looks keys up by their hash, so the response time does not reveal how much of a
 * guessed key is correct.
 */
import { type ApiKeyRecord, apiKeyHash, apiKeyName } from '../domain/apiKey.ts';
import { AcceptedCredentials, RECHECK_MS, unacceptable, type Verified, type Verifier } from './verified.ts';

export type ApiKeyVerifier = ReturnType<typeof createApiKeyVerifier>;

/** The issuer that `verify` returns for an API key. The subject is the name of the key. */
const ISSUER = 'api-key';

export function createApiKeyVerifier(options: {
  lookup: (keyHash: Uint8Array) => Promise<ApiKeyRecord | undefined>;
  /** Returns the current time in epoch milliseconds. */
  clock?: () => number;
}): Verifier<string> & { invalidate(): void } {
  const { lookup, clock = Date.now } = options;
  let accepted = new AcceptedCredentials(clock);
  return {
    recall: (text) => accepted.recall(AcceptedCredentials.keyOf(text)),

    async verify(text, permit) {
      const cache = accepted;
      const key = AcceptedCredentials.keyOf(text);
      const known = cache.recall(key);
      if (known !== undefined) return known;

      const keyHash = apiKeyHash(text);
      if (keyHash === undefined) throw unacceptable('the API key is malformed');
      if (!cache.has(key)) permit?.(undefined);
      const now = clock();
      const record = await lookup(keyHash);
      const isCurrent = record !== undefined && now < Date.parse(record.expireTime);
      if (!isCurrent) {
        cache.reject(key);
        throw unacceptable(record === undefined ? 'the API key is unknown' : 'the API key has expired');
      }
      // Write to the cache that was in use before the lookup. If `invalidate` has replaced the cache since, nobody
      // reads this outdated entry.
      return cache.accept(key, verifiedOf(record), now + RECHECK_MS);
    },

    /** Clears this replica's cache. Call this after a key was deleted. */
    invalidate() {
      accepted = new AcceptedCredentials(clock);
    },
  };
}

function verifiedOf({ consumer, id, expireTime }: ApiKeyRecord): Verified {
  return {
    issuer: ISSUER,
    subject: apiKeyName(consumer, id),
    expiresAt: Date.parse(expireTime) / 1000,
    claimedPrincipal: consumer,
  };
}
