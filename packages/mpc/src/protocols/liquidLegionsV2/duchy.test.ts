/**
 * Compares the results of Liquid Legions v2 with the union of the plaintext sketches. Stress runs have 300 worlds of up
 * to 2000 registers, and 300 computations with noise.
 */

import { expectStated } from '@measurement-exchange/testkit/mpc/deviations';
import { InProcess } from '@measurement-exchange/testkit/mpc/inProcess';
import {
  type Events,
  frequencySketch,
  noiseCount,
  Ring,
  randomWorld,
  unionOf,
  WORLDS,
} from '@measurement-exchange/testkit/mpc/ring';
import { Dice } from '@measurement-exchange/testkit/mpc/world';
import { expect, test } from 'vitest';
import { drawNoiseRegisters } from '../liquidLegions/noiseRegisters.ts';
import { drawNoiseTuples } from '../liquidLegions/noiseTuples.ts';
import type { RingKeys } from '../liquidLegions/ringKeys.ts';
import { stepSeed } from '../liquidLegions/stageWork.ts';
import { FrequencyStages } from './duchy.ts';
import { relativeFrequencies } from './estimate.ts';
import { type FrequencySpec, frequencyParameters } from './limits.ts';

const pool = new InProcess();

const dice = new Dice('frequency');
const ring = new Ring(dice, 3);
const [first, second, aggregator] = ring.keys as [RingKeys, RingKeys, RingKeys];

/**
 * Each kind of count has different privacy parameters. If the noise of a count were drawn with its own parameters but
 * subtracted with those of another count, the result would be wrong.
 */
const NOISE = {
  privacyParams: { epsilon: 1.5, delta: 0.01 },
  frequencyPrivacyParams: { epsilon: 4, delta: 0.01 },
  histogramPrivacyParams: { epsilon: 3, delta: 0.001 },
  publisherPrivacyParams: { epsilon: 2, delta: 0.01 },
};

interface World {
  spec: FrequencySpec & { samplingIndicatorSize: number };
  events: Events[];
}

function world(spec: Partial<World['spec']>, events: Events[]): World {
  return {
    spec: {
      ...{ decayRate: 3, maxSize: 40, samplingIndicatorSize: 1000, maximumFrequency: 4, duchyCount: 3 },
      ...{ noiseMechanism: 'NONE', dataProviderCount: events.length },
      ...spec,
    },
    events,
  };
}

const truth = ({ spec, events }: World) => unionOf(spec, events);

/** Runs all stages of the protocol. The providers' uploads are spread over the duchies. */
async function run({ spec, events }: World, seeds = Array.from({ length: 12 }, () => dice.seed())) {
  const parameters = frequencyParameters(spec);
  const stages = new FrequencyStages(parameters, pool);
  const sketches = events.map((one) =>
    ring.encryptFrequency(frequencySketch(spec, one), spec.maximumFrequency),
  );
  const setups: Uint8Array[] = [];
  for (const [place, keys] of ring.keys.entries()) {
    const uploaded = sketches.filter((_, i) => i % 3 === place);
    setups.push(await stages.setup(uploaded, keys, seeds[place]!));
  }
  const combined = await stages.combine(setups, aggregator, seeds[9]!);
  const once = await stages.blind(combined, first, seeds[3]!);
  const blinded = await stages.blind(once, second, seeds[4]!);
  const tuples = await stages.group(blinded, aggregator, seeds[5]!);
  const partly = await stages.decryptFlags(tuples, first, seeds[6]!);
  const flags = await stages.decryptFlags(partly, second, seeds[7]!);
  const { registers, comparisons } = await stages.countRegisters(flags, aggregator, seeds[8]!);
  const compared = await stages.decryptComparisons(comparisons, first, seeds[10]!);
  const left = await stages.decryptComparisons(compared, second, seeds[11]!);
  return {
    parameters,
    stages,
    tuples,
    registers,
    frequencies: await stages.countFrequencies(left, aggregator),
  };
}

test(`without noise, the result equals the union of the plaintext sketches in ${WORLDS} random worlds`, async () => {
  for (let i = 0; i < WORLDS; i++) {
    const { maxSize, events } = randomWorld(dice);
    const samplingIndicatorSize = dice.oneOf([2, 1000]);
    const some = world({ maxSize, samplingIndicatorSize, maximumFrequency: dice.between(2, 5) }, events);
    const { registers, frequencies } = await run(some);
    expect({ registers, frequencies }).toEqual(truth(some));
  }
});

