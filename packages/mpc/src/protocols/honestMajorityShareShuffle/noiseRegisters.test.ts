import { Dice } from '@measurement-exchange/testkit/mpc/world';
import { describe, expect, test } from 'vitest';
import { shareShuffleParameters } from './limits.ts';
import { noiseRegisters } from './noiseRegisters.ts';

const COMMON = { dataProviderCount: 3, registerCount: 1000 };
const REACH_PARAMS = { epsilon: 0.5, delta: 1e-9 };
const FREQUENCY_PARAMS = { epsilon: 1, delta: 1e-6 };
const DRAWS = 300;
const dice = new Dice('noise registers');

/**
 * The expected noise of one worker. The formulas share no code with the product. The variance is half of the variance
 * that epsilon and delta require, because two workers add noise.
 */
const PARTS = {
  DISCRETE_GAUSSIAN: {
    variance: ({ epsilon, delta }: typeof REACH_PARAMS) => Math.log(2.5 / delta) / epsilon ** 2,
    offsets: { reach: 64, frequency: 23 },
  },
  GEOMETRIC: {
    variance({ epsilon }: typeof REACH_PARAMS) {
      const q = Math.exp(-epsilon / 2);
      return q / (1 - q) ** 2;
    },
    offsets: { reach: 96, frequency: 35 },
  },
};

/**
 * Checks that the draws have this mean and this variance, within five standard errors. The squared deviations of both
 * kinds of noise have a variance below 9 σ⁴, so 9 is a safe factor for the error of the variance.
 */
function expectPart(draws: number[], offset: number, variance: number): void {
  const mean = draws.reduce((sum, x) => sum + x, 0) / draws.length;
  const squares = draws.reduce((sum, x) => sum + (x - offset) ** 2, 0) / draws.length;
  expect(Math.abs(mean - offset)).toBeLessThan(5 * Math.sqrt(variance / draws.length));
  expect(Math.abs(squares / variance - 1)).toBeLessThan(5 * Math.sqrt(9 / draws.length));
}

function countsOf(registers: Uint8Array, modulus: number): number[] {
  const counts = new Array<number>(modulus).fill(0);
  for (const value of registers) counts[value]!++;
  return counts;
}

describe.each(['DISCRETE_GAUSSIAN', 'GEOMETRIC'] as const)('%s noise registers', (noiseMechanism) => {
  const { variance, offsets } = PARTS[noiseMechanism];
  const frequency = shareShuffleParameters({
    ...COMMON,
    ringModulus: 17,
    noiseMechanism,
    measurementType: 'REACH_AND_FREQUENCY',
    maximumFrequency: 4,
    reachPrivacyParams: REACH_PARAMS,
    frequencyPrivacyParams: FREQUENCY_PARAMS,
  });
  const reach = shareShuffleParameters({
    ...COMMON,
    ringModulus: 127,
    noiseMechanism,
    measurementType: 'REACH',
    privacyParams: REACH_PARAMS,
  });

  test('of frequencies have a draw for every value of the ring, and the marker value for the rest', () => {
    const drawn = Array.from({ length: DRAWS }, () => {
      const registers = noiseRegisters(frequency, dice.seed());
      expect(registers).toHaveLength(2 * offsets.reach + 15 * 2 * offsets.frequency);
      return countsOf(registers, 17);
    });
    const at = (value: number) => drawn.map((counts) => counts[value]!);
    expectPart(at(0), offsets.reach, variance(REACH_PARAMS));
    // Check every value, not only those up to 12 that three honest providers can report. A dishonest provider can add
    // any value, so each value has its own draw.
    for (let value = 1; value <= 15; value++) {
      expectPart(at(value), offsets.frequency, variance(FREQUENCY_PARAMS));
    }
    const variances = variance(REACH_PARAMS) + 15 * variance(FREQUENCY_PARAMS);
    expectPart(at(16), offsets.reach + 15 * offsets.frequency, variances);
  });

  test('of a reach are a noisy number of uniform nonzero values, and zeros for the rest', () => {
    const values = new Array<number>(127).fill(0);
    const drawn = Array.from({ length: DRAWS }, () => {
      const registers = noiseRegisters(reach, dice.seed());
      expect(registers).toHaveLength(2 * offsets.reach);
      const reached = registers.findLastIndex((value) => value !== 0) + 1;
      expect(registers.subarray(0, reached).every((value) => value > 0 && value < 127)).toBe(true);
      for (const value of registers) values[value]!++;
      return reached;
    });
    expectPart(drawn, offsets.reach, variance(REACH_PARAMS));
    const expected = values.slice(1).reduce((a, b) => a + b) / 126;
    const statistic = values.slice(1).reduce((sum, seen) => sum + (seen - expected) ** 2 / expected, 0);
    expect(Math.abs(statistic - 125)).toBeLessThan(5 * Math.sqrt(2 * 125));
  });

  test('are the same for the same seed, and differ for other seeds', () => {
    for (const parameters of [frequency, reach]) {
      const seed = dice.seed();
      expect(noiseRegisters(parameters, seed)).toEqual(noiseRegisters(parameters, seed));
      expect(noiseRegisters(parameters, dice.seed())).not.toEqual(noiseRegisters(parameters, dice.seed()));
    }
  });
});
