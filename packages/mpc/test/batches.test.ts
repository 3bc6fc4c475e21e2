/**
 * Tests that two batches of a stage do not draw the same randomness. The tests repeat one register or tuple often
 * enough to fill two batches, and check that all outputs differ. They also check that each stage sorts its output.
 * Except in stress runs, only the reach-only protocol has two batches. The other tests compare two runs with different
 * seeds instead.
 */

import { frequencySketch, hexBlocks, reachSketch, ringOfThree } from '@measurement-exchange/testkit/mpc/ring';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { expect, test } from 'vitest';
import { batchSize } from '../src/protocols/liquidLegions/stageWork.ts';
import { TUPLE_BYTES } from '../src/protocols/liquidLegions/tuples.ts';
import { FrequencyStages } from '../src/protocols/liquidLegionsV2/duchy.ts';
import { frequencyParameters } from '../src/protocols/liquidLegionsV2/limits.ts';
import { ReachOnlyStages } from '../src/protocols/reachOnlyLiquidLegionsV2/duchy.ts';
import { reachOnlyParameters } from '../src/protocols/reachOnlyLiquidLegionsV2/limits.ts';
import {
  CIPHERTEXT_BYTES,
  FREQUENCY_REGISTER_BYTES,
  POINT_BYTES,
  REACH_REGISTER_BYTES,
} from '../src/sketches.ts';

const { dice, pool, ring, first, second, aggregator } = ringOfThree('batches');
const COUNT = 264;
expect(Math.ceil(COUNT / batchSize(COUNT))).toBe(2);

const SKETCH = { decayRate: 3, maxSize: 10, samplingIndicatorSize: 100 };
const SPEC = { ...SKETCH, noiseMechanism: 'NONE', dataProviderCount: 2 * COUNT, duchyCount: 3 } as const;
/** Parameters with more noise than fits in a batch. */
const NOISY = {
  ...({ ...SPEC, noiseMechanism: 'DISCRETE_GAUSSIAN', dataProviderCount: 2 } as const),
  privacyParams: { epsilon: 0.029, delta: 0.01 },
  histogramPrivacyParams: { epsilon: 4, delta: 0.01 },
  publisherPrivacyParams: { epsilon: 4, delta: 0.01 },
  frequencyPrivacyParams: { epsilon: 0.11, delta: 0.01 },
};
const MAXIMUM = 3;
/** The number of registers or tuples that each stage of the protocol with frequencies gets as input. */
const FEW = isStress ? COUNT : 8;
const FEW_NOISY = { ...NOISY, frequencyPrivacyParams: { epsilon: isStress ? 0.11 : 4, delta: 0.01 } };

const repeated = (bytes: Uint8Array, size: number, times = COUNT) =>
  Buffer.concat(Array(times).fill(bytes.subarray(0, size)));

/** Checks that no point repeats, and that no point occurs in the input. */
function expectFresh(bytes: Uint8Array, given: Uint8Array): void {
  const points = hexBlocks(bytes, POINT_BYTES);
  expect(new Set(points).size).toBe(points.length);
  const known = new Set(hexBlocks(given, POINT_BYTES));
  expect(points.filter((point) => known.has(point))).toEqual([]);
}

/**
 * Runs the stage with two seeds. Checks that no point repeats in the outputs or comes from the input, and that the
 * first output is sorted. Returns the first output.
 */
async function sentTwice(
  stage: (seed: Uint8Array) => Promise<Uint8Array>,
  given: Uint8Array,
  size: number,
): Promise<Uint8Array> {
  const [once, again] = [await stage(dice.seed()), await stage(dice.seed())];
  expectFresh(Buffer.concat([once, again]), given);
  expectSorted(once, size);
  return once;
}

const expectSorted = (bytes: Uint8Array, size: number) =>
  expect(hexBlocks(bytes, size)).toEqual(hexBlocks(bytes, size).toSorted());

