import { seededRandom } from '@measurement-exchange/testkit/mpc/seededRandom';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { describe, expect, test } from 'vitest';
import { charge, drawNoise, type NoiseMechanism, noiseVariance } from './noise.ts';
import { secureRandom, uniformBelow } from './random.ts';
import { toNumber } from './rational.ts';
import { bernoulliExp, sampleDiscreteGaussian, sampleDiscreteLaplace } from './sampler.ts';
import { discreteGaussianSigma, laplaceScale } from './sigma.ts';

const DRAWS = rounds(200_000, 40_000);

/** The probability P[X = x] up to a constant factor. */
function weight(mechanism: NoiseMechanism, params: Params, sensitivity: bigint, x: number): number {
  if (mechanism === 'GEOMETRIC') return Math.exp(-Math.abs(x) / toNumber(laplaceScale(params, sensitivity)));
  return Math.exp(-(x ** 2) / (2 * discreteGaussianSigma(params, sensitivity) ** 2));
}
type Params = { epsilon: number; delta: number };

describe.each<[NoiseMechanism, Params, bigint]>([
  ['GEOMETRIC', { epsilon: 2.5, delta: 0 }, 1n],
  ['GEOMETRIC', { epsilon: 0.1, delta: 0 }, 1n],
  ['GEOMETRIC', { epsilon: 0.7, delta: 0 }, 60_000n],
  ['DISCRETE_GAUSSIAN', { epsilon: 1, delta: 0.5 }, 1n],
  ['DISCRETE_GAUSSIAN', { epsilon: 1, delta: 1e-5 }, 1n],
  ['DISCRETE_GAUSSIAN', { epsilon: 0.1, delta: 1e-9 }, 60_000n],
])('%s noise for %o and sensitivity %s', (mechanism, params, sensitivity) => {
  const random = seededRandom(`${mechanism} ${params.epsilon} ${sensitivity}`);
  const draws = Array.from({ length: DRAWS }, () => drawNoise(mechanism, params, sensitivity, random));
  const variance = noiseVariance(mechanism, params, sensitivity);

  test('has integer draws, mean 0 and the variance of the discrete formula', () => {
    expect(draws.every((x) => typeof x === 'bigint')).toBe(true);
    const mean = draws.reduce((sum, x) => sum + Number(x), 0) / DRAWS;
    const empirical = draws.reduce((sum, x) => sum + Number(x) ** 2, 0) / DRAWS;
    expect(Math.abs(mean)).toBeLessThan(4 * Math.sqrt(variance / DRAWS));
    // The fourth moment is at most about 6 σ⁴, but about 11 σ⁴ for geometric noise with ε = 2.5. The tolerance is
    // therefore at least about five standard errors of the sample variance, but only 3.5 for ε = 2.5.
    expect(Math.abs(empirical / variance - 1)).toBeLessThan(5 * Math.sqrt(5 / DRAWS));
  });

  test('has the expected distribution over integers', () => {
    const statistic = chiSquare(draws, (x) => weight(mechanism, params, sensitivity, x), Math.sqrt(variance));
    expect(statistic.freedom).toBeGreaterThan(3);
    expect(statistic.value).toBeLessThan(statistic.freedom + 5 * Math.sqrt(2 * statistic.freedom));
  });
});

/**
 * Computes Pearson's chi-square statistic over cells of integers. A cell is a tenth of σ wide, but at least one
 * integer. Cells with fewer than 20 expected draws are combined into one.
 */
function chiSquare(draws: bigint[], weightOf: (x: number) => number, sigma: number) {
  const width = Math.max(1, Math.round(sigma / 10));
  const cellOf = (x: number) => Math.floor(x / width);
  const last = cellOf(Math.ceil(12 * sigma) + 12);
  const expected = new Map<number, number>();
  let total = 0;
  for (let cell = -last; cell <= last; cell++) {
    let cellWeight = 0;
    // The weight of a cell of 128 or more integers is computed from at most 96 points, which is exact enough for such a
    // smooth curve.
    const stride = Math.max(1, Math.floor(width / 64));
    for (let k = 0; k < width; k += stride) {
      const covered = Math.min(stride, width - k);
      cellWeight += covered * weightOf(cell * width + k + (covered - 1) / 2);
    }
    expected.set(cell, cellWeight);
    total += cellWeight;
  }
  const observed = new Map<number, number>();
  for (const x of draws) observed.set(cellOf(Number(x)), (observed.get(cellOf(Number(x))) ?? 0) + 1);
  let value = 0;
  let cells = 0;
  let [restExpected, restObserved] = [0, draws.length];
  for (const [cell, cellWeight] of expected) {
    const often = (cellWeight / total) * draws.length;
    if (often < 20) {
      restExpected += often;
      continue;
    }
    const seen = observed.get(cell) ?? 0;
    value += (seen - often) ** 2 / often;
    restObserved -= seen;
    cells++;
  }
  if (restExpected > 1) value += (restObserved - restExpected) ** 2 / restExpected;
  else expect(restObserved).toBeLessThan(10);
  return { value, freedom: cells };
}

