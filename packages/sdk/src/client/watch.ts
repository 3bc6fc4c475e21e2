/** Follows a party's changes until the caller stops. */
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
  /** A token that `onToken` received earlier. The watch continues with the changes that follow this token. */
  pageToken?: string;
  /**
   * Where to start if `pageToken` is absent: now (the default), or at the oldest change that the exchange still has.
   */
  from?: 'NOW' | 'OLDEST';
  'filter.kinds'?: ChangeKind[];
  signal?: AbortSignal;
  /**
   * Called with a new token when every change before the token has been processed. A caller that stores the token can
   * resume after a restart. If the watch starts now (the default), the first call comes before the first change, so a
   * caller that reads a list after this call misses no change.
   */
  onToken?: (pageToken: string) => void;
  /** Called when the watch starts to receive changes as they happen, and again when it recovers after `onRetry`. */
  onFollowing?: () => void;
  /** Called with the reason when changes temporarily cannot be read. The watch then retries. */
  onRetry?: (reason: unknown) => void;
}

export interface Watching {
  /** `maxAttempts` is 1, because the watch itself retries. */
  sender: Sender;
  pages: readonly Route[];
  streams: readonly Route[];
  /**
   * Until this time (epoch milliseconds), all watches of the client read pages, because an intermediary, such as a
   * proxy, blocks streams. 0 if the client has not given up streams yet.
   */
  pagesUntil: number;
  onWarning: (message: string) => void;
}

/**
 * The number of consecutive broken streams after which the client reads only pages, provided that pages still arrive.
 */
const MAX_BROKEN = 3;
/** How long the client reads pages before it tries a stream again, in case the network has changed. */
const PAGES_MS = 3600_000;
/** The maximum time that the exchange holds a page request while there are no changes (long polling). */
const WAIT_SECONDS = 25;
/**
 * An empty page that arrives sooner than this may come from a proxy's cache, so the client pauses before its next
 * request.
 */
const EARLY_MS = 1_000;
const PAUSE_MS = 200;
const MAX_RETRY_AFTER_S = 60;

/**
 * Yields each change once, in order, and resumes after a dropped connection or an outage of the exchange. Ends when the
 * caller leaves its loop. Throws if the signal is aborted, or if an error is not transient, such as
 * `CHANGE_TOKEN_EXPIRED`.
 */
export function watch(watching: Watching, args: WatchArguments): AsyncGenerator<Change, void, undefined> {
  const ended = new AbortController();
  const signal = args.signal ? AbortSignal.any([args.signal, ended.signal]) : ended.signal;
  const changes = untilEnded(new Watch(watching, { ...args, signal }), ended.signal);
  const finish = changes.return.bind(changes);
  // Abort the current wait. Otherwise, the generator would end only after the next change.
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
  private failures = 0;
  private readonly longestWait: number;
  private waitSeconds: number;

  constructor(watching: Watching, args: WatchArguments & { signal: AbortSignal }) {
    this.watching = watching;
    this.args = args;
    this.token = args.pageToken;
    // Ask the exchange to respond at least 5 s before the attempt times out.
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

  /**
   * Reads one stream until it ends. `broken` is the number of consecutive broken streams so far. Returns the new
   * number: one more if this stream was broken too, or 0 if it worked.
   */
  private async *stream(broken: number): AsyncGenerator<Change, number, undefined> {
    // After a failure, read a page first, because the exchange serves pages even when it has too many streams.
    if (this.failures > 0) yield* this.page(0);
    const ending = yield* this.readStream();
    if (ending.broken === undefined) {
      this.failures = 0;
      await this.sleep(ending.retryMs ?? backoffMs(1));
      return 0;
    }
    // Read a page to find out what is broken. If the exchange is unreachable, reading the page throws. Otherwise, only
    // streams are broken.
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

  /**
   * Waits for a page with changes (long polling). If the request fails after a second or more, for example because a
   * proxy times out, the next request asks for half the wait.
   */
  private async *waitForPage(): AsyncGenerator<Change, void, undefined> {
    const { clock } = this.watching.sender;
    const began = clock.now();
    // The first request does not wait, so that the caller gets the first token right away.
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
