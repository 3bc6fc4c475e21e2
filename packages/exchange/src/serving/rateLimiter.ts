/** Token buckets: a steady rate with a burst. A fixed window would let twice the rate through at its edge. */
import { ExchangeError } from '@measurement-exchange/contract';
import { number, object, type Static } from '@measurement-exchange/contract/schema';
import { LRUCache } from 'lru-cache';

export const Rate = object({ perSecond: number(), burst: number() });
export type Rate = Static<typeof Rate>;

/** What is left of a rate. */
export interface Quota {
  limit: number;
  remaining: number;
  /** Until all of it is there again. */
  resetSeconds: number;
}

/** The least recently used bucket is evicted beyond this many, so that strangers cannot fill the memory. */
const MAX_BUCKETS = 10_000;

export function rateLimited(what: string, retryAfterSeconds: number): ExchangeError {
  return new ExchangeError('RATE_LIMITED', `${what}: slow down and retry.`, { retryAfterSeconds });
}

export class RateLimiter {
  private readonly buckets = new LRUCache<string, Bucket>({ max: MAX_BUCKETS });
  private readonly rateOf: (key: string) => Rate;
  private readonly clock: () => number;

  /** `clock` is monotonic, in milliseconds. */
  constructor(rateOf: (key: string) => Rate, clock: () => number = () => performance.now()) {
    this.rateOf = rateOf;
    this.clock = clock;
  }

  /** With what is in it now. */
  bucketOf(key: string): Bucket {
    const now = this.clock();
    let bucket = this.buckets.get(key);
    if (bucket === undefined) {
      bucket = new Bucket(this.rateOf(key), now);
      this.buckets.set(key, bucket);
    }
    bucket.refill(now);
    return bucket;
  }
}

export class Bucket {
  private readonly rate: Rate;
  private tokens: number;
  private filledAt: number;

  constructor(rate: Rate, now: number) {
    this.rate = rate;
    this.tokens = rate.burst;
    this.filledAt = now;
  }

  refill(now: number): void {
    const { perSecond, burst } = this.rate;
    this.tokens = Math.min(burst, this.tokens + ((now - this.filledAt) / 1000) * perSecond);
    this.filledAt = now;
  }

  get isEmpty(): boolean {
    return this.tokens < 1;
  }

  /** Until there is a token; 0 where there is one. */
  get waitMs(): number {
    return this.isEmpty ? Math.ceil(((1 - this.tokens) / this.rate.perSecond) * 1000) : 0;
  }

  /** Never below zero: what was begun together and is charged later puts nobody off for longer. */
  take(): void {
    this.tokens = Math.max(0, this.tokens - 1);
  }

  /** For work that is done: what is beyond all there is must come in before there is a token again. */
  charge(tokens: number): void {
    this.tokens -= tokens;
  }

  quota(): Quota {
    const { perSecond, burst } = this.rate;
    return {
      limit: burst,
      remaining: Math.max(0, Math.floor(this.tokens)),
      resetSeconds: Math.ceil((burst - this.tokens) / perSecond),
    };
  }

  /** The error of an empty one. */
  error(what: string): ExchangeError {
    return rateLimited(what, Math.max(1, Math.ceil((1 - this.tokens) / this.rate.perSecond)));
  }
}
