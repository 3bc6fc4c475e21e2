/** Caches an issuer's public keys for a limited time, and limits how often they are fetched. */
import { readFile } from 'node:fs/promises';
import { ExchangeError } from '@measurement-exchange/contract';
import { createLocalJWKSet, type JSONWebKeySet } from 'jose';

/**
 * The lifetime of fetched keys. A key that the issuer withdraws is accepted for up to this long. If the issuer is down
 * for longer than this, every token of this issuer is rejected.
 */
const MAX_AGE_MS = 10 * 60_000;
/** The minimum time between two fetches while the cache has no valid keys. */
const RETRY_MS = 1_000;
const FETCH_TIMEOUT_MS = 5_000;

export interface KeySet {
  find: ReturnType<typeof createLocalJWKSet>;
  validUntil: number;
}

export type KeySource = ReturnType<typeof keySource>;

interface RefreshPolicy {
  load: () => Promise<JSONWebKeySet>;
  refreshAfterMs: number;
  /** The minimum time between two fetches while the cached keys are valid. */
  cooldownMs: number;
  waitForRefresh: boolean;
}

/**
 * Returns a source of keys from a URL. If a caller requests keys that have reached half their maximum age, the source
 * returns these keys and refreshes them in the background, so that a slow issuer does not delay callers. jose's
 * createRemoteJWKSet is unsuitable: its callers wait for every refresh, and it fetches for every unknown key ID while
 * the issuer is down.
 */
export function keysFromUrl(url: string, clock: () => number, fetchUrl: typeof fetch): KeySource {
  const load = async () => {
    const response = await fetchUrl(url, {
      redirect: 'error',
      signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
      headers: { accept: 'application/json, application/jwk-set+json' },
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`${url} responded with ${response.status}`);
    }
    return (await response.json()) as JSONWebKeySet;
  };
  return keySource(
    { load, refreshAfterMs: MAX_AGE_MS / 2, cooldownMs: 30_000, waitForRefresh: false },
    clock,
  );
}

/**
 * Returns a source of keys from a file. When keys are requested, the source reads the file again if the last read is
 * more than a second ago. Therefore, no file watcher is needed.
 */
export function keysFromFile(path: string, clock: () => number): KeySource {
  const load = async () => JSON.parse(await readFile(path, 'utf8')) as JSONWebKeySet;
  return keySource({ load, refreshAfterMs: 1_000, cooldownMs: 1_000, waitForRefresh: true }, clock);
}

function keySource(policy: RefreshPolicy, clock: () => number) {
  let keys: KeySet | undefined;
  let loading: Promise<void> | undefined;
  let lastAttempt = Number.NEGATIVE_INFINITY;
  let failure: unknown;

  const due = (afterMs: number) => loading !== undefined || clock() - lastAttempt >= afterMs;
  const timeLeft = () => (keys === undefined ? 0 : keys.validUntil - clock());
  const unavailable = () =>
    new ExchangeError('KEYS_UNAVAILABLE', 'The keys of the token issuer cannot be fetched for now: retry.', {
      retryAfterSeconds: RETRY_MS / 1000,
      cause: failure,
    });

  async function loadOnce(): Promise<void> {
    lastAttempt = clock();
    const validUntil = lastAttempt + MAX_AGE_MS;
    try {
      keys = { find: createLocalJWKSet(await policy.load()), validUntil };
      failure = undefined;
    } catch (error) {
      failure = error;
    }
    loading = undefined;
  }

  /**
   * Starts a load, or joins a load that is already in progress. Never rejects: the error of a failed load is stored,
   * and `current` and `newerThan` report the failure.
   */
  function reload(): Promise<void> {
    loading ??= loadOnce();
    return loading;
  }

  return {
    /** Returns valid keys. Rejects with KEYS_UNAVAILABLE if no valid keys can be loaded. */
    async current(): Promise<KeySet> {
      if (timeLeft() <= 0) {
        if (due(RETRY_MS)) await reload();
      } else if (timeLeft() <= MAX_AGE_MS - policy.refreshAfterMs && due(policy.cooldownMs)) {
        const refresh = reload();
        if (policy.waitForRefresh) await refresh;
      }
      if (timeLeft() <= 0) throw unavailable();
      return keys!;
    },

    /**
     * Loads the keys again if the cooldown has passed. Returns the keys if they are newer than `seen`. If they are not
     * newer, rejects with KEYS_UNAVAILABLE after a failed load, and returns undefined after a successful load.
     */
    async newerThan(seen: KeySet): Promise<KeySet | undefined> {
      if (due(policy.cooldownMs)) await reload();
      if (keys !== seen) return keys;
      if (failure !== undefined) throw unavailable();
      return undefined;
    },
  };
}
