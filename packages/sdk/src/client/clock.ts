/** The clock that the client uses to tell the time and to wait. */
export interface Clock {
  /** Returns the current time in milliseconds since 1970. */
  now(): number;
  /** Resolves after `ms`, or rejects with the signal's reason if the signal is aborted first. */
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

/**
 * Returns the time to wait after a failed attempt. The maximum wait doubles with each failure, up to 10 s. The result
 * is random, between half the maximum and the maximum.
 */
export function backoffMs(failedAttempts: number): number {
  const longest = Math.min(INITIAL_BACKOFF_MS * 2 ** (failedAttempts - 1), MAX_BACKOFF_MS);
  const randomFraction = crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32;
  return (longest * (1 + randomFraction)) / 2;
}
