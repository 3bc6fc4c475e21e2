/** The public keys of one issuer: cached for a bounded time, and fetched at a bounded rate. */
import { readFile } from 'node:fs/promises';
import { ExchangeError } from '@measurement-exchange/contract';
import { createLocalJWKSet, type JSONWebKeySet } from 'jose';

/** A withdrawn key is rejected after this at the latest; an outage of the issuer is bridged for no longer. */
const MAX_AGE_MS = 10 * 60_000;
/** The minimum time between two attempts without valid keys, while every caller is rejected. */
const RETRY_MS = 1_000;
const FETCH_TIMEOUT_MS = 5_000;

export interface KeySet {
  find: ReturnType<typeof createLocalJWKSet>;
  /** Epoch milliseconds after which these keys are no longer valid. */
  validUntil: number;
}

export interface KeySource {
  /** The cached keys, loaded if needed; rejects with KEYS_UNAVAILABLE. */
  current(): Promise<KeySet>;
  /** Keys loaded after `seen`; undefined where no newer keys exist, or the cooldown allows no fetch. */
  newerThan(seen: KeySet): Promise<KeySet | undefined>;
}

interface RefreshPolicy {
  load: () => Promise<JSONWebKeySet>;
  /** The age at which keys are refreshed. */
  refreshAfterMs: number;
  /** The minimum time between two attempts, successful or not, while the cached keys are valid. */
  cooldownMs: number;
  /** Whether the caller waits for that refresh, or gets the cached keys meanwhile. */
  waitForRefresh: boolean;
}

/**
 * Keys behind a URL. The refresh at half of the maximum age runs in the background, so that neither a slow
 * issuer nor a short outage delays callers. jose's createRemoteJWKSet does not do this, and has no
 * cooldown after a failed fetch: each unknown key ID causes another fetch while the issuer is down.
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

/** Keys in a file, read again at most once a second, so that edits take effect without a file watcher. */
export function keysFromFile(path: string, clock: () => number): KeySource {
  const load = async () => JSON.parse(await readFile(path, 'utf8')) as JSONWebKeySet;
  return keySource({ load, refreshAfterMs: 1_000, cooldownMs: 1_000, waitForRefresh: true }, clock);
}

function keySource(policy: RefreshPolicy, clock: () => number): KeySource {
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

  /** Joins the load in progress, or starts one. Never rejects: `current` and `newerThan` report the failure. */
  function reload(): Promise<void> {
    loading ??= loadOnce();
    return loading;
  }

  return {
    async current() {
      if (timeLeft() <= 0) {
        if (due(RETRY_MS)) await reload();
      } else if (timeLeft() <= MAX_AGE_MS - policy.refreshAfterMs && due(policy.cooldownMs)) {
        const refresh = reload();
        if (policy.waitForRefresh) await refresh;
      }
      if (timeLeft() <= 0) throw unavailable();
      return keys!;
    },

    async newerThan(seen) {
      if (due(policy.cooldownMs)) await reload();
      if (keys !== seen) return keys;
      if (failure !== undefined) throw unavailable();
      return undefined;
    },
  };
}
