import { describe, expect, test } from 'vitest';
import { estimatePeople, expectedRegisters, liquidLegionsReachVariance } from './liquidLegions.ts';

const NARROW = { decayRate: 12, maxSize: 100_000 };
const WIDE = { decayRate: 5.6, maxSize: 1_000_000 };

/** Ei(−x) for x > 0: a series for small x, a continued fraction for others. */
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

/** The same expectation as an integral over all registers. */
function integral({ decayRate: a, maxSize: m }: typeof NARROW, people: number): number {
  const t = people / m;
  const bound = Math.expm1(a);
  return m * (1 - (ei((a * Math.exp(a) * t) / bound) - ei((a * t) / bound)) / a);
}

describe('registers that are expected', () => {
  test.each([
    [NARROW, 1e5, 25_500],
    [NARROW, 1e6, 44_700],
    [NARROW, 1e7, 63_800],
    [WIDE, 1e5, 87_000],
    [WIDE, 1e6, 408_000],
    [WIDE, 1e7, 787_000],
  ])('%o with %d people: about %d', (size, people, registers) => {
    expect(Math.abs(expectedRegisters(size, people) / registers - 1)).toBeLessThan(0.006);
  });

  test('are those of the integral', () => {
    for (const people of [1, 1e3, 1e5, 1e7]) {
      expect(expectedRegisters(NARROW, people) / integral(NARROW, people)).toBeCloseTo(1, 3);
    }
  });
});

describe('people', () => {
  test('are estimated from the registers that are expected for them', () => {
    const size = { decayRate: 12, maxSize: 2000 };
    for (const people of [0, 1, 2, 17, 1000, 12_345, 1_000_000]) {
      expect(estimatePeople(size, expectedRegisters(size, people))).toBe(people);
    }
    expect(estimatePeople(size, -3)).toBe(0);
  });

  test('cannot be estimated from a sketch that is full', () => {
    expect(() => estimatePeople(NARROW, NARROW.maxSize)).toThrow('every register of the sketch is hit');
  });
});

describe('the variance of a reach', () => {
  /** σ² at ε = 1, δ = 1e-9, and at ε = 0.0041, δ = 1e-12. */
  const [LITTLE, MUCH] = [6.579 ** 2, 1843 ** 2];
  test.each([
    [NARROW, 1e5, 1, LITTLE, 0.00855, 0.0092],
    [NARROW, 1e7, 1, LITTLE, 0.00855, 0.0092],
    [WIDE, 1e7, 1, LITTLE, 0.00205, 0.00215],
    [WIDE, 1e8, 0.01, MUCH, 0.01075, 0.01085],
    [NARROW, 1e8, 0.01, MUCH, 0.215, 0.225],
  ])(
    '%o, reach %d, width %d, noise %d: between %d and %d of it',
    (size, reach, width, noiseVariance, low, high) => {
      const deviation =
        Math.sqrt(liquidLegionsReachVariance({ ...size, reach, width, noiseVariance })) / reach;
      expect(deviation).toBeGreaterThan(low);
      expect(deviation).toBeLessThan(high);
    },
  );
});
