import { describe, expect, test } from 'vitest';
import {
  shareShuffleCovariance,
  shareShuffleReachVariance,
} from '../protocols/honestMajorityShareShuffle/variance.ts';
import { LiquidLegionsCovariances, liquidLegionsReachVariance } from './liquidLegions.ts';

describe('the covariance of a reach with itself', () => {
  test.for([1, 0.3])('is its variance without noise (width %d)', (width) => {
    const sketch = { decayRate: 12, maxSize: 20_000, width };
    const reach = 30_000;
    const variance = liquidLegionsReachVariance({ ...sketch, reach, noiseVariance: 0 });
    const reaches = [reach, reach] as const;
    const covariances = new LiquidLegionsCovariances(sketch);
    expect(covariances.of(reaches, reach) / variance).toBeCloseTo(1, 6);
    expect(covariances.of(reaches, 0)).toBeCloseTo(0, 9);
    const sample = { frequencyVectorSize: 100_000 * width, width };
    const shuffled = shareShuffleReachVariance({ ...sample, reach, noiseVariance: 0 });
    expect(shareShuffleCovariance(reaches, reach, sample)).toBeCloseTo(shuffled, 6);
    // Disjoint sets have a negative covariance, because a sample with more people from one set has fewer from the
    // other.
    expect(shareShuffleCovariance(reaches, 0, sample)).toBeLessThanOrEqual(0);
  });
});

test('the covariance of a reach with itself is its variance even if some registers are certainly hit', () => {
  const sketch = { decayRate: 12, maxSize: 20_000, width: 1 };
  const reach = 5_000_000;
  const variance = liquidLegionsReachVariance({ ...sketch, reach, noiseVariance: 0 });
  const covariance = new LiquidLegionsCovariances(sketch).of([reach, reach], reach);
  expect(covariance / variance).toBeCloseTo(1, 6);
});

test('the covariance of two sketches is the sum over all registers', () => {
  const [decayRate, maxSize, width] = [12, 20_000, 0.5];
  const covariances = new LiquidLegionsCovariances({ decayRate, maxSize, width });
  const first = Math.expm1(-decayRate / maxSize) / Math.expm1(-decayRate);
  const probabilities = Array.from(
    { length: maxSize },
    (_, i) => first * Math.exp((-decayRate * i) / maxSize),
  );
  const sum = (term: (p: number) => number) => probabilities.reduce((total, p) => total + term(p), 0);
  for (const [a, b, both] of [
    [30_000, 9000, 4000],
    [30_000, 9000, 1],
    [400_000, 300_000, 300_000],
  ] as const) {
    const [x, y, xy] = [a * width, b * width, both * width];
    const empty = (people: number) => (p: number) => (1 - p) ** people;
    const joint = sum((p) => empty(x + y - xy)(p) - empty(x + y)(p) + xy * p ** 2 * empty(x + y)(p));
    const hit = (people: number) => sum((p) => p * empty(people)(p));
    const slope = (people: number) => sum((p) => -Math.log1p(-p) * empty(people)(p));
    const expected = (joint - xy * hit(x) * hit(y)) / (width * slope(x) * width * slope(y)) + both;
    expect(covariances.of([a, b], both) / expected).toBeCloseTo(1, 5);
  }
});