test('the result equals the plaintext union with destroyed registers, high frequencies and an empty sketch', async () => {
  const some = world({ decayRate: 1, maxSize: 12, samplingIndicatorSize: 1000 }, [
    new Map(Array.from({ length: 8 }, (_, i) => [i + 1, (i % 3) + 1])),
    new Map([
      [1, 3],
      [2, 1000],
      [30, 1],
    ]),
    new Map(),
  ]);
  const expected = truth(some);
  expect(expected.registers).toBeGreaterThan(expected.frequencies.reduce((sum, count) => sum + count, 0));
  expect(expected.frequencies.at(-1)).toBeGreaterThan(0);
  const { registers, frequencies } = await run(some);
  expect({ registers, frequencies }).toEqual(expected);
});

test('empty sketches result in 0 registers and no frequencies', async () => {
  const { registers, frequencies } = await run(world({ maxSize: 5 }, [new Map(), new Map()]));
  expect({ registers, frequencies }).toEqual({ registers: 0, frequencies: [0, 0, 0, 0] });
  expect(relativeFrequencies(frequencies)).toEqual(new Map());
});

test('noise changes each count by exactly the noise that was drawn for it', async () => {
  /** The events hit so many registers of each frequency that no noise can make a count negative. */
  const events = [0, 6].map(
    (from) => new Map(Array.from({ length: 36 }, (_, i) => [from + i, 1 + (i % 3)] as const)),
  );
  const some = world(
    { ...NOISE, noiseMechanism: 'DISCRETE_GAUSSIAN', decayRate: 0.1, maxSize: 80, maximumFrequency: 3 },
    events,
  );
  const expected = truth(some);
  const deviations: number[] = [];
  for (let i = 0; i < WORLDS; i++) {
    const seeds = Array.from({ length: 12 }, () => dice.seed());
    const { parameters, registers, frequencies } = await run(some, seeds);
    const { duchyCount, reachNoise, frequencyNoise } = parameters;
    const drawn = seeds
      .slice(0, 3)
      .map((seed) => drawNoiseRegisters(0, { parameters, seed: stepSeed(seed, 'noise') }).registers);
    const reached = noiseCount(drawn, 'reach') - duchyCount * reachNoise.offset;
    expect(registers).toBe(expected.registers + reached);
    // Seeds 5 to 7 determine the noise tuples of the duchies: the aggregator's first, then those of both workers.
    const tuples = seeds
      .slice(5, 8)
      .flatMap((seed) => [...drawNoiseTuples(0, { parameters, seed: stepSeed(seed, 'noise') })]);
    expect(tuples.length).toBe(duchyCount * parameters.noiseTupleCount);
    const noise = frequencies.map(
      (_, i) => tuples.filter((frequency) => frequency === i + 1).length - duchyCount * frequencyNoise.offset,
    );
    expect(frequencies).toEqual(expected.frequencies.map((count, i) => count + noise[i]!));
    deviations.push(reached / Math.sqrt(reachNoise.variance));
    deviations.push(...noise.map((one) => one / Math.sqrt(frequencyNoise.variance)));
  }
  if (WORLDS >= 100) expectStated(deviations, 'DISCRETE_GAUSSIAN');
});

test('relativeFrequencies returns shares of the sum of counts, and omits counts of 0', () => {
  expect(relativeFrequencies([3, 0, 1])).toEqual(
    new Map([
      [1, 0.75],
      [3, 0.25],
    ]),
  );
  expect(relativeFrequencies([0, 0])).toEqual(new Map());
});

test('stages reject a message whose length is not a whole number of registers or tuples', async () => {
  const stages = new FrequencyStages(frequencyParameters(world({}, [new Map()]).spec), pool);
  const bytes = new Uint8Array(100);
  const seed = dice.seed();
  const rejected = (run: Promise<unknown>, what: string) =>
    expect(run).rejects.toThrow(`${what} must be whole blocks of`);
  await rejected(stages.setup([bytes], first, seed), 'a sketch');
  await rejected(stages.blind(bytes, first, seed), 'a message');
  await rejected(stages.group(bytes, first, seed), 'a message');
  await rejected(stages.decryptFlags(bytes, first, seed), 'a message');
  await rejected(stages.decryptComparisons(bytes, first, seed), 'a message');
});
