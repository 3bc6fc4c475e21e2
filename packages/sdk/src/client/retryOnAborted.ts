import { ExchangeError } from '@measurement-exchange/contract';
import { backoffMs, type Clock, systemClock } from './clock.ts';

/** Options for `retryOnAborted`. */
export interface RetryOnAbortedOptions {
  /** The maximum number of attempts; 5 by default. */
  maxAttempts?: number;
  clock?: Clock;
  signal?: AbortSignal | undefined;
}

/**
 * Reads a resource and changes it. If the change fails with ABORTED, the resource has changed in the meantime, so the
 * function reads it again and retries. `change` must check the state each time, because an earlier attempt could have
 * taken effect even if its response was lost.
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
