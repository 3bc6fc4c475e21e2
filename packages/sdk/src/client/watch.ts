/** Follows the changes of a party until the caller stops. */
import type { Change, ChangeKind, Route } from '@measurement-exchange/contract';
import { backoffMs } from './clock.ts';
import { isTransient } from './errors.ts';
import { type Ending, EventStream } from './eventStream.ts';
import { prepareCall } from './request.ts';
import { readEvent } from './response.ts';
import { type Sender, send } from './send.ts';

export interface WatchArguments {
  /** Your own name: `measurementConsumers/…`, `dataProviders/…` or `duchies/…`. */
  parent: string;
  /** A token that `onToken` received earlier; the watch continues there. */
  pageToken?: string;
  /** Without a token, the watch begins now (default) or with the oldest change that the exchange still has. */
  from?: 'NOW' | 'OLDEST';
  'filter.kinds'?: ChangeKind[];
  signal?: AbortSignal;
  /**
   * Called with the token to continue from, after every change before the token was processed. A caller that stores the
   * token can resume after a restart. The first call comes before the first change: no change is missed between a list
   * that is read after that call and the changes that follow.
   */
  onToken?: (pageToken: string) => void;
  /** Called when the watch starts to receive changes as they happen: at first, and again after `onRetry`. */
  onFollowing?: () => void;
  /** Called with the reason when changes cannot be read for now; the watch retries. */
  onRetry?: (reason: unknown) => void;
}

/** The state that the watches of a client share. */
export interface Watching {
  /** Sends a request for a page once, without retries. */
  sender: Sender;
  pages: readonly Route[];
  streams: readonly Route[];
  /** Every watch reads pages until this time, because a proxy or the like blocks streams. */
  pagesUntil: number;
  onWarning: (message: string) => void;
}

/** After this many broken streams in a row, while pages arrive, the client reads pages only. */
const MAX_BROKEN = 3;
/** The client reads pages for this long before it tries a stream again, since the network may have changed. */
const PAGES_MS = 3600_000;
/** The exchange holds a request for a page for this long while there is no change (long polling). */
const WAIT_SECONDS = 25;
/** An empty page that arrives sooner than this may come from the cache of a proxy, so the client pauses before the next. */
const EARLY_MS = 1_000;
const PAUSE_MS = 200;
const MAX_RETRY_AFTER_S = 60;

/**
 * Yields each change once and in order, and resumes after a lost connection or an outage of the exchange. Ends when the
 * caller leaves its loop or aborts the signal; throws errors that are not transient, such as `CHANGE_TOKEN_EXPIRED`.
 */
export function watch(watching: Watching, args: WatchArguments): AsyncGenerator<Change, void, undefined> {
  const ended = new AbortController();
  const signal = args.signal ? AbortSignal.any([args.signal, ended.signal]) : ended.signal;
  const changes = untilEnded(new Watch(watching, { ...args, signal }), ended.signal);
  const finish = changes.return.bind(changes);
  // Without the abort, a generator that waits for a change would end only after the change.
  changes.return = (value) => {
    ended.abort();
    return finish(value);
  };
  return changes;
}

async function* untilEnded(watch: Watch, ended: AbortSignal): AsyncGenerator<Change, void, undefined> {
  try {
    yield* watch.changes();
  } catch (error) {
    if (!ended.aborted) throw error;
  }
}

class Watch {
  private readonly watching: Watching;
  private readonly args: WatchArguments & { signal: AbortSignal };
  private token: string | undefined;
  private isFollowing = false;
  /** The number of consecutive failures of any kind. */
  private failures = 0;
  private readonly longestWait: number;
  private waitSeconds: number;

  constructor(watching: Watching, args: WatchArguments & { signal: AbortSignal }) {
    this.watching = watching;
    this.args = args;
    this.token = args.pageToken;
    // The wait is 5 s shorter than the timeout of an attempt, so that the response arrives in time.
    this.longestWait = Math.max(0, Math.min(WAIT_SECONDS, Math.floor(watching.sender.timeoutMs / 1000) - 5));
    this.waitSeconds = this.longestWait;
  }

