/**
 * Compares the variance of noisy figures with the formulas that give consumers their intervals. The variance of 1,000
 * figures has a standard error of 4.5 % (7 % with geometric noise), so an accuracy of 5 % needs more figures. In stress
 * runs, the standard error is 0.4 % (0.7 %) for a reach and 0.9 % (1.4 %) for a figure of a distribution. Other runs
 * have a 50th of the figures. The simulation skips the shares and the shuffle, because they change no count, as
 * oracle.test.ts shows.
 */

import {
  mpcNoise,
  type ShareShuffleFrequencyParams,
  shareShuffleCountVariance,
  shareShuffleReachVariance,
  shareShuffleShareVariance,
} from '@measurement-exchange/sdk';
import { expectStated } from '@measurement-exchange/testkit/mpc/deviations';
import { Dice } from '@measurement-exchange/testkit/mpc/world';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { beforeAll, describe, test } from 'vitest';
import { estimate } from './estimate.ts';
import { type ShareShuffleSpec, shareShuffleParameters } from './limits.ts';
import { noiseRegisters } from './noiseRegisters.ts';

const WORLDS = rounds(1000, 20);
const REACHES = 100 * WORLDS;
const DISTRIBUTIONS = 25 * WORLDS;

/** The number of people at each frequency from 0. The last number counts frequencies of 4 or more. */
const PEOPLE = [400, 250, 150, 100, 100];
const MAXIMUM = PEOPLE.length - 1;
const UNIVERSE = PEOPLE.reduce((a, b) => a + b);
const REACH = UNIVERSE - PEOPLE[0]!;
const REACH_PARAMS = { epsilon: 1, delta: 1e-5 };
const FREQUENCY_PARAMS = { epsilon: 2, delta: 1e-5 };

const REACH_SPEC = { measurementType: 'REACH', privacyParams: REACH_PARAMS } as const;
const FREQUENCY_SPEC = {
  measurementType: 'REACH_AND_FREQUENCY',
  maximumFrequency: MAXIMUM,
  reachPrivacyParams: REACH_PARAMS,
  frequencyPrivacyParams: FREQUENCY_PARAMS,
} as const;

/** Yields random samples of `size` people, each as the number of sampled people at each frequency. */
function* samples(size: number, dice: Dice): Generator<number[]> {
  while (size === UNIVERSE) yield PEOPLE;
  const people = Uint8Array.from(PEOPLE.flatMap((n, frequency) => new Array(n).fill(frequency)));
  for (;;) {
    const counts = PEOPLE.map(() => 0);
    for (let i = 0; i < size; i++) {
      const j = i + dice.below(UNIVERSE - i);
      [people[i], people[j]] = [people[j]!, people[i]!];
      counts[people[i]!]!++;
    }
    yield counts;
  }
}

describe.each(['DISCRETE_GAUSSIAN', 'GEOMETRIC'] as const)('with %s noise', (noiseMechanism) => {
  const parametersOf = (spec: typeof REACH_SPEC | typeof FREQUENCY_SPEC, width: number) =>
    shareShuffleParameters({
      ...spec,
      noiseMechanism,
      // Use the smallest ring that is valid for both measurement types, because noise is drawn for each of its values.
      ringModulus: 7,
      dataProviderCount: 1,
      registerCount: UNIVERSE * width,
    } satisfies ShareShuffleSpec);

  /**
   * Returns `count` independent draws of the noise of both workers. Each draw has the number of noise registers with
   * each value. This noise does not depend on the sampling width.
   */
  function noises(spec: typeof REACH_SPEC | typeof FREQUENCY_SPEC, count: number): Float64Array[] {
    const parameters = parametersOf(spec, 1);
    const dice = new Dice(`${noiseMechanism} ${spec.measurementType}`);
    return Array.from({ length: count }, () => {
      const counts = new Float64Array(parameters.modulus);
      for (const seed of [dice.seed(), dice.seed()]) {
        for (const value of noiseRegisters(parameters, seed)) counts[value]!++;
      }
      return counts;
    });
  }
  let ofReach: Float64Array[];
  let ofFrequencies: Float64Array[];
  beforeAll(() => {
    ofReach = noises(REACH_SPEC, REACHES);
    ofFrequencies = noises(FREQUENCY_SPEC, DISTRIBUTIONS);
  });

  /** Returns the aggregator's estimates, one for each element of `noise`. Each estimate uses a new sample. */
  function estimates(spec: typeof REACH_SPEC | typeof FREQUENCY_SPEC, noise: Float64Array[], width: number) {
    const parameters = parametersOf(spec, width);
    const dice = new Dice(`samples ${noiseMechanism} ${width}`);
    const sampled = samples(UNIVERSE * width, dice);
    return noise.map((counts) => {
      const both = counts.slice();
      for (const [frequency, count] of sampled.next().value!.entries()) both[frequency]! += count;
      return estimate(parameters, { counts: both, width, noiseSeed: dice.seed() });
    });
  }

  describe.each([1, 0.5])('and a sample of width %d', (width) => {
    const sample = {
      reach: REACH,
      frequencyVectorSize: UNIVERSE * width,
      width,
      noiseVariance: mpcNoise(noiseMechanism, REACH_PARAMS).variance,
    };
    const reachSigma = Math.sqrt(shareShuffleReachVariance(sample));

    test(`${REACHES} reaches have the variance of the formula`, () => {
      const found = estimates(REACH_SPEC, ofReach, width);
      expectStated(
        found.map(({ reach }) => (reach - REACH) / reachSigma),
        noiseMechanism,
      );
    });

    test(`${DISTRIBUTIONS} reaches, counts and shares of frequencies have the variances of the formulas`, () => {
      const found = estimates(FREQUENCY_SPEC, ofFrequencies, width);
      const counts: number[] = [];
      const shares: number[] = [];
      for (let frequency = 1; frequency <= MAXIMUM; frequency++) {
        const count = PEOPLE[frequency]!;
        const about: ShareShuffleFrequencyParams = {
          ...sample,
          count,
          frequency,
          maximumFrequency: MAXIMUM,
          frequencyNoiseVariance: mpcNoise(noiseMechanism, FREQUENCY_PARAMS).variance,
        };
        const countSigma = Math.sqrt(shareShuffleCountVariance(about));
        const shareSigma = Math.sqrt(shareShuffleShareVariance(about));
        for (const { reach, relativeFrequencyDistribution } of found) {
          const share = relativeFrequencyDistribution!.get(frequency)!;
          counts.push((share * reach - count) / countSigma);
          shares.push((share - count / REACH) / shareSigma);
        }
      }
      expectStated(
        found.map(({ reach }) => (reach - REACH) / reachSigma),
        noiseMechanism,
      );
      expectStated(counts, noiseMechanism);
      expectStated(shares, noiseMechanism);
    });
  });
});
