/** Token buckets: a steady rate with a burst. A fixed window would let twice the rate through at its edge. */
import { ExchangeError } from '@measurement-exchange/contract';

export interface Rate {
  perSecond: number;
  burst: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

/** Full buckets are forgotten beyond this many, so that strangers cannot fill the memory. */
const MAX_BUCKETS = 10_000;

export function rateLimited(what: string, retryAfterSeconds: number): ExchangeError {
  return new ExchangeError('RATE_LIMITED', `${what}: slow down and retry.`, { retryAfterSeconds });
}

export class RateLimiter {
  private readonly buckets = new Map<string, Bucket>();
  private readonly rateOf: (key: string) => Rate;
  private readonly clock: () => number;

  /** `clock` is monotonic, in milliseconds. */
  constructor(rateOf: (key: string) => Rate, clock: () => number = () => performance.now()) {
    this.rateOf = rateOf;
    this.clock = clock;
  }

  /** The refusal where the bucket is empty. */
  refusal(key: string, what: string): ExchangeError | undefined {
    const { bucket, rate } = this.bucket(key);
    if (bucket.tokens >= 1) return undefined;
    const retryAfterSeconds = Math.max(1, Math.ceil((1 - bucket.tokens) / rate.perSecond));
    return rateLimited(what, retryAfterSeconds);
  }

  take(key: string): void {
    this.bucket(key).bucket.tokens -= 1;
  }

  /** The values of the RateLimit-* headers. */
  headers(key: string): Record<string, string> {
    const { bucket, rate } = this.bucket(key);
    return {
      'ratelimit-limit': String(rate.burst),
      'ratelimit-remaining': String(Math.max(0, Math.floor(bucket.tokens))),
      'ratelimit-reset': String(Math.ceil((rate.burst - bucket.tokens) / rate.perSecond)),
    };
  }

  private bucket(key: string): { bucket: Bucket; rate: Rate } {
    const rate = this.rateOf(key);
    const now = this.clock();
    let bucket = this.buckets.get(key);
    if (bucket === undefined) {
      if (this.buckets.size >= MAX_BUCKETS) this.forgetFull(now);
      bucket = { tokens: rate.burst, at: now };
      this.buckets.set(key, bucket);
    }
    bucket.tokens = Math.min(rate.burst, bucket.tokens + ((now - bucket.at) / 1000) * rate.perSecond);
    bucket.at = now;
    return { bucket, rate };
  }

  private forgetFull(now: number): void {
    for (const [key, bucket] of this.buckets) {
      const rate = this.rateOf(key);
      if (bucket.tokens + ((now - bucket.at) / 1000) * rate.perSecond >= rate.burst) this.buckets.delete(key);
    }
    // Everyone is at the limit: start afresh rather than grow.
    if (this.buckets.size >= MAX_BUCKETS) this.buckets.clear();
  }
}
