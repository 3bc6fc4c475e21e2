/** Streams that callers read: each ends with its age, or when its caller may no longer read it. */
import { randomInt } from 'node:crypto';
import type { Found, Watch } from '../operations/index.ts';

export interface StreamTimes {
  /** How often the pipeline checks whether callers may still read their streams. */
  checkMs: number;
  /** A stream ends after about this time; its caller comes again with a token that is checked anew. */
  maxAgeMs: number;
}
const TIMES: StreamTimes = { checkMs: 15_000, maxAgeMs: 300_000 };

/** A stream that a face reads until there is no more, and ends when its caller hangs up. */
export class OpenStream {
  /** Whether it was ended by its age, by its caller, or because the caller may no longer read it. */
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
    // Streams that were opened together end at different times. Timers of the same length share a list.
    this.age = setTimeout(() => this.end(), (randomInt(80, 101) / 100) * maxAgeMs);
  }

  /** Where it begins; undefined where the first events are there already. */
  get token(): string | undefined {
    return this.watch.token;
  }

  /** Waits for more; undefined when it has ended, or the exchange stops. */
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
  private readonly times: StreamTimes;
  private readonly streams = new Set<OpenStream>();
  /** One timer for all streams. */
  private checks: NodeJS.Timeout | undefined;

  constructor(times: StreamTimes = TIMES) {
    this.times = times;
  }

  open(watch: Watch, isAuthorized: () => Promise<boolean>): OpenStream {
    const stream = new OpenStream(watch, isAuthorized, this.times.maxAgeMs, this.remove);
    this.streams.add(stream);
    this.checks ??= setInterval(() => this.check(), this.times.checkMs);
    return stream;
  }

  /** A caller that may no longer read its stream comes again, and is rejected like any request. */
  private check(): void {
    for (const stream of this.streams) {
      void stream.isAuthorized().then((isStill) => isStill || stream.end());
    }
  }

  /** One function for all streams, of which there are thousands. */
  private readonly remove = (stream: OpenStream): void => {
    this.streams.delete(stream);
    if (this.streams.size > 0) return;
    clearInterval(this.checks);
    this.checks = undefined;
  };
}
