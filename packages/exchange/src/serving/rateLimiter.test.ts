import { expect, it } from 'vitest';
import { RateLimiter } from './rateLimiter.ts';

function limiter() {
  const clock = { now: 0 };
  return {
    clock,
    rates: new RateLimiter(
      () => ({ perSecond: 2, burst: 3 }),
      () => clock.now,
    ),
  };
}

function drain(rates: RateLimiter, key: string): number {
  let taken = 0;
  for (; !rates.bucketOf(key).isEmpty; taken++) rates.bucketOf(key).take();
  return taken;
}

it('allows a burst immediately, and then the rate', () => {
  const { clock, rates } = limiter();
  expect(drain(rates, 'a')).toBe(3);
  expect(drain(rates, 'b')).toBe(3);
  clock.now = 499;
  expect(drain(rates, 'a')).toBe(0);
  clock.now = 500;
  expect(drain(rates, 'a')).toBe(1);
  clock.now = 1_000_000;
  expect(drain(rates, 'a')).toBe(3);
});

it('reports the remaining quota and when to retry', () => {
  const { rates } = limiter();
  rates.bucketOf('a').take();
  expect(rates.bucketOf('a').quota()).toEqual({ limit: 3, remaining: 2, resetSeconds: 1 });
  drain(rates, 'a');
  expect(rates.bucketOf('a').quota()).toEqual({ limit: 3, remaining: 0, resetSeconds: 2 });
  expect(rates.bucketOf('a').error('Too many')).toMatchObject({
    reason: 'RATE_LIMITED',
    message: 'Too many: slow down and retry.',
    retryAfterSeconds: 1,
  });
});

it('keeps 10,000 buckets, and evicts the least recently used one', () => {
  const { rates } = limiter();
  drain(rates, 'idle');
  drain(rates, 'busy');
  for (let i = 0; i < 9_998; i++) rates.bucketOf(`stranger ${i}`);
  expect(rates.bucketOf('busy').isEmpty).toBe(true);
  rates.bucketOf('one more');
  expect(rates.bucketOf('busy').isEmpty).toBe(true);
  expect(rates.bucketOf('idle').isEmpty).toBe(false);
});
