/** Runs the whole share shuffle protocol in random worlds, and compares the results with the true counts. */

import { mpcNoise, shareShuffleReachVariance } from '@measurement-exchange/sdk';
import { expectStated } from '@measurement-exchange/testkit/mpc/deviations';
import { truth } from '@measurement-exchange/testkit/mpc/truth';
import { Dice, run, upload, vidsOf, type World } from '@measurement-exchange/testkit/mpc/world';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { describe, expect, test } from 'vitest';

const WORLDS = rounds(1000, 50);

function randomWorld(dice: Dice): World {
  let next = dice.between(1, 1000);
  const ranges = Array.from({ length: dice.between(1, 4) }, () => {
    const start = next + dice.below(50);
    const end = start + dice.below(dice.oneOf([1, 10, 100, 200]));
    next = end + 1;
    return { start, end };
  });
  const vids = vidsOf(ranges);
  const providers = dice.between(1, 12);
  const maximumFrequency = dice.between(2, Math.max(2, Math.floor(125 / providers)));
  const events = Array.from({ length: providers }, () => {
    const many = dice.oneOf([0, 1, vids.length, dice.between(0, vids.length)]);
    const reached = many === vids.length ? vids : Array.from({ length: many }, () => dice.oneOf(vids));
    // Sometimes add a VID that is outside the population.
    if (dice.below(4) === 0) reached.push(next + 10);
    return new Map(reached.map((vid) => [vid, dice.oneOf([1, 1, 2, maximumFrequency, 1000])]));
  });
  const interval = dice.oneOf([
    { start: 0, width: 1 },
    { start: dice.below(1000) / 1000, width: 1 },
    { start: dice.below(1001) / 1000, width: dice.between(1, 1000) / 1000 },
    { start: 0.9, width: 0.3 },
  ]);
  const common = { ringModulus: dice.oneOf([101, 113, 127]), noiseMechanism: 'NONE' } as const;
  if (dice.below(2) === 0) return { ranges, interval, events, spec: { ...common, measurementType: 'REACH' } };
  const spec = {
    ...common,
    ringModulus: 127,
    measurementType: 'REACH_AND_FREQUENCY' as const,
    maximumFrequency,
  };
  return { ranges, interval, events, spec };
}

test(`${WORLDS} random worlds are counted exactly without noise`, async () => {
  const dice = new Dice('worlds');
  const seen = { reach: 0, frequency: 0, nobody: 0, wrapped: 0 };
  for (let i = 0; i < WORLDS; i++) {
    const world = randomWorld(dice);
    const expected = truth(world);
    if (world.interval.start + world.interval.width > 1) seen.wrapped++;
    if (expected.relativeFrequencyDistribution?.size === 0) seen.nobody++;
    else seen[world.spec.measurementType === 'REACH' ? 'reach' : 'frequency']++;
    expect(await run(world, dice)).toEqual(expected);
  }
  // Check that the random worlds covered every intended case.
  expect(Math.min(seen.reach, seen.frequency, seen.wrapped)).toBeGreaterThan(WORLDS / 5);
  expect(seen.nobody).toBeGreaterThan(0);
});

const MAXIMUM_FREQUENCY = 25;
const REACH_PARAMS = { epsilon: 2, delta: 1e-5 };
const FREQUENCY_PARAMS = { epsilon: 1, delta: 1e-5 };

/**
 * Returns a world with two providers and a population of 2,000 people. A person's frequency at both providers together
 * is from 0 (not reached) to 29, and all these frequencies are about equally common.
 */
function noisyWorld(noiseMechanism: 'DISCRETE_GAUSSIAN' | 'GEOMETRIC'): World {
  const vids = Array.from({ length: 2000 }, (_, i) => i + 1);
  return {
    ranges: [{ start: 1, end: 2000 }],
    interval: { start: 0, width: 1 },
    events: [
      new Map(vids.map((vid) => [vid, Math.floor((vid % 30) / 2)])),
      new Map(vids.map((vid) => [vid, Math.ceil((vid % 30) / 2)])),
    ],
    spec: {
      ringModulus: 127,
      noiseMechanism,
      measurementType: 'REACH_AND_FREQUENCY',
      maximumFrequency: MAXIMUM_FREQUENCY,
      reachPrivacyParams: REACH_PARAMS,
      frequencyPrivacyParams: FREQUENCY_PARAMS,
    },
  };
}

