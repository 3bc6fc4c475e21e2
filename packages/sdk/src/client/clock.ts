/** The clock that waits between attempts use. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason when the signal is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: Date.now,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const stop = () => {
        clearTimeout(timer);
        reject(signal!.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, ms);
      signal?.addEventListener('abort', stop, { once: true });
    }),
};

const INITIAL_BACKOFF_MS = 200;
const MAX_BACKOFF_MS = 10_000;

/** Exponential backoff with jitter: the wait doubles with each failed attempt, up to 10 s, and its second half is random. */
export function backoffMs(failedAttempts: number): number {
  const longest = Math.min(INITIAL_BACKOFF_MS * 2 ** (failedAttempts - 1), MAX_BACKOFF_MS);
  const randomFraction = crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32;
  return (longest * (1 + randomFraction)) / 2;
}
