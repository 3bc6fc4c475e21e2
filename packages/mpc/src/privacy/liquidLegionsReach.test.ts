import { describe, expect, it, test } from 'vitest';
import { estimatePeople, expectedRegisters } from './liquidLegions.ts';
import { liquidLegionsReachInterval } from './liquidLegionsReach.ts';

const SIZE = { decayRate: 10, maxSize: 1000 };
/** The standard deviation of noise at epsilon 0.1 and delta 1e-9. */
const SIGMA = 65.8;
const NOISY = { ...SIZE, width: 1, noiseVariance: SIGMA ** 2, excessKurtosis: 0 };

const of = (registers: number, params = NOISY) => {
  const reach = Math.trunc(estimatePeople(SIZE, registers, params.noiseVariance) / params.width);
  return { reach, interval: liquidLegionsReachInterval({ ...params, reach }) };
};

describe('the interval of a reach', () => {
  it('ends at the reaches whose register counts are 1.96 standard deviations away', () => {
    const [low, high] = of(500).interval;
    // The random choice of registers adds a standard deviation of about 8 registers here.
    const margin = 1.96 * Math.hypot(SIGMA, 8);
    expect(Math.abs(expectedRegisters(SIZE, low) + margin - 500)).toBeLessThan(1);
    expect(Math.abs(expectedRegisters(SIZE, high) - margin - 500)).toBeLessThan(1);
  });

  it('is asymmetric: its upper part is more than 3 times as wide as its lower part', () => {
    const { reach, interval } = of(500);
    expect(interval[1] - reach).toBeGreaterThan(3 * (reach - interval[0]));
  });

  it('is scaled to the whole population if only a part is sampled', () => {
    const params = { ...NOISY, width: 0.125 };
    const [whole, part] = [of(500), of(500, params)];
    expect(part.reach / whole.reach).toBeCloseTo(8, 2);
    for (const end of [0, 1] as const) {
      // The sampling error hardly widens the interval, because the noise on the register count has a much larger
      // effect.
      expect(part.interval[end] / whole.interval[end] / 8).toBeCloseTo(1, 1);
    }
  });

  it('is wider with a smaller sample', () => {
    const quiet = { ...NOISY, noiseVariance: 0 };
    const widthOf = (width: number) => {
      const [low, high] = liquidLegionsReachInterval({ ...quiet, reach: 800, width });
      return high - low;
    };
    // A sample has one in twenty of the 800 people, so the estimate for all has a variance of 800 · 19.
    const ofSample = 2 * 1.96 * Math.sqrt(800 * 19);
    expect(widthOf(0.05)).toBeGreaterThan(ofSample);
    expect(widthOf(0.05)).toBeLessThan(1.2 * ofSample);
    expect(widthOf(1)).toBeLessThan(0.6 * ofSample);
  });

  it('is wider with the longer tails of geometric noise', () => {
    const [normal, geometric] = [of(500), of(500, { ...NOISY, excessKurtosis: 3 })];
    expect(geometric.interval[0]).toBeLessThan(normal.interval[0]);
    expect(geometric.interval[1]).toBeGreaterThan(normal.interval[1]);
  });

  it('starts at 0 for a reach of 0, and covers all counts that are estimated as 0', () => {
    const { reach, interval } = of(0);
    expect(reach).toBe(0);
    expect(interval[0]).toBe(0);
    // The upper end is ten to thirty registers above 1.96 σ, because the bias correction turns counts up to about ten
    // into 0.
    expect(expectedRegisters(SIZE, interval[1])).toBeGreaterThan(1.96 * SIGMA + 10);
    expect(expectedRegisters(SIZE, interval[1])).toBeLessThan(1.96 * SIGMA + 30);
  });

  it('has no upper end if every register may be hit', () => {
    const { reach, interval } = of(900);
    expect(interval[0]).toBeGreaterThan(1000);
    expect(interval[0]).toBeLessThan(reach);
    expect(interval[1]).toBe(Number.POSITIVE_INFINITY);
  });

  it('is [0, 0] for a reach of 0 without noise', () => {
    expect(liquidLegionsReachInterval({ ...NOISY, noiseVariance: 0, reach: 0 })).toEqual([0, 0]);
  });

  test.each([0, 1, 999, 1e9, 2 ** 53, 9.2e18])('contains the reach %d for every sketch', (reach) => {
    for (const decayRate of [1e-9, 10, 100]) {
      for (const maxSize of [1, 30, 5000]) {
        for (const noiseVariance of [0, 43, 1e7]) {
          const [low, high] = liquidLegionsReachInterval({
            ...{ decayRate, maxSize, reach, width: 0.5, noiseVariance, excessKurtosis: 3 },
          });
          expect(low).toBeGreaterThanOrEqual(0);
          expect(low).toBeLessThanOrEqual(reach);
          expect(high).toBeGreaterThanOrEqual(reach);
        }
      }
    }
  });
});
