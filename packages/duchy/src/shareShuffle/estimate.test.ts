import { describe, expect, test } from 'vitest';
import { ShareShuffleError } from './aggregate.ts';
import { estimate } from './estimate.ts';
import { shareShuffleParameters } from './parameters.ts';

const privacyParams = { epsilon: 1, delta: 1e-9 };
/** Two workers with an offset of 32 each. */
const BASELINE = 64;
const COMMON = {
  ringModulus: 127,
  dataProviderCount: 2,
  registerCount: 1000,
  noiseMechanism: 'DISCRETE_GAUSSIAN',
} as const;
const reach = shareShuffleParameters({ ...COMMON, measurementType: 'REACH', privacyParams });
const frequency = shareShuffleParameters({
  ...COMMON,
  measurementType: 'REACH_AND_FREQUENCY',
  maximumFrequency: 3,
  reachPrivacyParams: privacyParams,
  frequencyPrivacyParams: privacyParams,
});

/** Counts of values of the ring; the rest is 0. */
function counts(entries: Record<number, number>): Float64Array {
  const array = new Float64Array(127);
  for (const [value, count] of Object.entries(entries)) array[Number(value)] = count;
  return array;
}

describe('a reach', () => {
  test.each([
    [{ 0: 800, 1: 100, 126: 264 }, 300],
    [{ 0: 1100, 5: BASELINE }, 0],
    [{ 0: 1200, 5: 3 }, 0],
    [{ 5: 1200 }, 1000],
  ])('out of %o is %d: without the noise on average, and within the registers', (entries, expected) => {
    expect(estimate(reach, counts(entries), 1)).toEqual({ reach: expected });
  });

  test('is divided by the width, which is a 32-bit float, and truncated', () => {
    const some = counts({ 0: 700, 1: 300 + BASELINE });
    expect(estimate(reach, some, 0.7).reach).toBe(Math.trunc(300 / Math.fround(0.7)));
    // 300 / 0.1 is 3000, but the 32-bit float is above 0.1.
    expect(estimate(reach, some, 0.1).reach).toBe(2999);
  });
});

describe('a reach and frequency', () => {
  const some = (zero: number, one: number, two: number, more: Record<number, number> = {}) =>
    counts({ 0: zero + BASELINE, 1: one + BASELINE, 2: two + BASELINE, ...more });

  test('takes the noise on average from each, and what is missing is the highest frequency', () => {
    const { reach, relativeFrequencyDistribution } = estimate(
      frequency,
      some(600, 200, 100, { 5: 77, 126: 9 }),
      0.5,
    );
    expect(reach).toBe(800);
    expect([...relativeFrequencyDistribution!]).toEqual([
      [1, 0.5],
      [2, 0.25],
      [3, 0.25],
    ]);
  });

  test('leaves out frequencies of nobody, and never goes below nobody', () => {
    const { relativeFrequencyDistribution } = estimate(frequency, some(600, 400, -10), 1);
    expect([...relativeFrequencyDistribution!]).toEqual([[1, 1]]);
  });

  test('has nobody at the highest frequency where the others are more than there are', () => {
    const { reach, relativeFrequencyDistribution } = estimate(frequency, some(600, 300, 300), 1);
    expect(reach).toBe(400);
    expect([...relativeFrequencyDistribution!]).toEqual([
      [1, 0.5],
      [2, 0.5],
    ]);
  });

  test('is within the registers', () => {
    expect(estimate(frequency, some(-20, 500, 400), 1).reach).toBe(1000);
    expect(estimate(frequency, some(1010, 20, 20), 1).reach).toBe(0);
  });

  test('does not exist where nobody was reached', () => {
    expect(() => estimate(frequency, some(1000, 0, 0), 1)).toThrow(ShareShuffleError);
    expect(() => estimate(frequency, some(1005, -5, -5), 1)).toThrow(/nobody was reached/);
  });

  test('does not exist where a register adds up to more than providers can report', () => {
    expect(() => estimate(frequency, some(600, 200, 100, { 6: 1, 126: 1 }), 1)).not.toThrow();
    for (const value of [7, 60, 125]) {
      expect(() => estimate(frequency, some(600, 200, 100, { [value]: 1 }), 1)).toThrow(ShareShuffleError);
    }
  });
});
