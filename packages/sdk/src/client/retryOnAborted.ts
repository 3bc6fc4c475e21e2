import { ExchangeError } from '@measurement-exchange/contract';
import { backoffMs, type Clock, systemClock } from './clock.ts';

/** How long `retryOnAborted` goes on. The pauses between its attempts take their time from the clock. */
export interface RetryOnAbortedOptions {
  /** How often to try at most; 5 unless given. */
  maxAttempts?: number;
  clock?: Clock;
  signal?: AbortSignal;
}

/**
 * Reads, and changes what was read; where the change is ABORTED because somebody was quicker, reads again and tries
 * again. `change` sees the fresh state each time and decides from it: an own change whose answer was lost is ABORTED
 * when it is sent again, and shows in what is read then.
 */
export async function retryOnAborted<T, R>(
  read: () => Promise<T>,
  change: (fresh: T) => Promise<R>,
  options: RetryOnAbortedOptions = {},
): Promise<R> {
  const { maxAttempts = 5, clock = systemClock, signal } = options;
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    const fresh = await read();
    try {
      return await change(fresh);
    } catch (error) {
      const aborted = error instanceof ExchangeError && error.code === 'ABORTED';
      if (!aborted || attempt >= maxAttempts) throw error;
    }
    await clock.sleep(backoffMs(attempt), signal);
  }
}