test('stages of the reach-only protocol repeat no randomness, and sort their output', async () => {
  const stages = new ReachOnlyStages(reachOnlyParameters(SPEC), pool);
  const register = ring.encryptReach(reachSketch(SKETCH, new Map([[1, 1]])));
  const given = repeated(register, REACH_REGISTER_BYTES, COUNT + 1);
  for (const message of [
    await stages.combine([given], aggregator, dice.seed()),
    await stages.execute(given, first, dice.seed()),
  ]) {
    expect(message.length).toBe(given.length);
    expectFresh(message, given);
    expectSorted(message.subarray(0, -CIPHERTEXT_BYTES), CIPHERTEXT_BYTES);
  }
  const noisy = new ReachOnlyStages(reachOnlyParameters(NOISY), pool);
  const noise = await noisy.setup([], first, dice.seed());
  expect(noise.length / REACH_REGISTER_BYTES).toBeGreaterThan(batchSize(1));
  expectFresh(noise, given);
});

test('stages of the protocol with frequencies repeat no randomness, and sort their output', async () => {
  const spec = { ...SPEC, maximumFrequency: MAXIMUM };
  const stages = new FrequencyStages(frequencyParameters(spec), pool);
  const sketch = frequencySketch(SKETCH, new Map([[1, 2]]));
  const register = ring.encryptFrequency(sketch, MAXIMUM);
  const registers = repeated(register, FREQUENCY_REGISTER_BYTES, FEW);
  for (const stage of [
    (seed: Uint8Array) => stages.combine([registers], aggregator, seed),
    (seed: Uint8Array) => stages.blind(registers, first, seed),
  ]) {
    await sentTwice(stage, registers, FREQUENCY_REGISTER_BYTES);
  }
  const once = await stages.blind(register, first, dice.seed());
  const twice = await stages.blind(once, second, dice.seed());
  const tuples = await stages.group(twice, aggregator, dice.seed());
  const many = repeated(tuples, TUPLE_BYTES, FEW);
  const flags = await sentTwice((seed) => stages.decryptFlags(many, first, seed), many, TUPLE_BYTES);
  const compared = repeated(flags, CIPHERTEXT_BYTES, (MAXIMUM - 1) * FEW);
  const [comparisons, others] = [
    await stages.decryptComparisons(compared, first, dice.seed()),
    await stages.decryptComparisons(compared, first, dice.seed()),
  ];
  expectFresh(Buffer.concat([comparisons, others]), compared);
  for (const column of [0, 1]) {
    const size = comparisons.length / 2;
    expectSorted(comparisons.subarray(column * size, (column + 1) * size), CIPHERTEXT_BYTES);
  }
});

test("noise tuples and the aggregator's comparisons of many groups repeat no randomness", async () => {
  const noisy = new FrequencyStages(frequencyParameters({ ...FEW_NOISY, maximumFrequency: MAXIMUM }), pool);
  const empty = new Uint8Array();
  const tuples = await sentTwice((seed) => noisy.group(empty, aggregator, seed), empty, TUPLE_BYTES);
  expect(tuples.length / TUPLE_BYTES).toBeGreaterThan(isStress ? batchSize(1) : FEW);
  let message: Uint8Array = tuples;
  const quiet = new FrequencyStages(frequencyParameters({ ...SPEC, maximumFrequency: MAXIMUM }), pool);
  for (const keys of [first, second]) message = await quiet.decryptFlags(message, keys, dice.seed());
  const [{ comparisons }, others] = [
    await noisy.countRegisters(message, aggregator, dice.seed()),
    await noisy.countRegisters(message, aggregator, dice.seed()),
  ];
  expect(comparisons.length / CIPHERTEXT_BYTES).toBeGreaterThan(isStress ? batchSize(1) / 2 : FEW / 2);
  expectFresh(Buffer.concat([comparisons, others.comparisons]), message);
});
