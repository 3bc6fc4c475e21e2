import { ExchangeError } from '@measurement-exchange/contract';
import { backoffMs, type Clock, systemClock } from './clock.ts';

/** Options of `retryOnAborted`. */
export interface RetryOnAbortedOptions {
  /** The maximum number of attempts; 5 by default. */
  maxAttempts?: number;
  clock?: Clock;
  signal?: AbortSignal | undefined;
}

/**
 * Reads a resource and changes it; if the change is ABORTED by a concurrent one, reads again and retries. `change` decides
 * from the fresh state each time: if its first attempt took effect and only the response was lost, the fresh state shows it.
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
