/**
 * Compares the results of reach-only Liquid Legions v2 with the union of the plaintext sketches. Stress runs have 300
 * worlds of up to 2000 registers, and 300 computations with noise. Also tests what messages reveal, and which messages
 * and parameters are rejected.
 */

import { expectStated } from '@measurement-exchange/testkit/mpc/deviations';
import { InProcess } from '@measurement-exchange/testkit/mpc/inProcess';
import {
  type Events,
  noiseCount,
  Ring,
  randomWorld,
  reachSketch,
  WORLDS,
} from '@measurement-exchange/testkit/mpc/ring';
import { Dice } from '@measurement-exchange/testkit/mpc/world';
import { describe, expect, test } from 'vitest';
import {
  CIPHERTEXT_BYTES,
  Ciphertexts,
  Curve,
  estimatePeople,
  mapToCurve,
  POINT_BYTES,
} from '../../sketches.ts';
import { LiquidLegionsError } from '../liquidLegions/errors.ts';
import type { NoiseSpec } from '../liquidLegions/noiseParameters.ts';
import { drawNoiseRegisters, NOISE_REGISTER_BYTES } from '../liquidLegions/noiseRegisters.ts';
import type { RingKeys } from '../liquidLegions/ringKeys.ts';
import { stepSeed } from '../liquidLegions/stageWork.ts';
import { ReachOnlyStages } from './duchy.ts';
import { estimateReach } from './estimate.ts';
import { reachOnlyParameters } from './limits.ts';

const pool = new InProcess();

const dice = new Dice('reach only');
const ring = new Ring(dice, 3);
const [first, second, aggregator] = ring.keys as [RingKeys, RingKeys, RingKeys];

const PRIVACY = { epsilon: 4, delta: 0.01 };
const NOISE_PARAMS = {
  privacyParams: { epsilon: 1, delta: 0.01 },
  histogramPrivacyParams: PRIVACY,
  publisherPrivacyParams: PRIVACY,
};

interface World {
  spec: NoiseSpec;
  events: Events[];
}

function world(
  maxSize: number,
  events: Events[],
  noiseMechanism: NoiseSpec['noiseMechanism'] = 'NONE',
): World {
  const noise = noiseMechanism === 'NONE' ? {} : NOISE_PARAMS;
  const spec = {
    decayRate: 3,
    maxSize,
    noiseMechanism,
    dataProviderCount: events.length,
    duchyCount: 3,
    ...noise,
  };
  return { spec, events };
}

/** Counts the registers that are active in the sketch of at least one provider. */
function union({ spec, events }: World): number {
  const sketches = events.map((one) => reachSketch(spec, one).active);
  return Array.from({ length: spec.maxSize }, (_, i) => i).filter((i) =>
    sketches.some((active) => active[i] === 1),
  ).length;
}

const newSeeds = () => Array.from({ length: 6 }, () => dice.seed());

/** Runs all stages of the protocol. The providers' uploads are spread over the duchies. */
async function run({ spec, events }: World, seeds = newSeeds()) {
  const parameters = reachOnlyParameters(spec);
  const stages = new ReachOnlyStages(parameters, pool);
  const sketches = events.map((one) => ring.encryptReach(reachSketch(spec, one)));
  const setups: Uint8Array[] = [];
  for (const [place, keys] of ring.keys.entries()) {
    const uploaded = sketches.filter((_, i) => i % 3 === place);
    setups.push(await stages.setup(uploaded, keys, seeds[place]!));
  }
  const combined = await stages.combine(setups, aggregator, seeds[5]!);
  const once = await stages.execute(combined, first, seeds[3]!);
  const twice = await stages.execute(once, second, seeds[4]!);
  const registers = await stages.count(twice, aggregator);
  return {
    parameters,
    stages,
    sketches,
    messages: [...setups, combined, once, twice],
    combined,
    once,
    twice,
    registers,
  };
}

const points = (bytes: Uint8Array) =>
  Array.from({ length: bytes.length / POINT_BYTES }, (_, i) =>
    Buffer.from(bytes.subarray(i * POINT_BYTES, (i + 1) * POINT_BYTES)).toString('hex'),
  );

test(`without noise, the result equals the union of the plaintext sketches in ${WORLDS} random worlds`, async () => {
  for (let i = 0; i < WORLDS; i++) {
    const { maxSize, events } = randomWorld(dice);
    const some = world(maxSize, events);
    const { parameters, registers } = await run(some);
    const expected = union(some);
    expect(registers).toBe(expected);
    if (expected < maxSize) {
      expect(estimateReach(parameters, registers, 0.1)).toBe(
        Math.trunc(estimatePeople(some.spec, expected) / Math.fround(0.1)),
      );
    }
  }
});

test('empty sketches result in 0 registers, and one person in all sketches results in 1 register', async () => {
  expect((await run(world(10, [new Map(), new Map()]))).registers).toBe(0);
  const one = () => new Map([[7, 3]]);
  expect((await run(world(10, [one(), one(), one()]))).registers).toBe(1);
});

