/**
 * Tests computations with registers that only a dishonest provider or worker would send. All of these registers can be
 * parsed, so every computation must still end with a figure and never with an error.
 */

import { InProcess } from '@measurement-exchange/testkit/mpc/inProcess';
import { frequencySketch, Ring, reachSketch } from '@measurement-exchange/testkit/mpc/ring';
import { Dice } from '@measurement-exchange/testkit/mpc/world';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { expect, test } from 'vitest';
import {
  CIPHERTEXT_BYTES,
  Ciphertexts,
  DESTROYED_KEY,
  drawScalars,
  ElGamalPublicKey,
  FREQUENCY_REGISTER_BYTES,
  Keystream,
  mapToCurve,
  NOBODY_INDEX,
  POINT_BYTES,
} from '../../sketches.ts';
import { FrequencyStages } from '../liquidLegionsV2/duchy.ts';
import { relativeFrequencies } from '../liquidLegionsV2/estimate.ts';
import { frequencyParameters } from '../liquidLegionsV2/limits.ts';
import { ReachOnlyStages } from '../reachOnlyLiquidLegionsV2/duchy.ts';
import { estimateReach } from '../reachOnlyLiquidLegionsV2/estimate.ts';
import { reachOnlyParameters } from '../reachOnlyLiquidLegionsV2/limits.ts';
import type { RingKeys } from './ringKeys.ts';
import { HISTOGRAM_KEY } from './tuples.ts';

const dice = new Dice('hostile');
const pool = new InProcess();
const ring = new Ring(dice, 3);
const [first, second, aggregator] = ring.keys as [RingKeys, RingKeys, RingKeys];
const random = new Keystream(dice.seed());
const { curve } = ring;
const batch = new Ciphertexts(curve);
const key = new ElGamalPublicKey(curve, aggregator.key);

function stored(count: number): Uint8Array {
  const bytes = new Uint8Array(count * CIPHERTEXT_BYTES);
  batch.store(bytes);
  return bytes;
}

function encrypted(texts: string[], under = key): Uint8Array {
  batch.encrypt(under, mapToCurve(curve, texts), drawScalars(random, texts.length));
  return stored(texts.length);
}

function zeros(under = key): Uint8Array {
  batch.encryptZeros(under, drawScalars(random, 1));
  return stored(1);
}

/** Ciphertexts that can be parsed. An honest provider does not send most of them. */
function hostileCiphertexts(): Uint8Array[] {
  const [one] = [encrypted(['1'])] as [Uint8Array];
  const negative = (bytes: Uint8Array, places: number[]) =>
    bytes.map((byte, i) => (places.includes(i) ? byte ^ 1 : byte));
  const [u, e] = [one.subarray(0, POINT_BYTES), one.subarray(POINT_BYTES)];
  return [
    one,
    negative(one, [0]),
    negative(one, [0, POINT_BYTES]),
    Buffer.concat([u, u]),
    Buffer.concat([e, e]),
    // Encryptions of the point at infinity, under all keys together and under each duchy's key alone.
    zeros(),
    ...ring.duchies.map(({ publicKey }) => zeros(new ElGamalPublicKey(curve, publicKey))),
    encrypted(['1'], new ElGamalPublicKey(curve, ring.duchies[0]!.publicKey)),
    encrypted([NOBODY_INDEX]),
    encrypted([DESTROYED_KEY]),
    encrypted([HISTOGRAM_KEY]),
    encrypted(['padding_noise_register_id']),
    encrypted([`a text ${dice.below(1000)}`]),
  ];
}

test('hostile registers of a provider cause no error, whatever the other provider uploads', async () => {
  const spec = {
    ...{ decayRate: 3, maxSize: 20, samplingIndicatorSize: 100, maximumFrequency: 3, duchyCount: 3 },
    ...{ noiseMechanism: 'NONE' as const, dataProviderCount: 2 },
  };
  const parameters = frequencyParameters(spec);
  const stages = new FrequencyStages(parameters, pool);
  const choices = hostileCiphertexts();
  const registers = Array.from({ length: rounds(150, 16) }, () =>
    Buffer.concat([dice.oneOf(choices), dice.oneOf(choices), dice.oneOf(choices)]),
  );
  for (const people of [0, 12]) {
    const honest = frequencySketch(spec, new Map(Array.from({ length: people }, (_, i) => [i, 1 + (i % 4)])));
    const setups = [
      await stages.setup([Buffer.concat(registers)], first, dice.seed()),
      await stages.setup([ring.encryptFrequency(honest, 3)], second, dice.seed()),
      await stages.setup([], aggregator, dice.seed()),
    ];
    let message: Uint8Array = await stages.combine(setups, aggregator, dice.seed());
    for (const keys of [first, second]) message = await stages.blind(message, keys, dice.seed());
    message = await stages.group(message, aggregator, dice.seed());
    for (const keys of [first, second]) message = await stages.decryptFlags(message, keys, dice.seed());
    const counted = await stages.countRegisters(message, aggregator, dice.seed());
    message = counted.comparisons;
    for (const keys of [first, second]) message = await stages.decryptComparisons(message, keys, dice.seed());
    const shares = relativeFrequencies(await stages.countFrequencies(message, aggregator));
    expect(estimateReach(parameters, counted.registers, 1)).toBeGreaterThanOrEqual(people / 2);
    for (const share of shares.values()) expect(share).toBeGreaterThan(0);
  }
});

