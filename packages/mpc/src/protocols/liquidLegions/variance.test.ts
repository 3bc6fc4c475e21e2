/**
 * Compares the variance of Liquid Legions v2 figures with the formulas that give consumers their intervals. The
 * simulation draws plaintext sketches and the duchies' noise. Each sketch assigns every person to a new random
 * register. The simulation skips encryption, because encryption changes no count, as duchy.test.ts in liquidLegionsV2
 * shows.
 */

import { liquidLegionsReachVariance, liquidLegionsShareVariances } from '@measurement-exchange/sdk';
import { expectStated } from '@measurement-exchange/testkit/mpc/deviations';
import { Dice } from '@measurement-exchange/testkit/mpc/world';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { describe, expect, test } from 'vitest';
import { DESTROYED, drawMpcNoise, Keystream, type MpcNoise, mpcNoise } from '../../sketches.ts';
import { relativeFrequencies } from '../liquidLegionsV2/estimate.ts';
import { estimateReach } from '../reachOnlyLiquidLegionsV2/estimate.ts';
import { reachOnlyParameters } from '../reachOnlyLiquidLegionsV2/limits.ts';

const FIGURES = rounds(3000);

/** The number of people at each frequency from 1. The last number counts frequencies of 4 or more. */
const PEOPLE = [500, 250, 150, 100];
const MAXIMUM = PEOPLE.length;
const REACH = PEOPLE.reduce((a, b) => a + b);
const SHARES = PEOPLE.map((people) => people / REACH);
const SKETCH = { decayRate: 6, maxSize: 500 };
const DUCHIES = 3;
const PRIVACY = { epsilon: 2, delta: 1e-5 };

interface Setup {
  noiseMechanism: 'DISCRETE_GAUSSIAN' | 'GEOMETRIC' | 'NONE';
  width: number;
  samplingIndicatorSize: number;
}

function noiseOf({ noiseMechanism }: Setup, sensitivity: number): MpcNoise {
  return mpcNoise(noiseMechanism, PRIVACY, { workers: DUCHIES, sensitivity });
}

/** Draws a random sample. Counts the registers that are hit and, by frequency, the registers that have only one key. */
function sketch({ width, samplingIndicatorSize }: Setup, dice: Dice) {
  const { decayRate, maxSize } = SKETCH;
  const keys = new Int32Array(maxSize).fill(-1);
  const frequencies = new Uint32Array(maxSize);
  PEOPLE.forEach((people, k) => {
    for (let i = 0; i < people; i++) {
      if (width < 1 && dice.below(2 ** 20) >= width * 2 ** 20) continue;
      // Draw a register index with an exponentially decreasing density, as the hash of a VID does.
      const x = -Math.log1p((dice.below(2 ** 32) / 2 ** 32) * Math.expm1(-decayRate)) / decayRate;
      const index = Math.floor(x * maxSize);
      const key = 1 + dice.below(samplingIndicatorSize);
      keys[index] = keys[index] === -1 || keys[index] === key ? key : DESTROYED;
      frequencies[index]! += k + 1;
    }
  });
  const counts = PEOPLE.map(() => 0);
  frequencies.forEach((frequency, index) => {
    if (keys[index]! > DESTROYED) counts[Math.min(frequency, MAXIMUM) - 1]!++;
  });
  return { counts, registers: keys.reduce((sum, key) => sum + (key === -1 ? 0 : 1), 0) };
}

/** Computes the aggregator's figures for each sketch. */
function figures(setup: Setup) {
  const { noiseMechanism, width } = setup;
  const dice = new Dice(JSON.stringify(setup));
  const random = new Keystream(dice.seed());
  const noise = (of: MpcNoise) => {
    let sum = 0;
    for (let i = 0; i < DUCHIES; i++) sum += drawMpcNoise(of, random) - of.offset;
    return sum;
  };
  const [ofReach, ofFrequency] = [noiseOf(setup, 1), noiseOf(setup, 2)];
  const parameters = reachOnlyParameters({
    ...{ ...SKETCH, noiseMechanism, dataProviderCount: 1, duchyCount: DUCHIES },
    ...{ privacyParams: PRIVACY, histogramPrivacyParams: PRIVACY, publisherPrivacyParams: PRIVACY },
  });
  const reaches = new Map<number, number>();
  const reachOf = (registers: number) => {
    const known = reaches.get(registers) ?? estimateReach(parameters, registers, width);
    reaches.set(registers, known);
    return known;
  };
  return Array.from({ length: FIGURES }, () => {
    const { counts, registers } = sketch(setup, dice);
    const noisy = counts.map((count) => Math.max(0, count + noise(ofFrequency)));
    return {
      reach: reachOf(Math.max(0, registers + noise(ofReach))),
      shares: relativeFrequencies(noisy),
    };
  });
}

function statedVariances(setup: Setup) {
  const of = { ...SKETCH, ...setup, reach: REACH, maximumFrequency: MAXIMUM };
  return {
    ofReach: liquidLegionsReachVariance({ ...of, noiseVariance: noiseOf(setup, 1).variance }),
    ofShares: liquidLegionsShareVariances(
      { ...of, frequencyNoiseVariance: noiseOf(setup, 2).variance },
      SHARES,
    ),
  };
}

describe.each([
  { noiseMechanism: 'NONE', width: 1, samplingIndicatorSize: 10_000_000 },
  { noiseMechanism: 'DISCRETE_GAUSSIAN', width: 1, samplingIndicatorSize: 10_000_000 },
  { noiseMechanism: 'GEOMETRIC', width: 0.5, samplingIndicatorSize: 10_000_000 },
] as const)('with $noiseMechanism noise and a sample of width $width', (setup) => {
  test(`${FIGURES} reaches and distributions have the variances of the formulas`, () => {
    const found = figures(setup);
    const { ofReach, ofShares } = statedVariances(setup);
    // Use the limits for Gaussian noise with every mechanism, because most of the deviation comes from the random
    // choice of registers, which is close to normal.
    expectStated(
      found.map(({ reach }) => (reach - REACH) / Math.sqrt(ofReach)),
      'DISCRETE_GAUSSIAN',
    );
    for (const [i, variance] of ofShares.entries()) {
      expectStated(
        found.map(({ shares }) => ((shares.get(i + 1) ?? 0) - SHARES[i]!) / Math.sqrt(variance)),
        'DISCRETE_GAUSSIAN',
      );
    }
  });
});

test('a small samplingIndicatorSize raises the stated variances of shares above the simulated ones', () => {
  const setup = { noiseMechanism: 'NONE', width: 1, samplingIndicatorSize: 4 } as const;
  const { ofShares } = statedVariances(setup);
  const found = figures(setup);
  for (const [i, variance] of ofShares.entries()) {
    const squares = found.map(({ shares }) => (shares.get(i + 1)! - SHARES[i]!) ** 2);
    expect(squares.reduce((a, b) => a + b) / FIGURES).toBeLessThan(variance);
  }
  const alone = statedVariances({ ...setup, samplingIndicatorSize: 10_000_000 });
  expect(ofShares[0]! / alone.ofShares[0]!).toBeGreaterThan(2);
});
