import { create } from '@bufbuild/protobuf';
import { specs } from '@measurement-exchange/contract';
import { seededRandom } from '@measurement-exchange/testkit/mpc/seededRandom';
import { describe, expect, test } from 'vitest';
import { drawNoise, noiseVariance } from './noise.ts';
import type { RandomSource } from './random.ts';
import {
  countAtFrequencyVariance,
  customVariance,
  estimate,
  relativeFrequencyVariance,
  scalarVariance,
} from './variance.ts';

/** Draws how many of n people are in a sample of width w/256. */
function sampled(n: number, w: number, random: RandomSource): number {
  let inside = 0;
  for (const byte of random.bytes(n)) if (byte < w) inside++;
  return inside;
}

function moments(values: number[]) {
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  const variance = values.reduce((a, b) => a + (b - mean) ** 2, 0) / (values.length - 1);
  return { mean, variance };
}

const clamped = (x: number) => Math.max(0, x);

describe('the variance of a sampled and noised count', () => {
  test.each([
    ['GEOMETRIC', 1, 64],
    ['GEOMETRIC', 3, 64],
    ['DISCRETE_GAUSSIAN', 1, 128],
    ['DISCRETE_GAUSSIAN', 3, 256],
  ] as const)('matches simulated results with %s noise, cap %d and width %d/256', (mechanism, cap, w) => {
    const [people, width] = [2000, w / 256];
    const params = { epsilon: 0.25, delta: 1e-6 };
    const random = seededRandom(`scalar ${mechanism} ${cap} ${w}`);
    const results = Array.from({ length: 8000 }, () => {
      const noise = Number(drawNoise(mechanism, params, BigInt(cap), random));
      return Math.floor(clamped(cap * sampled(people, w, random) + noise) / width);
    });
    const truth = cap * people;
    const variance = scalarVariance({
      value: truth,
      maximumPerUser: cap,
      width,
      noiseVariance: noiseVariance(mechanism, params, cap),
    });
    const empirical = moments(results);
    expect(Math.abs(empirical.variance / variance - 1)).toBeLessThan(0.08);
    // Rounding down subtracts up to one unit. Clamping does not bias the mean, because the true value is far above 0.
    expect(Math.abs(empirical.mean - truth)).toBeLessThan(1 + 4 * Math.sqrt(variance / results.length));
  });

  test('is only the noise variance if everybody is sampled', () => {
    expect(scalarVariance({ value: 1e6, maximumPerUser: 5, width: 1, noiseVariance: 123 })).toBe(123);
  });

  test('is an upper bound for people below the cap', () => {
    const random = seededRandom('below the cap');
    const results = Array.from({ length: 4000 }, () => {
      return (sampled(500, 64, random) + 3 * sampled(500, 64, random)) / 0.25;
    });
    const bound = scalarVariance({ value: 2000, maximumPerUser: 3, width: 0.25, noiseVariance: 0 });
    expect(moments(results).variance).toBeLessThan(bound);
  });
});