test('registers that cancel each other out in a group do not make a stage fail', async () => {
  const spec = {
    ...{ decayRate: 3, maxSize: 20, samplingIndicatorSize: 100, maximumFrequency: 3, duchyCount: 3 },
    ...{ noiseMechanism: 'NONE' as const, dataProviderCount: 3 },
  };
  const stages = new FrequencyStages(frequencyParameters(spec), pool);
  // In a register that the last worker sends, the index is encrypted only with the aggregator's key.
  const last = new ElGamalPublicKey(curve, ring.duchies[2]!.publicKey);
  const register = (index: string, keyAndCount: Uint8Array) =>
    Buffer.concat([encrypted([index], last), keyAndCount, keyAndCount]);
  const one = encrypted(['7']);
  const opposite = one.map((byte, i) => (i % POINT_BYTES === 0 ? byte ^ 1 : byte));
  const message = Buffer.concat([
    // Mix equal and opposite keys in a group, so that sums or differences are the point at infinity. In each group, the
    // register that is first in byte order is subtracted from the others.
    ...[one, one, opposite].map((each) => register('together', each)),
    ...[one, opposite, opposite].map((each) => register('together, too', each)),
    ...[one, opposite].map((each, i) => register(`apart ${i}`, each)),
    // An index that is the point at infinity, such as the difference of two equal indexes.
    Buffer.concat([zeros(last), one, one]),
  ]);
  expect(message.length % FREQUENCY_REGISTER_BYTES).toBe(0);
  const tuples = await stages.group(message, aggregator, dice.seed());
  let flags: Uint8Array = tuples;
  for (const keys of [first, second]) flags = await stages.decryptFlags(flags, keys, dice.seed());
  expect((await stages.countRegisters(flags, aggregator, dice.seed())).registers).toBe(5);
});

test('a register in place of the noise count gives a figure with an error that noise explains', async () => {
  const HIDING = { epsilon: 4, delta: 0.01 };
  const spec = { decayRate: 3, maxSize: 40, dataProviderCount: 1, duchyCount: 3 };
  const noise = {
    privacyParams: HIDING,
    histogramPrivacyParams: { epsilon: 1, delta: 0.01 },
    publisherPrivacyParams: HIDING,
  };
  const parameters = reachOnlyParameters({ ...spec, ...noise, noiseMechanism: 'DISCRETE_GAUSSIAN' });
  const stages = new ReachOnlyStages(parameters, pool);
  const people = new Map(Array.from({ length: 30 }, (_, i) => [i, 1]));
  const sketch = ring.encryptReach(reachSketch(spec, people));
  const truth = reachSketch(spec, people).active.reduce((sum, active) => sum + active, 0);
  const setup = await stages.setup([sketch], first, dice.seed());
  const lie = Buffer.from(setup);
  lie.set(sketch.subarray(0, CIPHERTEXT_BYTES), lie.length - CIPHERTEXT_BYTES);
  const others = [
    await stages.setup([], second, dice.seed()),
    await stages.setup([], aggregator, dice.seed()),
  ];
  let message: Uint8Array = await stages.combine([lie, ...others], aggregator, dice.seed());
  for (const keys of [first, second]) message = await stages.execute(message, keys, dice.seed());
  const { reachNoise, histogramNoise } = parameters;
  const deviation = Math.sqrt(reachNoise.variance + histogramNoise.variance);
  const counted = await stages.count(message, aggregator);
  expect(Math.abs(counted - truth)).toBeLessThan(6 * deviation);
  // Check that the limit above is strict enough. If the aggregator could not read the noise count, it would not
  // subtract the noise, and the error would exceed the limit.
  expect(3 * histogramNoise.offset).toBeGreaterThan(6 * deviation);
});

test('more registers than a sketch has give its largest possible reach, and 0 registers give 0', () => {
  const spec = { decayRate: 3, maxSize: 40, dataProviderCount: 1, duchyCount: 3, noiseMechanism: 'NONE' };
  const parameters = reachOnlyParameters(spec as Parameters<typeof reachOnlyParameters>[0]);
  const largest = estimateReach(parameters, 39, 1);
  expect(largest).toBeGreaterThan(39);
  for (const registers of [40, 41, 1e6]) expect(estimateReach(parameters, registers, 1)).toBe(largest);
  expect(estimateReach(parameters, 0, 1)).toBe(0);
  expect(relativeFrequencies([0, 0, 0])).toEqual(new Map());
});
