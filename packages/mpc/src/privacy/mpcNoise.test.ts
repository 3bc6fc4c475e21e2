import { seededRandom } from '@measurement-exchange/testkit/mpc/seededRandom';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { describe, expect, test } from 'vitest';
import { drawAggregatorNoise, drawMpcNoise, mpcNoise } from './mpcNoise.ts';
import { exactRational } from './rational.ts';
import { sampleGeometric, samplePolya } from './sampler.ts';

const DRAWS = rounds(40_000, 20_000);
/** The noise of two workers, without the aggregator's part. */
const TWO_WORKERS = { workers: 2, sensitivity: 2 };

describe('the parameters', () => {
  test.each([
    [1, 1e-5, 4.986, 3.526, 19],
    [1, 1e-9, 6.579, 4.652, 32],
    [1, 1e-12, 7.556, 5.343, 42],
    [0.1, 1e-9, 65.79, 46.52, 315],
    [0.115, 1e-12, 65.71, 46.46, 359],
    [0.0041, 1e-12, 1843, 1303, 10_046],
    [0.0033, 1e-12, 2290, 1619, 12_482],
  ])(
    'of Gaussian noise for ε %d and δ %d are sigma %d, worker sigma %d and offset %d',
    (epsilon, delta, sigma, workerSigma, offset) => {
      const noise = mpcNoise('DISCRETE_GAUSSIAN', { epsilon, delta });
      if (noise.mechanism !== 'DISCRETE_GAUSSIAN') throw new Error(noise.mechanism);
      expect(noise.sigma / sigma).toBeCloseTo(1, 3);
      expect(noise.workerSigma / workerSigma).toBeCloseTo(1, 3);
      expect(noise.offset).toBe(offset);
      // The aggregator's part has the same variance as the workers' parts together.
      expect(noise.variance / (2 * noise.sigma ** 2)).toBeCloseTo(1, 6);
      const ofWorkers = mpcNoise('DISCRETE_GAUSSIAN', { epsilon, delta }, TWO_WORKERS);
      expect(ofWorkers).toEqual({ ...noise, variance: expect.closeTo(noise.sigma ** 2, 6) });
    },
  );

  test.each([
    [1, 1e-9, 49],
    [0.1, 1e-9, 471],
  ])('of geometric noise for ε %d and δ %d have the offset %d', (epsilon, delta, offset) => {
    expect(mpcNoise('GEOMETRIC', { epsilon, delta })).toMatchObject({ offset, scale: 2 / epsilon });
  });

  test('of the mechanism NONE are 0, and its draws are 0', () => {
    const noise = mpcNoise('NONE', undefined);
    expect(noise).toEqual({ mechanism: 'NONE', offset: 0, variance: 0 });
    expect(drawMpcNoise(noise, seededRandom('none'))).toBe(0);
    expect(drawAggregatorNoise(noise, seededRandom('none'))).toBe(0);
  });

  test('stay finite if e^ε overflows', () => {
    expect(mpcNoise('DISCRETE_GAUSSIAN', { epsilon: 1000, delta: 1e-9 }).offset).toBe(1);
    expect(mpcNoise('GEOMETRIC', { epsilon: 1000, delta: 1e-9 }).offset).toBe(3);
  });

  test('are rejected with the name of the field if they are missing or too small', () => {
    for (const mechanism of ['GEOMETRIC', 'DISCRETE_GAUSSIAN'] as const) {
      expect(() => mpcNoise(mechanism, undefined)).toThrow(/privacyParams/);
      expect(() => mpcNoise(mechanism, { epsilon: 1, delta: 0 })).toThrow(/privacyParams\.delta/);
      expect(() => mpcNoise(mechanism, { epsilon: 0, delta: 1e-9 })).toThrow(/privacyParams\.epsilon/);
      expect(() => mpcNoise(mechanism, { epsilon: 9e-7, delta: 1e-9 })).toThrow(/at least/);
    }
  });
});