  async *changes(): AsyncGenerator<Change, never, undefined> {
    for (let broken = 0; ; ) {
      this.args.signal.throwIfAborted();
      try {
        const { pagesUntil, sender } = this.watching;
        if (sender.clock.now() < pagesUntil) yield* this.waitForPage();
        else broken = yield* this.stream(broken);
      } catch (error) {
        this.args.signal.throwIfAborted();
        if (!isTransient(error)) throw error;
        this.isFollowing = false;
        this.args.onRetry?.(error);
        this.failures++;
        const { retryAfterSeconds = 0 } = error as { retryAfterSeconds?: number };
        await this.sleep(Math.min(retryAfterSeconds, MAX_RETRY_AFTER_S) * 1000 + backoffMs(this.failures));
      }
    }
  }

  /** Takes and returns the number of consecutive broken streams. */
  private async *stream(broken: number): AsyncGenerator<Change, number, undefined> {
    // After a failure a page is read first, since the exchange serves pages even when it has too many streams.
    if (this.failures > 0) yield* this.page(0);
    const ending = yield* this.readStream();
    if (ending.broken === undefined) {
      this.failures = 0;
      await this.sleep(ending.retryMs ?? backoffMs(1));
      return 0;
    }
    // If the exchange is unreachable, reading a page throws; if only the stream is broken, the page arrives.
    yield* this.page(0);
    if (broken + 1 < MAX_BROKEN) await this.sleep(backoffMs(broken + 1));
    else this.giveUpStreams(ending.broken);
    return broken + 1;
  }

  private async *readStream(): AsyncGenerator<Change, Ending, undefined> {
    const { sender, streams } = this.watching;
    const call = prepareCall(streams, this.query());
    const stream = new EventStream(sender, call, this.args.signal);
    try {
      for (;;) {
        const event = await stream.next();
        if (event === undefined) return stream.ending();
        const change = event.data === undefined ? undefined : (readEvent(call.route, event) as Change);
        this.follows();
        if (change !== undefined) {
          this.failures = 0;
          yield change;
        }
        if (event.id !== undefined) this.moveOn(event.id);
      }
    } finally {
      stream.close();
    }
  }

  private giveUpStreams(why: string): void {
    const { pagesUntil, sender, onWarning } = this.watching;
    this.watching.pagesUntil = sender.clock.now() + PAGES_MS;
    if (pagesUntil > 0) return;
    onWarning(
      `${sender.baseUrl}: changes do not arrive as a stream (${why}), and are read page by page instead. ` +
        'Let the proxies in between pass text/event-stream on at once, and end it after 30 seconds of silence at the earliest.',
    );
  }

  /** Waits for a page with changes (long polling). If a proxy times out first, the next wait is shorter. */
  private async *waitForPage(): AsyncGenerator<Change, void, undefined> {
    const { clock } = this.watching.sender;
    const began = clock.now();
    // The first request does not wait, so that the caller gets the first token at once.
    const isFirst = this.token === undefined;
    try {
      const count = yield* this.page(isFirst ? 0 : this.waitSeconds);
      this.failures = 0;
      this.follows();
      if (isFirst || count > 0) return;
      this.waitSeconds = Math.min(this.waitSeconds + 1, this.longestWait);
    } catch (error) {
      if (clock.now() - began >= EARLY_MS) this.waitSeconds = Math.ceil(this.waitSeconds / 2);
      throw error;
    }
    if (clock.now() - began < EARLY_MS) await this.sleep(PAUSE_MS);
  }

  /** Yields the changes of one page and returns their number. */
  private async *page(waitSeconds: number): AsyncGenerator<Change, number, undefined> {
    const { sender, pages } = this.watching;
    const call = prepareCall(pages, { ...this.query(), waitSeconds });
    const { changes, nextPageToken } = (await send(sender, call, this.args.signal)) as {
      changes: Change[];
      nextPageToken: string;
    };
    for (const change of changes) {
      this.args.signal.throwIfAborted();
      yield change;
    }
    this.moveOn(nextPageToken);
    return changes.length;
  }

  private query() {
    const { parent, from, 'filter.kinds': kinds } = this.args;
    const start = this.token === undefined ? from && { from } : { pageToken: this.token };
    return { parent, ...start, 'filter.kinds': kinds };
  }

  private follows(): void {
    if (this.isFollowing) return;
    this.isFollowing = true;
    this.args.onFollowing?.();
  }

  private moveOn(token: string): void {
    this.token = token;
    this.args.onToken?.(token);
  }

  private sleep(ms: number): Promise<void> {
    return this.watching.sender.clock.sleep(ms, this.args.signal);
  }
}
