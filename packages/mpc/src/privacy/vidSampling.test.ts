import { isStress } from '@measurement-exchange/testkit/rounds';
import { describe, expect, test } from 'vitest';
import { BUCKET_MASK, bucketRange, isSampled, sampleBucket } from './vidSampling.ts';

const f = Math.fround;

/** The published sampling rule, computed in 32-bit floats. */
function floatRule(bucket: number, start: number, width: number): boolean {
  const u = f(f(bucket) / f(BUCKET_MASK));
  const end = f(f(start) + f(width));
  return (f(start) <= u && u < end) || u < f(end - 1);
}

describe('the bucket of a VID', () => {
  test.each([
    [1n, 0.68456],
    [2n, 0.86937],
    [3n, 0.06482],
  ])('for VID %s is at %d, as in the public test vectors', (vid, u) => {
    expect(sampleBucket(vid) / BUCKET_MASK).toBeCloseTo(u, 5);
  });

  test('exists for every signed 64-bit integer, and throws for other integers', () => {
    for (const vid of [-(2n ** 63n), 2n ** 63n - 1n, -1n, 0n, -1_414_214n]) {
      const bucket = sampleBucket(vid);
      expect(Number.isInteger(bucket) && bucket >= 0 && bucket <= BUCKET_MASK).toBe(true);
    }
    for (const vid of [2n ** 63n, -(2n ** 63n) - 1n, 2n ** 64n + 1n]) {
      expect(() => sampleBucket(vid)).toThrow(/vid/);
    }
  });

  test('is evenly distributed for negative and positive VIDs', () => {
    const counts = new Array<number>(10).fill(0);
    for (let vid = -20_000n; vid < 20_000n; vid++) {
      counts[Math.floor((sampleBucket(vid) / (BUCKET_MASK + 1)) * 10)]!++;
    }
    for (const count of counts) expect(Math.abs(count - 4000)).toBeLessThan(5 * 60);
  });
});

describe('the buckets of an interval', () => {
  test.each([
    ...(isStress
      ? [
          [0.5, 0.5],
          [1 / 3, 0.1],
        ]
      : []),
    [0.8, 0.3],
  ] as [number, number][])(
    'from %d with width %d match the float rule for all 2^23 buckets',
    (start, width) => {
      const { from, to, wrapTo } = bucketRange({ start, width });
      let different = 0;
      for (let bucket = 0; bucket <= BUCKET_MASK; bucket++) {
        const inside = (bucket >= from && bucket < to) || bucket < wrapTo;
        if (inside !== floatRule(bucket, start, width)) different++;
      }
      expect(different).toBe(0);
    },
  );

  test('match the float rule at the edges of many intervals', () => {
    const many = Array.from({ length: 2000 }, (_, i) => ({
      start: ((i * 7919) % 2000) / 2000,
      width: (((i * 104_729) % 1999) + 0.5) / 2000,
    }));
    const odd = [
      [0, 0.5],
      [0.16, 1e-7],
      [0.16, 1e-9],
      [1, 0.25],
      [1e-9, 1e-9],
      [0.4, 0.6],
      [0, 0.9999999],
    ] as const;
    for (const { start, width } of [...many, ...odd.map(([start, width]) => ({ start, width }))]) {
      const { from, to, wrapTo } = bucketRange({ start, width });
      for (const edge of [from, to, wrapTo]) {
        for (let bucket = Math.max(0, edge - 2); bucket <= Math.min(BUCKET_MASK, edge + 2); bucket++) {
          const inside = (bucket >= from && bucket < to) || bucket < wrapTo;
          expect(inside).toBe(floatRule(bucket, start, width));
        }
      }
    }
  });

  test('of width 1 are all buckets, including the one of u = 1, for every start', () => {
    for (const start of [0, 0.3, 1]) {
      expect(bucketRange({ start, width: 1 })).toEqual({ from: 0, to: BUCKET_MASK + 1, wrapTo: 0 });
    }
    expect(floatRule(BUCKET_MASK, 0, 1)).toBe(false);
  });

  test('throw with the name of the field if start or width is invalid', () => {
    for (const start of [-0.1, 1.1, Number.NaN]) {
      expect(() => bucketRange({ start, width: 0.5 })).toThrow(/vidSamplingInterval\.start/);
    }
    for (const width of [0, -0.1, 1.1, Number.NaN]) {
      expect(() => bucketRange({ start: 0, width })).toThrow(/vidSamplingInterval\.width/);
    }
  });
});

test('isSampled matches the public test vectors for VID 3, including intervals that wrap around', () => {
  const inside = (start: number, width: number) => isSampled(3n, { start, width });
  expect(inside(0.01, 0.1)).toBe(true);
  expect(inside(0.01, 0.01)).toBe(false);
  expect(inside(0.1, 0.1)).toBe(false);
  expect(inside(0.8, 0.25)).toBe(false);
  expect(inside(0.8, 0.3)).toBe(true);
});
