/** The public keys of one issuer: cached for a bounded time, and fetched at a bounded rate. */
import { readFile } from 'node:fs/promises';
import { ExchangeError } from '@measurement-exchange/contract';
import { createLocalJWKSet, type JSONWebKeySet } from 'jose';

/** A withdrawn key is rejected after this at the latest; an outage of the issuer is bridged for no longer. */
const MAX_AGE_MS = 10 * 60_000;
/** Between two attempts while no keys are at hand, when every caller is being sent away. */
const RETRY_MS = 1_000;
const FETCH_TIMEOUT_MS = 5_000;

export interface KeySet {
  find: ReturnType<typeof createLocalJWKSet>;
  /** Epoch milliseconds after which these keys no longer count. */
  validUntil: number;
}

export interface KeySource {
  /** The keys at hand, or KEYS_UNAVAILABLE. */
  current(): Promise<KeySet>;
  /** Keys loaded after `seen`; undefined when the issuer has none newer, as far as the cooldown lets us know. */
  newerThan(seen: KeySet): Promise<KeySet | undefined>;
}

interface Habits {
  load: () => Promise<JSONWebKeySet>;
  /** Keys of this age are loaded again. */
  refreshAfterMs: number;
  /** Between two attempts, successful or not, while keys are at hand. */
  cooldownMs: number;
  /** Whether the caller waits for that refresh, or is served with the keys at hand meanwhile. */
  waitForRefresh: boolean;
}

/**
 * Keys behind a URL. The refresh at half of the maximum age runs behind the callers, so that neither a slow
 * issuer delays them nor a short outage reaches them. jose's createRemoteJWKSet does neither, and has no
 * cooldown after a failed fetch: each unknown key ID asks again while the issuer is down.
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
      throw new Error(`${url} answered ${response.status}`);
    }
    return (await response.json()) as JSONWebKeySet;
  };
  return keySource(
    { load, refreshAfterMs: MAX_AGE_MS / 2, cooldownMs: 30_000, waitForRefresh: false },
    clock,
  );
}

/** Keys in a file, read again at most once a second: an edit counts at once, and there is no watcher to lose. */
export function keysFromFile(path: string, clock: () => number): KeySource {
  const load = async () => JSON.parse(await readFile(path, 'utf8')) as JSONWebKeySet;
  return keySource({ load, refreshAfterMs: 1_000, cooldownMs: 1_000, waitForRefresh: true }, clock);
}

function keySource(habits: Habits, clock: () => number): KeySource {
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
      keys = { find: createLocalJWKSet(await habits.load()), validUntil };
      failure = undefined;
    } catch (error) {
      failure = error;
    }
    loading = undefined;
  }

  /** Joins the load under way, or starts one. Never rejects: a failure is told when the keys are asked for. */
  function reload(): Promise<void> {
    loading ??= loadOnce();
    return loading;
  }

  return {
    async current() {
      if (timeLeft() <= 0) {
        if (due(RETRY_MS)) await reload();
      } else if (timeLeft() <= MAX_AGE_MS - habits.refreshAfterMs && due(habits.cooldownMs)) {
        const refresh = reload();
        if (habits.waitForRefresh) await refresh;
      }
      if (timeLeft() <= 0) throw unavailable();
      return keys!;
    },

    async newerThan(seen) {
      if (due(habits.cooldownMs)) await reload();
      if (keys !== seen) return keys;
      if (failure !== undefined) throw unavailable();
      return undefined;
    },
  };
}
