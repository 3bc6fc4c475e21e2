/**
 * Manages the streams that callers read. A stream ends at its maximum age, or when its caller is no longer authorized.
 */
import { randomInt } from 'node:crypto';
import type { Found, Watch } from '../operations/index.ts';

/**
 * Authorization is checked every `checkMs`. A stream ends after 80% to 100% of `maxAgeMs`, and its caller reconnects.
 */
const TIMES = { checkMs: 15_000, maxAgeMs: 300_000 };

/**
 * A stream that the HTTP server reads until the stream ends. If the caller disconnects, the HTTP server ends the
 * stream.
 */
export class OpenStream {
  isOver = false;
  readonly isAuthorized: () => Promise<boolean>;
  private readonly watch: Watch;
  private readonly onEnd: (stream: OpenStream) => void;
  private readonly age: NodeJS.Timeout;

  constructor(
    watch: Watch,
    isAuthorized: () => Promise<boolean>,
    maxAgeMs: number,
    onEnd: (stream: OpenStream) => void,
  ) {
    this.watch = watch;
    this.isAuthorized = isAuthorized;
    this.onEnd = onEnd;
    // Vary the maximum age, so that streams that were opened together end at different times. Use only 21 durations,
    // because Node keeps one timer list per duration.
    this.age = setTimeout(() => this.end(), (randomInt(80, 101) / 100) * maxAgeMs);
  }

  /**
   * A token for the stream's start position, to send before any event. Undefined if the first events can be read now,
   * because each event has its own token.
   */
  get token(): string | undefined {
    return this.watch.token;
  }

  /** Returns the next events. Returns undefined if the stream has ended or the exchange is stopping. */
  next(): Promise<Found | undefined> {
    return this.watch.next();
  }

  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.age);
    this.watch.close();
    this.onEnd(this);
  }
}

export class Streams {
  private readonly times: typeof TIMES;
  private readonly streams = new Set<OpenStream>();
  private checks: NodeJS.Timeout | undefined;

  constructor(times = TIMES) {
    this.times = times;
  }

  open(watch: Watch, isAuthorized: () => Promise<boolean>): OpenStream {
    const stream = new OpenStream(watch, isAuthorized, this.times.maxAgeMs, this.remove);
    this.streams.add(stream);
    this.checks ??= setInterval(() => this.check(), this.times.checkMs);
    return stream;
  }

  /**
   * Ends the streams of callers that are no longer authorized. The exchange rejects these callers when they reconnect.
   */
  private check(): void {
    for (const stream of this.streams) {
      void stream.isAuthorized().then((isStill) => isStill || stream.end());
    }
  }

  /** Removes a stream that has ended. One function for all streams saves memory. */
  private readonly remove = (stream: OpenStream): void => {
    this.streams.delete(stream);
    if (this.streams.size > 0) return;
    clearInterval(this.checks);
    this.checks = undefined;
  };
}
