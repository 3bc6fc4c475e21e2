import { describe, expect, test } from 'vitest';
import {
  estimatePeople,
  expectedRegisters,
  liquidLegionsReachVariance,
  sketchMoments,
} from './liquidLegions.ts';

const NARROW = { decayRate: 12, maxSize: 100_000 };
const WIDE = { decayRate: 5.6, maxSize: 1_000_000 };

/** Computes the exponential integral Ei(−x) for x > 0: by a series if x < 1, otherwise by a continued fraction. */
function ei(x: number): number {
  if (x < 1) {
    let sum = 0.5772156649015329 + Math.log(x);
    for (let k = 1, term = 1; k < 60; k++) {
      term *= -x / k;
      sum += term / k;
    }
    return sum;
  }
  let fraction = 0;
  for (let k = 200; k >= 1; k--) fraction = k / (1 + k / (x + fraction));
  return -Math.exp(-x) / (x + fraction);
}

/** Computes the expected number of registers that are hit, as an integral over all registers. */
function integral({ decayRate: a, maxSize: m }: typeof NARROW, people: number): number {
  const t = people / m;
  const bound = Math.expm1(a);
  return m * (1 - (ei((a * Math.exp(a) * t) / bound) - ei((a * t) / bound)) / a);
}

describe('expectedRegisters', () => {
  test.each([
    [NARROW, 1e5, 25_500],
    [NARROW, 1e6, 44_700],
    [NARROW, 1e7, 63_800],
    [WIDE, 1e5, 87_000],
    [WIDE, 1e6, 408_000],
    [WIDE, 1e7, 787_000],
  ])('for %o and %d people is about %d', (size, people, registers) => {
    expect(Math.abs(expectedRegisters(size, people) / registers - 1)).toBeLessThan(0.006);
  });

  test('is equal to the integral over all registers', () => {
    for (const people of [1, 1e3, 1e5, 1e7]) {
      expect(expectedRegisters(NARROW, people) / integral(NARROW, people)).toBeCloseTo(1, 3);
    }
  });
});

describe('sketchMoments of a large sketch', () => {
  test.each([1, 1000, 300_000, 1e8])('are the sums over each register, with %d people', (people) => {
    const { decayRate: a, maxSize: m } = NARROW;
    const sums = { registers: 0, slope: 0, curvature: 0 };
    for (let i = 0; i < m; i++) {
      const p = (Math.exp((-a * i) / m) - Math.exp((-a * (i + 1)) / m)) / (1 - Math.exp(-a));
      sums.registers += 1 - (1 - p) ** people;
      sums.slope += p * (1 - p) ** people;
      sums.curvature += p ** 2 * (1 - p) ** people;
    }
    const moments = sketchMoments(NARROW, people);
    for (const [key, sum] of Object.entries(sums)) {
      expect(moments[key as keyof typeof sums] / sum).toBeCloseTo(1, 3);
    }
    expect(Math.abs(moments.registers - sums.registers)).toBeLessThan(1e-5);
  });
});

describe('estimatePeople', () => {
  test('returns the number of people for their expected registers, and 0 for a negative count', () => {
    const size = { decayRate: 12, maxSize: 2000 };
    for (const people of [0, 1, 2, 17, 1000, 12_345, 1_000_000]) {
      expect(estimatePeople(size, expectedRegisters(size, people))).toBe(people);
    }
    expect(estimatePeople(size, -3)).toBe(0);
  });

  test('corrects the bias of noise in the count, which would add about 24 % on average', () => {
    const demo = { decayRate: 10, maxSize: 1000 };
    const variance = 65.8 ** 2;
    // The estimate grows as exp(10 / 1000 · registers). Noise with a standard deviation of 65.8 registers therefore
    // multiplies an uncorrected estimate by exp(0.658² / 2) on average.
    const factor = estimatePeople(demo, 500) / estimatePeople(demo, 500, variance);
    expect(factor / Math.exp(0.658 ** 2 / 2)).toBeCloseTo(1, 2);
    expect(estimatePeople(demo, 5, variance)).toBe(0);
    for (let registers = 1, last = 0; registers < 1000; registers += 37) {
      const people = estimatePeople(demo, registers, variance);
      expect(people).toBeGreaterThanOrEqual(last);
      last = people;
    }
  });

  test('returns at most MAX_SAFE_INTEGER, even for a steep sketch', () => {
    expect(estimatePeople({ decayRate: 100, maxSize: 1000 }, 500)).toBe(Number.MAX_SAFE_INTEGER);
  });

  test('throws if every register of the sketch is hit', () => {
    expect(() => estimatePeople(NARROW, NARROW.maxSize)).toThrow('every register of the sketch is hit');
  });
});

describe('the relative standard deviation of a reach', () => {
  /** The noise variances at ε = 1, δ = 1e-9, and at ε = 0.0041, δ = 1e-12. */
  const [LITTLE, MUCH] = [6.579 ** 2, 1843 ** 2];
  test.each([
    [NARROW, 1e5, 1, LITTLE, 0.00855, 0.0092],
    [NARROW, 1e7, 1, LITTLE, 0.00855, 0.0092],
    [WIDE, 1e7, 1, LITTLE, 0.00205, 0.00215],
    [WIDE, 1e8, 0.01, MUCH, 0.01075, 0.01085],
    [NARROW, 1e8, 0.01, MUCH, 0.215, 0.225],
  ])(
    '%o, reach %d, width %d, noise variance %d: is between %d and %d',
    (size, reach, width, noiseVariance, low, high) => {
      const deviation =
        Math.sqrt(liquidLegionsReachVariance({ ...size, reach, width, noiseVariance })) / reach;
      expect(deviation).toBeGreaterThan(low);
      expect(deviation).toBeLessThan(high);
    },
  );
});