describe.each(['DISCRETE_GAUSSIAN', 'GEOMETRIC'] as const)('a ring with %s noise', async (mechanism) => {
  /** The events hit so many registers that no noise can make the count negative. */
  const events = [0, 10].map((from) => new Map(Array.from({ length: 20 }, (_, i) => [from + i, 1])));
  const some = world(60, events, mechanism);
  const seeds = newSeeds();
  const ran = await run(some, seeds);

  const drawNoise = (seed: Uint8Array) =>
    drawNoiseRegisters(0, { parameters: ran.parameters, seed: stepSeed(seed, 'noise') });

  test('adds exactly the noise that was drawn for the reach to the count', async () => {
    const { reachNoise, duchyCount } = ran.parameters;
    const deviations: number[] = [];
    for (let i = 0; i < WORLDS; i++) {
      // Reuse the computation that ran above as the first one.
      const own = i === 0 ? seeds : newSeeds();
      const { registers } = i === 0 ? ran : await run(some, own);
      const drawn = own.slice(0, 3).map((seed) => drawNoise(seed).registers);
      const noise = noiseCount(drawn, 'reach') - duchyCount * reachNoise.offset;
      expect(registers).toBe(union(some) + noise);
      deviations.push(noise / Math.sqrt(reachNoise.variance));
    }
    if (WORLDS >= 100) expectStated(deviations, mechanism);
  });

  test('draws the same number of noise registers with every seed', () => {
    const { noiseRegisterCount } = ran.parameters;
    expect(noiseRegisterCount).toBeGreaterThan(10);
    for (let i = 0; i < 20; i++) {
      expect(drawNoise(dice.seed()).registers.length).toBe(noiseRegisterCount * NOISE_REGISTER_BYTES);
    }
  });

  test('computes the same messages again for the same seed, and other messages for another seed', async () => {
    const stages = new ReachOnlyStages(ran.parameters, pool);
    const setup = () => stages.setup([ran.sketches[0]!], first, seeds[0]!);
    expect(await setup()).toEqual(await setup());
    const execute = (seed: Uint8Array) => stages.execute(ran.combined, first, seed);
    expect(await execute(seeds[3]!)).toEqual(ran.once);
    expect(await execute(dice.seed())).not.toEqual(ran.once);
  });

  test('sorts the registers that a duchy sends, and repeats no point of its input', () => {
    for (const [before, after] of [
      [ran.combined, ran.once],
      [ran.once, ran.twice],
    ] as const) {
      const known = new Set(points(before));
      expect(points(after).filter((point) => known.has(point))).toEqual([]);
      const blocks = Array.from({ length: after.length / CIPHERTEXT_BYTES - 1 }, (_, i) =>
        Buffer.from(after.subarray(i * CIPHERTEXT_BYTES, (i + 1) * CIPHERTEXT_BYTES)).toString('hex'),
      );
      expect(blocks).toEqual(blocks.toSorted());
    }
  });

  test('sends no plaintext point of a register', () => {
    const curve = new Curve(64);
    const clear = new Set(
      points(
        mapToCurve(
          curve,
          Array.from({ length: some.spec.maxSize }, (_, i) => String(i)),
        ),
      ),
    );
    for (const message of ran.messages)
      expect(points(message).filter((point) => clear.has(point))).toEqual([]);
  });
});

describe('a message that does not follow the protocol', async () => {
  const { stages, twice } = await run(
    world(60, [
      new Map([
        [1, 1],
        [2, 1],
      ]),
    ]),
  );
  const count = (message: Uint8Array) => expect(stages.count(message, aggregator)).rejects;

  test('is rejected if it is empty or not a whole number of ciphertexts', async () => {
    for (const message of [twice.subarray(1), new Uint8Array()])
      await count(message).toThrow(LiquidLegionsError);
  });

  test('is rejected if one of its points is invalid', async () => {
    const spoiled = Uint8Array.from(twice);
    spoiled[CIPHERTEXT_BYTES + POINT_BYTES] = 4;
    await count(spoiled).toThrow('not a compressed point of 33 bytes');
  });
});

test('a provider cannot recognize its registers in the output of a worker by multiplied points', async () => {
  const some = world(10, [new Map([[1, 1]])]);
  const stages = new ReachOnlyStages(reachOnlyParameters(some.spec), pool);
  const tripled = (bytes: Uint8Array) => {
    const curve = new Curve(256);
    const batch = new Ciphertexts(curve);
    const result = new Uint8Array(bytes.length);
    batch.load(bytes, bytes.length / CIPHERTEXT_BYTES);
    const three = Uint8Array.from({ length: 32 }, (_, i) => (i === 31 ? 3 : 0));
    batch.multiplyEach(Buffer.concat(Array(bytes.length / CIPHERTEXT_BYTES).fill(three)));
    batch.store(result);
    return result;
  };
  const register = ring.encryptReach(reachSketch(some.spec, some.events[0]!));
  const given = await stages.setup([register, tripled(register)], first, dice.seed());
  const sent = await stages.execute(given, first, dice.seed());
  const before = new Set(points(given));
  expect(points(tripled(given)).some((point) => before.has(point))).toBe(true);
  const after = new Set(points(sent));
  expect(points(tripled(sent)).some((point) => after.has(point))).toBe(false);
});

test('reachOnlyParameters rejects unsupported parameters with the name of the field', () => {
  const { spec } = world(60, [new Map()], 'DISCRETE_GAUSSIAN');
  expect(() => reachOnlyParameters({ ...spec, dataProviderCount: 0 })).toThrow(
    'dataProviders must not be empty',
  );
  expect(() => reachOnlyParameters({ ...spec, duchyCount: 1 })).toThrow('duchies must be at least 2');
  const privacyParams = { epsilon: 1e-5, delta: 1e-9 };
  expect(() => reachOnlyParameters({ ...spec, privacyParams })).toThrow(
    /privacyParams ask for \d+ registers of noise/,
  );
});
