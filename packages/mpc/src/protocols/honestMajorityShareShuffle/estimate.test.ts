import { Dice } from '@measurement-exchange/testkit/mpc/world';
import { describe, expect, test } from 'vitest';
import { estimate } from './estimate.ts';
import { type ShareShuffleSpec, shareShuffleParameters } from './limits.ts';

const REACH_PARAMS = { epsilon: 1, delta: 1e-9 };
const FREQUENCY_PARAMS = { epsilon: 4, delta: 1e-6 };
/** The mean noise that both workers together add to a count, which is twice the offset of one worker. */
const BASELINES = {
  DISCRETE_GAUSSIAN: { reach: 2 * 32, frequency: 2 * 6 },
  GEOMETRIC: { reach: 2 * 49, frequency: 2 * 10 },
};
const COMMON = { ringModulus: 127, dataProviderCount: 2, registerCount: 1000 };

type Mechanism = ShareShuffleSpec['noiseMechanism'];
const reach = (noiseMechanism: Mechanism) =>
  shareShuffleParameters({
    ...COMMON,
    noiseMechanism,
    measurementType: 'REACH',
    privacyParams: REACH_PARAMS,
  });
const frequency = (noiseMechanism: Mechanism) =>
  shareShuffleParameters({
    ...COMMON,
    noiseMechanism,
    measurementType: 'REACH_AND_FREQUENCY',
    maximumFrequency: 3,
    reachPrivacyParams: REACH_PARAMS,
    frequencyPrivacyParams: FREQUENCY_PARAMS,
  });

const dice = new Dice('estimates');
const SEED = dice.seed();

/** Returns the counts of all values of the ring. A value without an entry has the count 0. */
function counts(entries: Record<number, number>): Float64Array {
  const array = new Float64Array(127);
  for (const [value, count] of Object.entries(entries)) array[Number(value)] = count;
  return array;
}

const reachOf = (entries: Record<number, number>, width = 1) =>
  estimate(reach('NONE'), { counts: counts(entries), width, noiseSeed: SEED });
const frequenciesOf = (entries: Record<number, number>, width = 1) =>
  estimate(frequency('NONE'), { counts: counts(entries), width, noiseSeed: SEED });
const shares = (entries: Record<number, number>) => [
  ...frequenciesOf(entries).relativeFrequencyDistribution!,
];

describe('a reach without noise', () => {
  test.each([
    [{ 0: 700, 1: 100, 126: 200 }, 300],
    [{ 0: 1000 }, 0],
    [{ 5: 1000 }, 1000],
    [{ 5: 1200 }, 1000],
  ])('from counts %o is %d: each value except 0 is a person, up to the registers', (entries, expected) => {
    expect(reachOf(entries)).toEqual({ reach: expected });
  });

  test('is divided by the width as a 32-bit float, and truncated', () => {
    const some = { 0: 700, 1: 300 };
    expect(reachOf(some, 0.7).reach).toBe(Math.trunc(300 / Math.fround(0.7)));
    // 300 / 0.1 would be 3000, but 0.1 as a 32-bit float is above 0.1.
    expect(reachOf(some, 0.1).reach).toBe(2999);
  });
});

describe('a reach and frequency without noise', () => {
  test('counts the lower frequencies, and has the rest of the reach at the highest frequency', () => {
    const { reach, relativeFrequencyDistribution } = frequenciesOf(
      { 0: 600, 1: 200, 2: 100, 5: 90, 6: 10 },
      0.5,
    );
    expect(reach).toBe(800);
    expect([...relativeFrequencyDistribution!]).toEqual([
      [1, 0.5],
      [2, 0.25],
      [3, 0.25],
    ]);
  });

  test('omits frequencies without people', () => {
    expect(shares({ 0: 600, 1: 400 })).toEqual([[1, 1]]);
  });

  test('has nobody at the highest frequency if the other frequencies exceed the reach', () => {
    expect(frequenciesOf({ 0: 600, 1: 300, 2: 300 }).reach).toBe(400);
    expect(shares({ 0: 600, 1: 300, 2: 300 })).toEqual([
      [1, 0.5],
      [2, 0.5],
    ]);
  });

  test('is a reach of 0 with an empty distribution if nobody was reached', () => {
    const nobody = { reach: 0, relativeFrequencyDistribution: new Map() };
    expect(frequenciesOf({ 0: 1000 })).toEqual(nobody);
    expect(frequenciesOf({ 0: 1010, 1: 20 })).toEqual(nobody);
  });

  test('counts a value above the highest frequency as the highest frequency, and never throws', () => {
    const expected = frequenciesOf({ 0: 600, 1: 200, 2: 100, 3: 100 });
    for (let value = 3; value < 127; value++) {
      expect(frequenciesOf({ 0: 600, 1: 200, 2: 100, [value]: 100 })).toEqual(expected);
    }
    for (let value = 1; value < 127; value++) {
      expect(frequenciesOf({ [value]: 1000 }).reach).toBe(1000);
      expect(reachOf({ [value]: 1000 }).reach).toBe(1000);
    }
  });
});