describe.each([
  ['DISCRETE_GAUSSIAN', { epsilon: 1, delta: 1e-5 }],
  ['DISCRETE_GAUSSIAN', { epsilon: 0.1, delta: 1e-9 }],
  ['GEOMETRIC', { epsilon: 1, delta: 1e-9 }],
  ['GEOMETRIC', { epsilon: 0.1, delta: 1e-9 }],
] as const)('%s noise of two workers for %o', (mechanism, params) => {
  const noise = mpcNoise(mechanism, params, TWO_WORKERS);
  const random = seededRandom(`${mechanism} ${params.epsilon}`);
  const parts = Array.from({ length: 2 * DRAWS }, () => drawMpcNoise(noise, random));
  const sums = Array.from({ length: DRAWS }, (_, i) => parts[2 * i]! + parts[2 * i + 1]! - 2 * noise.offset);

  test('has parts from 0 to twice the offset', () => {
    expect(parts.every((part) => Number.isInteger(part) && part >= 0 && part <= 2 * noise.offset)).toBe(true);
  });

  test('is centered, with the stated variance', () => {
    const mean = sums.reduce((sum, x) => sum + x, 0) / DRAWS;
    const variance = sums.reduce((sum, x) => sum + x * x, 0) / DRAWS;
    expect(Math.abs(mean)).toBeLessThan(4 * Math.sqrt(noise.variance / DRAWS));
    // The fourth moment is about 3 σ⁴ for Gaussian noise and about 6 σ⁴ for geometric noise, so the tolerance is at
    // least five standard errors of the sample variance.
    expect(Math.abs(variance / noise.variance - 1)).toBeLessThan(5 * Math.sqrt(5.5 / DRAWS));
  });

  test('has parts with half of the variance each', () => {
    const variance = parts.reduce((sum, x) => sum + (x - noise.offset) ** 2, 0) / parts.length;
    // One worker's part of geometric noise has a fourth moment of about 9 σ⁴, so the tolerance is at least five
    // standard errors of the sample variance.
    expect(Math.abs(variance / (noise.variance / 2) - 1)).toBeLessThan(5 * Math.sqrt(8.5 / parts.length));
  });

  test('has the expected distribution over whole numbers', () => {
    const weight = (x: number) =>
      noise.mechanism === 'GEOMETRIC'
        ? Math.exp(-Math.abs(x) / noise.scale)
        : Math.exp((-x * x) / (2 * noise.variance));
    let total = 0;
    for (let x = -2 * noise.offset; x <= 2 * noise.offset; x++) total += weight(x);
    const seen = new Map<number, number>();
    for (const x of sums) seen.set(x, (seen.get(x) ?? 0) + 1);
    let statistic = 0;
    let cells = 0;
    for (let x = -2 * noise.offset; x <= 2 * noise.offset; x++) {
      const expected = (weight(x) / total) * DRAWS;
      if (expected < 20) continue;
      statistic += ((seen.get(x) ?? 0) - expected) ** 2 / expected;
      cells++;
    }
    expect(cells).toBeGreaterThan(20);
    expect(statistic).toBeLessThan(cells + 5 * Math.sqrt(2 * cells));
  });
});

test.each(['DISCRETE_GAUSSIAN', 'GEOMETRIC'] as const)(
  '%s noise of three workers has the same variance as that of two',
  (mechanism) => {
    const params = { epsilon: 1, delta: 1e-9 };
    const noise = mpcNoise(mechanism, params, { workers: 3, sensitivity: 2 });
    expect(noise.variance / mpcNoise(mechanism, params, TWO_WORKERS).variance).toBeCloseTo(1, 6);
    const random = seededRandom(`three ${mechanism}`);
    const part = () => drawMpcNoise(noise, random) - noise.offset;
    let squares = 0;
    for (let i = 0; i < DRAWS; i++) squares += (part() + part() + part()) ** 2;
    expect(Math.abs(squares / DRAWS / noise.variance - 1)).toBeLessThan(5 * Math.sqrt(5.5 / DRAWS));
  },
);

