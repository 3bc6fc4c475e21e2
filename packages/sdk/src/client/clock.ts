/** Waiting, and how long to wait. */

/** Where the client's waits between attempts take their time from. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after so long; rejects with the signal's reason when that is aborted first. */
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

const FIRST_MS = 200;
const LONGEST_MS = 10_000;

/** Twice as long after each failed attempt; the later half is by chance, so that callers do not come in step. */
export function backoffMs(failedAttempts: number): number {
  const whole = Math.min(FIRST_MS * 2 ** (failedAttempts - 1), LONGEST_MS);
  return (whole * (1 + chance())) / 2;
}

/** From 0 to 1. */
function chance(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32;
}
