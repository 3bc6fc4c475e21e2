import { seededRandom } from '@measurement-exchange/testkit/mpc/seededRandom';
import { describe, expect, test } from 'vitest';
import { drawAggregatorNoise, drawMpcNoise, mpcNoise } from '../../privacy/mpcNoise.ts';
import {
  shareShuffleCountVariance,
  shareShuffleReachVariance,
  shareShuffleShareVariance,
  shareShuffleUniverse,
} from './variance.ts';

describe('the variance of a reach by share shuffle', () => {
  test.each([
    [1e6, 1e5, 1, 1, 1e-9, 0.000066],
    [1e6, 1e5, 0.1, 1, 1e-9, 0.009],
    [1e7, 1e6, 1, 0.1, 1e-9, 0.000066],
    [1e7, 1e6, 0.1, 0.1, 1e-9, 0.0029],
    [1e8, 1e7, 0.01, 0.0041, 1e-12, 0.0187],
  ])(
    'matches the published relative error for %d people, reach %d, width %d, epsilon %d',
    (universe, reach, width, epsilon, delta, expected) => {
      const { variance } = mpcNoise('DISCRETE_GAUSSIAN', { epsilon, delta }, { workers: 2, sensitivity: 2 });
      const sample = { frequencyVectorSize: universe * width, width, noiseVariance: variance };
      const deviation = Math.sqrt(shareShuffleReachVariance({ reach, ...sample }));
      expect(Math.abs(deviation / reach / expected - 1)).toBeLessThan(0.02);
    },
  );

  test('is only the noise variance if everybody is sampled or reached', () => {
    const everybody = { frequencyVectorSize: 1000, width: 1, noiseVariance: 7 };
    expect(shareShuffleReachVariance({ reach: 300, ...everybody })).toBe(7);
    const half = { frequencyVectorSize: 1000, width: 0.5, noiseVariance: 7 };
    expect(shareShuffleReachVariance({ reach: 2000, ...half })).toBe(28);
    // The population has 2,000 people, so a reach of 2,100 counts as 2,000.
    expect(shareShuffleReachVariance({ reach: 2100, ...half })).toBe(28);
    expect(shareShuffleReachVariance({ reach: 300, ...half })).toBeGreaterThan(28);
  });
});

/** The number of people at each frequency, from 0 to "4 or more". */
const PEOPLE = [1600, 1300, 500, 350, 250];
const UNIVERSE = PEOPLE.reduce((a, b) => a + b);
const REACH = UNIVERSE - PEOPLE[0]!;
const MAXIMUM = PEOPLE.length - 1;
const REPETITIONS = 2500;

/**
 * Simulates the aggregator's results for samples drawn without replacement, with the noise of two workers and the
 * aggregator. The registers at 0 and at each frequency below the maximum are counted with noise. All other registers
 * count as the maximum frequency.
 */
function simulated(mechanism: 'DISCRETE_GAUSSIAN' | 'GEOMETRIC' | 'NONE', width: number, seed: string) {
  const random = seededRandom(seed);
  const [ofReach, ofFrequency] = [
    { epsilon: 0.3, delta: 1e-6 },
    { epsilon: 0.5, delta: 1e-6 },
  ].map((params) => mpcNoise(mechanism, params));
  const noise = (of: typeof ofReach) =>
    drawMpcNoise(of!, random) + drawMpcNoise(of!, random) - 2 * of!.offset + drawAggregatorNoise(of!, random);
  const registers = Uint8Array.from(PEOPLE.flatMap((n, frequency) => new Array(n).fill(frequency)));
  const size = UNIVERSE * width;
  const repetitions = Array.from({ length: REPETITIONS }, () => {
    const words = new Uint32Array(Uint8Array.from(random.bytes(4 * size)).buffer);
    const counts = new Array<number>(MAXIMUM + 1).fill(0);
    for (let i = 0; i < size; i++) {
      const j = i + (words[i]! % (UNIVERSE - i));
      [registers[i], registers[j]] = [registers[j]!, registers[i]!];
      counts[registers[i]!]!++;
    }
    for (let k = 0; k < MAXIMUM; k++) counts[k]! += noise(k === 0 ? ofReach : ofFrequency);
    counts[MAXIMUM] = size - counts.slice(0, MAXIMUM).reduce((a, b) => a + b);
    return { reach: size - counts[0]!, counts };
  });
  const sample = {
    reach: REACH,
    frequencyVectorSize: size,
    width,
    noiseVariance: ofReach!.variance,
    maximumFrequency: MAXIMUM,
    frequencyNoiseVariance: ofFrequency!.variance,
  };
  return { repetitions, sample };
}

function varianceOf(values: number[]): number {
  const mean = values.reduce((a, b) => a + b) / values.length;
  return values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (values.length - 1);
}

describe.each([
  ['DISCRETE_GAUSSIAN', 0.25],
  ['DISCRETE_GAUSSIAN', 1],
  ['GEOMETRIC', 0.5],
  ['NONE', 0.25],
] as const)('simulations with %s noise and width %d', (mechanism, width) => {
  const { repetitions, sample } = simulated(mechanism, width, `${mechanism} ${width}`);
  const isMet = (values: number[], variance: number) =>
    expect(Math.abs(varianceOf(values) / variance - 1)).toBeLessThan(0.1);

  test('have the stated variance of the reach', () => {
    expect(shareShuffleUniverse(sample)).toBe(UNIVERSE);
    isMet(
      repetitions.map(({ reach }) => reach / width),
      shareShuffleReachVariance(sample),
    );
  });

  test.each([1, 2, 3, 4])('have the stated variance of people and share at frequency %d', (frequency) => {
    const at = { ...sample, frequency, count: PEOPLE[frequency]! };
    isMet(
      repetitions.map(({ counts }) => counts[frequency]! / width),
      shareShuffleCountVariance(at),
    );
    isMet(
      repetitions.map(({ counts, reach }) => counts[frequency]! / reach),
      shareShuffleShareVariance(at),
    );
  });

  test.each([2, 3])('have the stated variance of people and share at frequency %d or more', (frequency) => {
    const from = (counts: number[]) => counts.slice(frequency).reduce((a, b) => a + b);
    const at = { ...sample, frequency, orMore: true, count: from(PEOPLE) };
    isMet(
      repetitions.map(({ counts }) => from(counts) / width),
      shareShuffleCountVariance(at),
    );
    isMet(
      repetitions.map(({ counts, reach }) => from(counts) / reach),
      shareShuffleShareVariance(at),
    );
  });
});

test('a share of a reach that may be 0 has the variance of a uniform distribution', () => {
  const sample = {
    frequency: 1,
    count: 40,
    frequencyVectorSize: 1000,
    width: 1,
    noiseVariance: 52 ** 2,
    maximumFrequency: 5,
    frequencyNoiseVariance: 1,
  };
  expect(shareShuffleShareVariance({ ...sample, reach: 100 })).toBe(1 / 12);
  expect(shareShuffleShareVariance({ ...sample, reach: 200 })).toBeLessThan(1 / 12);
});