describe.each(['DISCRETE_GAUSSIAN', 'GEOMETRIC'] as const)('%s noise', (mechanism) => {
  test(`on frequencies is unbiased over ${WORLDS} repetitions, with the variance that consumers are told`, async () => {
    const dice = new Dice(`noise ${mechanism}`);
    const world = noisyWorld(mechanism);
    const exact = truth(world);
    const uploaded = upload(world, dice);
    const reachSigma = Math.sqrt(mpcNoise(mechanism, REACH_PARAMS).variance);
    const frequencySigma = Math.sqrt(mpcNoise(mechanism, FREQUENCY_PARAMS).variance);
    const deviations: number[] = [];
    for (let i = 0; i < WORLDS; i++) {
      const { reach, relativeFrequencyDistribution } = await run(world, dice, uploaded);
      deviations.push((reach - exact.reach) / reachSigma);
      // Leave out the highest frequency. It is the remainder, so its noise depends on the other counts.
      for (let k = 1; k < MAXIMUM_FREQUENCY; k++) {
        const people = relativeFrequencyDistribution!.get(k)! * reach;
        const expected = exact.relativeFrequencyDistribution!.get(k)! * exact.reach;
        deviations.push((people - expected) / frequencySigma);
      }
    }
    expectStated(deviations, mechanism);
  });

  test(`on reaches of samples is unbiased over ${WORLDS} repetitions, with the variance that consumers are told`, async () => {
    const dice = new Dice(`sampling ${mechanism}`);
    const people = 200;
    const width = 0.5;
    const privacyParams = { epsilon: 1, delta: 1e-5 };
    const vids = Array.from({ length: people }, (_, i) => i + 1);
    const reached = 80;
    const variance = shareShuffleReachVariance({
      reach: reached,
      frequencyVectorSize: people * width,
      width,
      noiseVariance: mpcNoise(mechanism, privacyParams).variance,
    });
    const deviations: number[] = [];
    for (let i = 0; i < WORLDS; i++) {
      for (let k = 0; k < reached; k++) {
        const other = dice.between(k, people - 1);
        [vids[k], vids[other]] = [vids[other]!, vids[k]!];
      }
      const events = [
        new Map(vids.slice(0, 50).map((vid) => [vid, 1])),
        new Map(vids.slice(20, reached).map((vid) => [vid, 1])),
      ];
      const spec = {
        ringModulus: 127,
        noiseMechanism: mechanism,
        measurementType: 'REACH',
        privacyParams,
      } as const;
      const world: World = {
        ranges: [{ start: 1, end: people }],
        interval: { start: 0.7, width },
        events,
        spec,
      };
      deviations.push(((await run(world, dice)).reach - reached) / Math.sqrt(variance));
    }
    expectStated(deviations, mechanism);
  });
});

test('a hostile share gives figures within the valid range, whatever the other providers upload', async () => {
  const dice = new Dice('wrong bytes');
  const vids = Array.from({ length: 20 }, (_, i) => i + 1);
  const common = { ringModulus: 127, noiseMechanism: 'NONE' } as const;
  const specs: World['spec'][] = [
    { ...common, measurementType: 'REACH' },
    { ...common, measurementType: 'REACH_AND_FREQUENCY', maximumFrequency: 10 },
  ];
  for (let i = 0; i < 3 * WORLDS; i++) {
    const events = [0, 1, 2].map(() => new Map(vids.map((vid) => [vid, dice.below(11)])));
    const spec = specs[i % 2]!;
    const world: World = { ranges: [{ start: 1, end: 20 }], interval: { start: 0, width: 1 }, events, spec };
    const uploaded = upload(world, dice);
    const { bytes } = dice.oneOf(uploaded.shares);
    // A hostile provider replaces one or all registers of its upload with arbitrary values below the modulus.
    const hostile = dice.oneOf([1, 20]);
    for (let at = bytes.length - hostile; at < bytes.length; at++) bytes[at] = dice.below(127);
    const { reach, relativeFrequencyDistribution } = await run(world, dice, uploaded);
    expect(reach).toBeLessThanOrEqual(20);
    for (const [k, share] of relativeFrequencyDistribution ?? []) {
      expect(k).toBeLessThanOrEqual(10);
      expect(share).toBeLessThanOrEqual(1);
    }
  }
});
