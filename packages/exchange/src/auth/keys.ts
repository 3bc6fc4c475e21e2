/** Caches the public keys of an issuer for a bounded time, and fetches them at a bounded rate. */
import { readFile } from 'node:fs/promises';
import { ExchangeError } from '@measurement-exchange/contract';
import { createLocalJWKSet, type JSONWebKeySet } from 'jose';

/** Keys are used for at most this long: a withdrawn key is then rejected, and so are all keys of an issuer that is down. */
const MAX_AGE_MS = 10 * 60_000;
/** The minimum time between two attempts while there are no valid keys and every caller is rejected. */
const RETRY_MS = 1_000;
const FETCH_TIMEOUT_MS = 5_000;

export interface KeySet {
  find: ReturnType<typeof createLocalJWKSet>;
  /** Epoch milliseconds after which these keys are no longer valid. */
  validUntil: number;
}

export type KeySource = ReturnType<typeof keySource>;

interface RefreshPolicy {
  load: () => Promise<JSONWebKeySet>;
  refreshAfterMs: number;
  /** The minimum time between two attempts, successful or not, while the cached keys are valid. */
  cooldownMs: number;
  /** Whether a caller waits for a refresh; otherwise it gets the cached keys. */
  waitForRefresh: boolean;
}

/**
 * Keys are refreshed in the background at half of their maximum age, so that a slow issuer does not delay callers. jose's
 * createRemoteJWKSet does not refresh in the background, and has no cooldown after a failed fetch: while the issuer is
 * down, each unknown key ID causes another fetch.
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

/** The file is read again at most once a second, so that edits take effect without a file watcher. */
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

  /** Joins the load in progress, or starts a load. Never rejects: `current` and `newerThan` report the failure. */
  function reload(): Promise<void> {
    loading ??= loadOnce();
    return loading;
  }

  return {
    /** The cached keys, loaded if needed; rejects with KEYS_UNAVAILABLE. */
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

    /** Keys loaded after `seen`; undefined if there are no newer keys, or the cooldown allows no fetch. */
    async newerThan(seen: KeySet): Promise<KeySet | undefined> {
      if (due(policy.cooldownMs)) await reload();
      if (keys !== seen) return keys;
      if (failure !== undefined) throw unavailable();
      return undefined;
    },
  };
}
