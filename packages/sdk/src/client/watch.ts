/** Following the changes of a party, as long as the caller wants to. */
import type { Change, ChangeKind } from '@measurement-exchange/contract';
import { backoffMs, type Clock } from './clock.ts';
import { isTransient } from './errors.ts';

export interface WatchArguments {
  /** Your own name: `measurementConsumers/…`, `dataProviders/…` or `duchies/…`. */
  parent: string;
  /** Where to go on: a token that `onToken` was given earlier. */
  pageToken?: string;
  /** Where to begin without a token: with what changes from now on (default), or with the oldest change that is kept. */
  from?: 'NOW' | 'OLDEST';
  'filter.kinds'?: ChangeKind[];
  signal?: AbortSignal;
  /**
   * Called with where to go on from once every change before it was taken, and with the first token before the first
   * change: what is listed after that and then followed has no gap. Kept by the caller, it resumes after a restart.
   */
  onToken?: (pageToken: string) => void;
}

export interface Watching {
  listChanges(
    args: Omit<WatchArguments, 'onToken'> & { waitSeconds: number },
  ): Promise<{ changes: Change[]; nextPageToken: string }>;
  clock: Clock;
  timeoutMs: number;
}

/** For which the exchange holds a response where there is nothing. */
const WAIT_SECONDS = 25;
/** An exchange that has nothing waits; whoever responds at once, such as a proxy with a cache, is not asked at once again. */
const EARLY_MS = 1_000;
const PAUSE_MS = 200;

/**
 * Each change once and in order. Goes on after lost connections and while the exchange is away, from where it was.
 * Ends with the loop that reads it, or with the signal; throws what does not pass, such as `CHANGE_TOKEN_EXPIRED`.
 */
export async function* watch(
  { listChanges, clock, timeoutMs }: Watching,
  args: WatchArguments,
): AsyncGenerator<Change, void, undefined> {
  const { pageToken: given, from, onToken, ...rest } = args;
  const { signal } = args;
  // The response must arrive before the attempt times out.
  const longest = Math.max(0, Math.min(WAIT_SECONDS, Math.floor(timeoutMs / 1000) - 5));
  let pageToken = given;
  for (let failures = 0; ; ) {
    signal?.throwIfAborted();
    const began = clock.now();
    const start = pageToken === undefined ? from && { from } : { pageToken };
    // The first token at once: who begins now wants to know from where on.
    const waitSeconds = pageToken === undefined ? 0 : longest;
    const page = await listChanges({ ...rest, ...start, waitSeconds }).catch((error) => {
      signal?.throwIfAborted();
      if (!isTransient(error)) throw error;
      return undefined;
    });
    if (page === undefined) {
      failures++;
      await clock.sleep(backoffMs(failures), signal);
      continue;
    }
    failures = 0;
    yield* page.changes;
    const isFirst = pageToken === undefined;
    pageToken = page.nextPageToken;
    onToken?.(pageToken);
    const isEarly = page.changes.length === 0 && clock.now() - began < EARLY_MS;
    if (isEarly && !isFirst) await clock.sleep(PAUSE_MS, signal);
  }
}