describe('a noised count', () => {
  test.each<[NoiseMechanism, bigint]>([
    ['GEOMETRIC', 1n],
    ['GEOMETRIC', 20n],
    ['DISCRETE_GAUSSIAN', 1n],
    ['DISCRETE_GAUSSIAN', 20n],
  ])(
    'of ten sigma is unbiased over 1,000 releases with %s noise and sensitivity %s',
    (mechanism, sensitivity) => {
      const params = { epsilon: 0.1, delta: 1e-9 };
      const variance = noiseVariance(mechanism, params, sensitivity);
      const truth = BigInt(Math.ceil(10 * Math.sqrt(variance)));
      const random = seededRandom(`release ${mechanism} ${sensitivity}`);
      let sum = 0n;
      for (let i = 0; i < 1000; i++) {
        const released = truth + drawNoise(mechanism, params, sensitivity, random);
        // Clamping at 0 biases the mean upward, but a count of ten sigma is almost never clamped.
        sum += released < 0n ? 0n : released;
      }
      expect(Math.abs(Number(sum) / 1000 - Number(truth))).toBeLessThan(5 * Math.sqrt(variance / 1000));
    },
  );
});

describe('the exact samplers', () => {
  test('draw true with probability exp(−γ) for γ below, at and above 1', () => {
    const random = seededRandom('bernoulli');
    for (const [numerator, denominator] of [
      [0n, 1n],
      [1n, 3n],
      [1n, 1n],
      [5n, 2n],
      [7n, 2n],
    ] as const) {
      const p = Math.exp(-Number(numerator) / Number(denominator));
      let hits = 0;
      for (let i = 0; i < 40_000; i++) if (bernoulliExp(numerator, denominator, random)) hits++;
      expect(Math.abs(hits / 40_000 - p)).toBeLessThanOrEqual(4 * Math.sqrt((p * (1 - p)) / 40_000));
    }
  });

  test('draw uniformly below any bound, small, not a power of two, and wider than one word', () => {
    const random = seededRandom('uniform');
    for (const n of [1n, 2n, 6n, 2n ** 32n, 2n ** 32n + 1n, 3n * 2n ** 70n]) {
      const thirds = [0, 0, 0];
      for (let i = 0; i < 30_000; i++) {
        const value = uniformBelow(n, random);
        if (value < 0n || value >= n) expect.fail(`${value} is not below ${n}`);
        thirds[Number((value * 3n) / n)]!++;
      }
      if (n >= 3n) for (const third of thirds) expect(Math.abs(third - 10_000)).toBeLessThan(400);
    }
    expect(() => uniformBelow(0n, random)).toThrow(RangeError);
  });

  test('compare the bits of a fraction beyond the first 32', () => {
    // In 32-bit words, the fraction 5/2^34 is 1, then 0x40000000. Each script also begins with the word 1, so the
    // second words decide the comparison.
    const scripted = (words: number[]) => {
      let at = 0;
      return {
        bytes: () => {
          const word = words[at++]!;
          return Uint8Array.of(word >>> 24, word >>> 16, word >>> 8, word);
        },
      };
    };
    // `bernoulliExp` returns whether k, the number of the first trial that fails, is odd. The first call fails in trial
    // 1, so it returns true. The second call fails in trial 2, so it returns false.
    expect(bernoulliExp(5n, 2n ** 34n, scripted([1, 0x40000001]))).toBe(true);
    expect(bernoulliExp(5n, 2n ** 34n, scripted([1, 0x3fffffff, 0xffffffff]))).toBe(false);
  });

  test('accept a positive scale of any size, and reject others', () => {
    const random = seededRandom('sizes');
    const huge = { numerator: 10n ** 60n, denominator: 1n };
    expect(sampleDiscreteLaplace(huge, random)).not.toBe(0n);
    expect(sampleDiscreteGaussian(huge, random)).not.toBe(0n);
    const tiny = { numerator: 1n, denominator: 10n ** 60n };
    expect(sampleDiscreteLaplace(tiny, random)).toBe(0n);
    expect(sampleDiscreteGaussian(tiny, random)).toBe(0n);
    for (const bad of [
      { numerator: 0n, denominator: 1n },
      { numerator: 1n, denominator: -1n },
    ]) {
      expect(() => sampleDiscreteLaplace(bad, random)).toThrow(/scale/);
      expect(() => sampleDiscreteGaussian(bad, random)).toThrow(/sigmaSquared/);
    }
  });
});

