/**
 * Limits rates with token buckets, which allow a steady rate plus a burst. A fixed window would allow twice the rate at
 * its boundaries.
 */
import { ExchangeError } from '@measurement-exchange/contract';
import { number, object, type Static } from '@measurement-exchange/contract/schema';
import { LRUCache } from 'lru-cache';

export const Rate = object({ perSecond: number(), burst: number() });
export type Rate = Static<typeof Rate>;

export interface Quota {
  limit: number;
  remaining: number;
  resetSeconds: number;
}

/**
 * The maximum number of buckets. Evicting the least recently used bucket keeps unknown callers from filling the memory.
 */
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

  get waitMs(): number {
    return this.isEmpty ? Math.ceil(((1 - this.tokens) / this.rate.perSecond) * 1000) : 0;
  }

  /**
   * Takes a token. The number of tokens never becomes negative here, even if concurrent requests take more tokens than
   * the bucket has. A negative number would make the next request wait longer.
   */
  take(): void {
    this.tokens = Math.max(0, this.tokens - 1);
  }

  /** Takes tokens for work that is already done. The number of tokens may become negative. */
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

  error(what: string): ExchangeError {
    return rateLimited(what, Math.max(1, Math.ceil((1 - this.tokens) / this.rate.perSecond)));
  }
}
