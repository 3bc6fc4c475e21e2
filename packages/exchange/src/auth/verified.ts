/** Defines the result, the error, and the cache that all verifiers of credentials share. */
import { hash } from 'node:crypto';
import { ExchangeError } from '@measurement-exchange/contract';
import { LRUCache } from 'lru-cache';

/** The result of verifying a bearer token, a client certificate or an API key. */
export interface Verified {
  readonly issuer: string;
  readonly subject: string;
  /** Epoch seconds. */
  readonly expiresAt: number;
  /**
   * The principal that the credentials name. For a token, this is the value of the issuer's `principalClaim`. Undefined
   * for a token if `principalClaim` is not set or its value is not a string.
   */
  readonly claimedPrincipal?: string;
}

/**
 * Called before the expensive part of verification, for credentials that are not in the cache. Prevents the
 * verification by throwing. `knownSubject` is the subject that the credentials claim, if other credentials of this
 * subject were accepted before.
 */
export type Permit = (knownSubject: string | undefined) => void;

export interface Verifier<Credentials> {
  /**
   * Returns the object that `verify` returned for the same credentials, if it is still cached. Objects are cached for
   * at most a minute.
   */
  recall(credentials: Credentials): Verified | undefined;
  /**
   * Verifies the credentials. Rejects with TOKEN_INVALID, with a code that asks the caller to retry, or with the error
   * that `permit` throws.
   */
  verify(credentials: Credentials, permit?: Permit): Promise<Verified>;
}

/**
 * Returns the error for credentials that are not accepted. The caller always gets the same message. `why` goes to the
 * log and contains no secret.
 */
export function unacceptable(why: string): ExchangeError {
  return new ExchangeError('TOKEN_INVALID', 'The credentials are missing or not acceptable.', { cause: why });
}

interface Entry {
  verified: Verified;
  /** The credentials must be checked again at this time, in epoch milliseconds. */
  checkAt: number;
}

export const CACHE_CAPACITY = 10_000;
/** A replica accepts credentials for at most this long after they were revoked through another replica. */
export const RECHECK_MS = 30_000;

/** Caches accepted credentials by their hash, so that no secret stays in memory. */
export class AcceptedCredentials {
  private readonly entries = new LRUCache<string, Entry>({ max: CACHE_CAPACITY });
  private readonly clock: () => number;

  /** `clock` returns epoch milliseconds. */
  constructor(clock: () => number) {
    this.clock = clock;
  }

  static keyOf(credentials: string | Uint8Array): string {
    return hash('sha256', credentials, 'base64');
  }

  /**
   * Returns the cached result, or undefined if the credentials must be checked again. Repeated calls return the same
   * object.
   */
  recall(key: string): Verified | undefined {
    const entry = this.entries.get(key);
    return entry !== undefined && this.clock() < entry.checkAt ? entry.verified : undefined;
  }

  /** Returns whether the credentials were accepted before, even if they must be checked again. */
  has(key: string): boolean {
    return this.entries.has(key);
  }

  accept(key: string, verified: Verified, checkAt: number): Verified {
    this.entries.set(key, { verified, checkAt: Math.min(checkAt, verified.expiresAt * 1000) });
    return verified;
  }

  reject(key: string): void {
    this.entries.delete(key);
  }
}