describe('the variance of a share of the frequency distribution', () => {
  test.each([
    ['exactly 1', 1, (h: number[]) => h[0]!],
    ['exactly 3', 1, (h: number[]) => h[2]!],
    ['2 or more', 3, (h: number[]) => h[1]! + h[2]! + h[3]!],
  ])('matches simulated distributions: %s', (_, buckets, part) => {
    const [people, w] = [[2400, 800, 500, 300], 64];
    const [reach, width] = [4000, 0.25];
    const params = { epsilon: 0.25, delta: 1e-6 };
    const unit = noiseVariance('DISCRETE_GAUSSIAN', params);
    const random = seededRandom(`frequency ${buckets}`);
    const shares = Array.from({ length: 6000 }, () => {
      const noised = people.map((n) =>
        clamped(sampled(n, w, random) + Number(drawNoise('DISCRETE_GAUSSIAN', params, 1n, random))),
      );
      return part(noised) / noised.reduce((a, b) => a + b, 0);
    });
    const variance = relativeFrequencyVariance({
      ratio: part(people) / reach,
      reach,
      reachVariance: scalarVariance({ value: reach, maximumPerUser: 1, width, noiseVariance: unit }),
      width,
      maximumFrequency: 4,
      buckets,
      noiseVariance: unit,
    });
    expect(Math.abs(moments(shares).variance / variance - 1)).toBeLessThan(0.1);
  });

  const small = { ratio: 0.4, reach: 100, width: 1, maximumFrequency: 5, noiseVariance: 100 };

  test('is that of a uniform distribution if the reach may be 0', () => {
    expect(relativeFrequencyVariance({ ...small, reachVariance: 52 ** 2, buckets: 1 })).toBe(1 / 12);
    expect(relativeFrequencyVariance({ ...small, reachVariance: 52 ** 2, buckets: 5 })).toBe(0);
    // The low end of the reach, 100 − 1.96 × 51, is just above 0. The variance is (1 − 0.8 + 0.16 × 5) × 100 / 100².
    expect(relativeFrequencyVariance({ ...small, reachVariance: 51 ** 2, buckets: 1 })).toBeCloseTo(0.01, 12);
    expect(relativeFrequencyVariance({ ...small, reach: 0, reachVariance: 0, buckets: 1 })).toBe(1 / 12);
  });

  test('is 0 for a share of 100 %', () => {
    const everybody = { ...small, ratio: 1, reach: 1e4, reachVariance: 1, buckets: 5 };
    expect(relativeFrequencyVariance(everybody)).toBe(0);
  });

  test('is combined with the variance of the reach for the count at a frequency', () => {
    const params = { ratio: 0.25, ratioVariance: 0.0004, reach: 1000, reachVariance: 900 };
    expect(countAtFrequencyVariance(params)).toBeCloseTo(0.0004 * 900 + 0.0004 * 1e6 + 900 * 0.0625, 9);
  });
});

describe('an estimate', () => {
  test('has a 95 % interval within the possible range, and an unclamped standard deviation', () => {
    expect(estimate(1000n, 100).interval[0]).toBeCloseTo(980.40036, 5);
    expect(estimate(1000n, 100).interval[1]).toBeCloseTo(1019.59964, 5);
    expect(estimate(5, 100)).toMatchObject({ value: 5, variance: 100, standardDeviation: 10 });
    expect(estimate(5, 100).interval[0]).toBe(0);
    expect(estimate(0.99, 0.01, 1).interval[1]).toBe(1);
    expect(estimate(42, 0).interval).toEqual([42, 42]);
  });

  test('of unknown variance has an infinite variance and the interval [0, ∞)', () => {
    expect(estimate(5, undefined)).toEqual({
      value: 5,
      variance: Number.POSITIVE_INFINITY,
      standardDeviation: Number.POSITIVE_INFINITY,
      interval: [0, Number.POSITIVE_INFINITY],
    });
  });

  test('uses the variance that a provider states for a custom methodology', () => {
    const methodology = (type: specs.CustomDirectMethodology_Variance['type']) =>
      create(specs.CustomDirectMethodologySchema, { variance: { type } });
    const byFrequency = methodology({
      case: 'frequency',
      value: create(specs.CustomDirectMethodology_Variance_FrequencyVariancesSchema, {
        variances: { 1: 0.5, 2: 0 },
        kPlusVariances: { 1: 0, 2: 0.25 },
      }),
    });
    expect(customVariance(methodology({ case: 'scalar', value: 7 }))).toBe(7);
    expect(customVariance(methodology({ case: 'scalar', value: 0 }))).toBe(0);
    expect(customVariance(byFrequency, { frequency: 1, orMore: false })).toBe(0.5);
    expect(customVariance(byFrequency, { frequency: 2, orMore: false })).toBe(0);
    expect(customVariance(byFrequency, { frequency: 2, orMore: true })).toBe(0.25);
    expect(customVariance(byFrequency, { frequency: 3, orMore: true })).toBeUndefined();
    expect(customVariance(byFrequency)).toBeUndefined();
    const unavailable = create(specs.CustomDirectMethodology_Variance_UnavailableSchema, { reason: 1 });
    expect(customVariance(methodology({ case: 'unavailable', value: unavailable }))).toBeUndefined();
    expect(customVariance(create(specs.CustomDirectMethodologySchema))).toBeUndefined();
  });
});