/** The noise variances by formulas that do not share code with the product. */
const VARIANCES = {
  DISCRETE_GAUSSIAN: ({ epsilon, delta }: typeof REACH_PARAMS) => (2 * Math.log(2.5 / delta)) / epsilon ** 2,
  GEOMETRIC({ epsilon }: typeof REACH_PARAMS) {
    const q = Math.exp(-epsilon / 2);
    return (2 * q) / (1 - q) ** 2;
  },
};
const DRAWS = 4000;

function expectPart(draws: number[], center: number, variance: number): void {
  const mean = draws.reduce((sum, x) => sum + x, 0) / DRAWS;
  const squares = draws.reduce((sum, x) => sum + (x - center) ** 2, 0) / DRAWS;
  expect(Math.abs(mean - center)).toBeLessThan(5 * Math.sqrt(variance / DRAWS));
  // The fourth moment of geometric noise is 6 σ⁴ + σ², which is at most 8.8 σ⁴ here, so the tolerance is at least four
  // standard errors of the sample variance.
  expect(Math.abs(squares / variance - 1)).toBeLessThan(5 * Math.sqrt(6 / DRAWS));
}

describe.each(['DISCRETE_GAUSSIAN', 'GEOMETRIC'] as const)('the %s noise of the aggregator', (mechanism) => {
  const [ofReach, ofFrequency] = [REACH_PARAMS, FREQUENCY_PARAMS].map(VARIANCES[mechanism]) as [
    number,
    number,
  ];
  const baselines = BASELINES[mechanism];

  test('on a reach has the variance for the whole charge', () => {
    const parameters = reach(mechanism);
    const seen = { counts: counts({ 0: 500, 7: 500 + baselines.reach }), width: 1 };
    const draws = Array.from(
      { length: DRAWS },
      () => estimate(parameters, { ...seen, noiseSeed: dice.seed() }).reach,
    );
    expectPart(draws, 500, ofReach);
  });

  test('on a histogram is independent for each count: reach noise at 0, frequency noise above', () => {
    const parameters = frequency(mechanism);
    const { reach: zero, frequency: other } = baselines;
    const seen = { counts: counts({ 0: 400 + zero, 1: 300 + other, 2: 200 + other, 3: 100 }), width: 1 };
    const estimates = Array.from({ length: DRAWS }, () => {
      const { reach, relativeFrequencyDistribution } = estimate(parameters, {
        ...seen,
        noiseSeed: dice.seed(),
      });
      const [one, two, three] = [1, 2, 3].map((k) => relativeFrequencyDistribution!.get(k)! * reach);
      return { reach, one: one!, two: two!, three: three! };
    });
    const figures = (key: 'reach' | 'one' | 'two' | 'three') => estimates.map((figure) => figure[key]);
    expectPart(figures('reach'), 600, ofReach);
    expectPart(figures('one'), 300, ofFrequency);
    expectPart(figures('two'), 200, ofFrequency);
    // The highest frequency is the remainder, so it has the noise of all other counts.
    expectPart(figures('three'), 100, ofReach + 2 * ofFrequency);
  });

  test('is the same for the same seed, and differs for other seeds', () => {
    for (const parameters of [reach(mechanism), frequency(mechanism)]) {
      const seen = { counts: counts({ 0: 500, 1: 300, 2: 200, 3: 300 }), width: 1 };
      const figures = () => estimate(parameters, { ...seen, noiseSeed: SEED });
      expect(figures()).toEqual(figures());
      const others = Array.from({ length: 20 }, () =>
        estimate(parameters, { ...seen, noiseSeed: dice.seed() }),
      );
      expect(new Set(others.map(({ reach }) => reach)).size).toBeGreaterThan(1);
    }
  });

  test('never causes a reach out of range, or shares that do not add up to 1', () => {
    const parameters = frequency(mechanism);
    const { reach: zero, frequency: other } = baselines;
    for (const entries of [
      { 0: 1000 + zero, 1: other, 2: other },
      { 0: zero, 1: 1000 + other, 2: other },
    ]) {
      for (let i = 0; i < 200; i++) {
        const figures = estimate(parameters, { counts: counts(entries), width: 1, noiseSeed: dice.seed() });
        const sum = [...figures.relativeFrequencyDistribution!.values()].reduce((a, b) => a + b, 0);
        expect(figures.reach).toBeGreaterThanOrEqual(0);
        expect(figures.reach).toBeLessThanOrEqual(1000);
        if (figures.reach === 0) expect(sum).toBe(0);
        else expect(sum).toBeCloseTo(1, 9);
      }
    }
  });
});