describe.each([
  ['DISCRETE_GAUSSIAN', { epsilon: 1, delta: 1e-5 }],
  ['GEOMETRIC', { epsilon: 1, delta: 1e-5 }],
  ['GEOMETRIC', { epsilon: 0.2, delta: 1e-9 }],
] as const)('the %s noise of the aggregator for %o', (mechanism, params) => {
  const noise = mpcNoise(mechanism, params);
  const random = seededRandom(`aggregator ${mechanism} ${params.epsilon}`);
  const draws = Array.from({ length: DRAWS }, () => drawAggregatorNoise(noise, random));

  test('has the distribution of the noise for the whole charge, by independent formulas', () => {
    const variance = (2 * Math.log(2.5 / params.delta)) / params.epsilon ** 2;
    const weight = (x: number) =>
      mechanism === 'GEOMETRIC'
        ? Math.exp((-Math.abs(x) * params.epsilon) / 2)
        : Math.exp((-x * x) / (2 * variance));
    const seen = new Map<number, number>();
    for (const x of draws) seen.set(x, (seen.get(x) ?? 0) + 1);
    let total = 0;
    for (let x = -1000; x <= 1000; x++) total += weight(x);
    let [statistic, cells] = [0, 0];
    for (let x = -1000; x <= 1000; x++) {
      const expected = (weight(x) / total) * DRAWS;
      if (expected < 20) continue;
      statistic += ((seen.get(x) ?? 0) - expected) ** 2 / expected;
      cells++;
    }
    expect(cells).toBeGreaterThan(20);
    expect(statistic).toBeLessThan(cells + 5 * Math.sqrt(2 * cells));
  });

  test('makes up half of the stated variance', () => {
    const variance = draws.reduce((sum, x) => sum + x * x, 0) / DRAWS;
    expect(Math.abs(variance / (noise.variance / 2) - 1)).toBeLessThan(5 * Math.sqrt(5.5 / DRAWS));
  });

  test('is not truncated at the offset of the workers', () => {
    // Use a large delta, so that the offset is small and some draws exceed it.
    const narrow = mpcNoise(mechanism, { epsilon: params.epsilon, delta: 0.9 });
    const far = Array.from({ length: 10_000 }, () => drawAggregatorNoise(narrow, random));
    expect(Math.min(...far)).toBeLessThan(-narrow.offset);
    expect(Math.max(...far)).toBeGreaterThan(narrow.offset);
  });
});

test.each(['DISCRETE_GAUSSIAN', 'GEOMETRIC'] as const)('%s noise is bounded by the offset', (mechanism) => {
  // Use a large delta, so that the offset is small. Without truncation, a few of the 10,000 parts would be out of
  // bounds.
  const noise = mpcNoise(mechanism, { epsilon: 1, delta: 0.9 });
  const random = seededRandom(`cut off ${mechanism}`);
  const parts = Array.from({ length: 10_000 }, () => drawMpcNoise(noise, random));
  expect(Math.min(...parts)).toBe(0);
  expect(Math.max(...parts)).toBe(2 * noise.offset);
});

test.each([2, 3])('a Pólya draw for %d parts has the expected distribution', (parts) => {
  const scale = exactRational(2);
  const p = Math.exp(-1 / 2);
  const random = seededRandom(`polya ${parts}`);
  const seen = new Array<number>(60).fill(0);
  for (let i = 0; i < DRAWS; i++) seen[Math.min(59, samplePolya(scale, random, parts))]!++;
  let statistic = 0;
  let probability = (1 - p) ** (1 / parts);
  let cells = 0;
  for (let k = 0; probability * DRAWS >= 20; k++) {
    statistic += (seen[k]! - probability * DRAWS) ** 2 / (probability * DRAWS);
    // A Pólya distribution with shape r and parameter p has P[k + 1] / P[k] = p (k + r) / (k + 1). Here r is 1 / parts.
    probability *= (p * (k + 1 / parts)) / (k + 1);
    cells++;
  }
  expect(cells).toBeGreaterThan(8);
  expect(statistic).toBeLessThan(cells + 5 * Math.sqrt(2 * cells));
});

test('a geometric draw has the expected mean', () => {
  const random = seededRandom('geometric');
  let sum = 0;
  for (let i = 0; i < DRAWS; i++) sum += Number(sampleGeometric(exactRational(20), random));
  const mean = 1 / Math.expm1(1 / 20);
  expect(Math.abs(sum / DRAWS - mean)).toBeLessThan(5 * Math.sqrt((mean * (mean + 1)) / DRAWS));
});