describe('the secure random source', () => {
  test('never returns the same bytes again, across its blocks', () => {
    const seen = new Set<string>();
    for (let i = 0; i < 3000; i++) seen.add(secureRandom.bytes(24).join());
    expect(seen.size).toBe(3000);
    expect(() => secureRandom.bytes(10_000)).toThrow(RangeError);
  });

  test('is uniform over all byte values', () => {
    const counts = new Array<number>(256).fill(0);
    for (let i = 0; i < 64_000; i++) for (const byte of secureRandom.bytes(4)) counts[byte]!++;
    // Each byte value is expected 1,000 times, with a standard deviation of 32. A sound generator practically never
    // deviates by nine standard deviations.
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(9 * 32);
  });
});

describe('noiseVariance', () => {
  const params = { epsilon: 0.1, delta: 1e-9 };
  test('returns the variance for every mechanism that a result can name', () => {
    expect(noiseVariance('NONE', undefined)).toBe(0);
    expect(noiseVariance('CONTINUOUS_LAPLACE', params, 3)).toBeCloseTo(1800, 6);
    expect(noiseVariance('CONTINUOUS_GAUSSIAN', params, 3)).toBeCloseTo(9 * 50.2098183 ** 2, 1);
    expect(noiseVariance('DETERMINISTIC_TRUNCATED_LAPLACE', undefined)).toBe(1.931);
    // The discrete Laplace variance is the continuous variance minus about 1/6. The discrete Gaussian variance is
    // slightly larger than the continuous one.
    expect(noiseVariance('GEOMETRIC', params)).toBeCloseTo(200 - 1 / 6, 3);
    expect(noiseVariance('DISCRETE_GAUSSIAN', params)).toBeCloseTo(50.2105445 ** 2, 1);
  });

  test('throws if the mechanism requires parameters and has none', () => {
    for (const mechanism of [
      'GEOMETRIC',
      'DISCRETE_GAUSSIAN',
      'CONTINUOUS_LAPLACE',
      'CONTINUOUS_GAUSSIAN',
    ] as const) {
      expect(() => noiseVariance(mechanism, undefined)).toThrow(/privacyParams are required/);
    }
  });
});

describe('the charge of a release', () => {
  test('is epsilon with a delta of 0 for geometric noise', () => {
    expect(charge('GEOMETRIC', { epsilon: 0.3, delta: 1e-9 })).toEqual({ epsilon: 0.3, delta: 0 });
  });

  test('is rho = sensitivity² / (2σ²) for Gaussian noise, and nearly the same for a sensitivity of 60,000', () => {
    const params = { epsilon: 0.1, delta: 1e-9 };
    const one = charge('DISCRETE_GAUSSIAN', params) as { rho: number };
    const many = charge('DISCRETE_GAUSSIAN', params, 60_000n) as { rho: number };
    expect(one.rho).toBeCloseTo(1 / (2 * 50.2105445 ** 2), 10);
    expect(many.rho).toBeGreaterThan(one.rho * (1 - 1e-8));
    expect(many.rho).toBeLessThan(one.rho * 1.0001);
  });

  test('is multiplied by the number of figures that change', () => {
    const params = { epsilon: 0.3, delta: 1e-9 };
    expect(charge('GEOMETRIC', params, 1n, 2)).toEqual({ epsilon: 0.6, delta: 0 });
    const [one, two] = [1, 2].map((changed) => charge('DISCRETE_GAUSSIAN', params, 1n, changed));
    expect(two).toEqual({ rho: 2 * (one as { rho: number }).rho });
  });
});
