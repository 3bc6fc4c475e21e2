/**
 * Tests with real ciphertexts what a ring of three duchies hides from an aggregator that decrypts everything it can,
 * and from workers that search for the registers that they sent. Also checks that ringModel.ts predicts the
 * aggregator's counts. ringWorlds.test.ts uses that model to compare many runs.
 */

import { takeColumn } from '@measurement-exchange/mpc/protocols/liquidLegions/blocks';
import { openIndexes } from '@measurement-exchange/mpc/protocols/liquidLegions/registers';
import { stepSeed } from '@measurement-exchange/mpc/protocols/liquidLegions/stageWork';
import { HISTOGRAM_KEY, TUPLE_BYTES } from '@measurement-exchange/mpc/protocols/liquidLegions/tuples';
import { ALONE, Workspace } from '@measurement-exchange/mpc/protocols/liquidLegions/workspace';
import { FrequencyStages } from '@measurement-exchange/mpc/protocols/liquidLegionsV2/duchy';
import { frequencyParameters } from '@measurement-exchange/mpc/protocols/liquidLegionsV2/limits';
import { ReachOnlyStages } from '@measurement-exchange/mpc/protocols/reachOnlyLiquidLegionsV2/duchy';
import { reachOnlyParameters } from '@measurement-exchange/mpc/protocols/reachOnlyLiquidLegionsV2/limits';
import {
  CIPHERTEXT_BYTES,
  countPoints,
  DESTROYED_KEY,
  FREQUENCY_REGISTER_BYTES,
  Keystream,
  mapToCurve,
  NOBODY_INDEX,
  POINT_BYTES,
  REACH_REGISTER_BYTES,
} from '@measurement-exchange/mpc/sketches';
import {
  type Events,
  frequencySketch,
  hexBlocks,
  reachSketch,
  ringOfThree,
} from '@measurement-exchange/testkit/mpc/ring';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { describe, expect, test } from 'vitest';
import { drawNoise, type PlainRegister, registersOf, sumOf, viewOf } from './ringModel.ts';
import { compareWorlds, expectHidden, type WorldNumber } from './worlds.ts';

const { dice, pool, ring, first, second, aggregator } = ringOfThree('ring coalitions');
const workspace = new Workspace(ring.curve);
const MAXIMUM = 3;

const NOISE = {
  privacyParams: { epsilon: 2, delta: 0.01 },
  frequencyPrivacyParams: { epsilon: 3, delta: 0.01 },
  histogramPrivacyParams: { epsilon: 1.8, delta: 0.01 },
  publisherPrivacyParams: { epsilon: 1.4, delta: 0.01 },
};
const SPEC = {
  ...({
    decayRate: 1,
    maxSize: 16,
    samplingIndicatorSize: 1000,
    noiseMechanism: 'DISCRETE_GAUSSIAN',
  } as const),
  ...{ dataProviderCount: 2, duchyCount: 3, maximumFrequency: MAXIMUM, ...NOISE },
};

/**
 * Computes a measurement with frequencies. Returns the messages that the tests examine, the number of registers, the
 * parameters, and the seeds.
 */
async function computeFrequencies(
  spec: typeof SPEC | (typeof SPEC & { noiseMechanism: 'NONE' }),
  events: Events[],
) {
  const parameters = frequencyParameters(spec);
  const stages = new FrequencyStages(parameters, pool);
  const sketches = events.map((one) => ring.encryptFrequency(frequencySketch(spec, one), MAXIMUM));
  const seeds = Array.from({ length: 6 }, () => dice.seed());
  const setups = [
    await stages.setup(sketches.slice(0, 1), first, seeds[0]!),
    await stages.setup(sketches.slice(1), second, seeds[1]!),
    await stages.setup([], aggregator, seeds[2]!),
  ];
  const combined = await stages.combine(setups, aggregator, dice.seed());
  const once = await stages.blind(combined, first, dice.seed());
  const blinded = await stages.blind(once, second, dice.seed());
  const tuples = await stages.group(blinded, aggregator, seeds[3]!);
  const partly = await stages.decryptFlags(tuples, first, seeds[4]!);
  const flags = await stages.decryptFlags(partly, second, seeds[5]!);
  const { registers, comparisons } = await stages.countRegisters(flags, aggregator, dice.seed());
  const compared = await stages.decryptComparisons(comparisons, first, dice.seed());
  const left = await stages.decryptComparisons(compared, second, dice.seed());
  return { parameters, setups, combined, once, blinded, flags, left, registers, seeds };
}

/**
 * For each number from 1 to `providers`, counts the indexes that occur in exactly this number of registers. If an index
 * occurs in more than `providers` registers, lists the number of its registers in `larger`.
 */
function groupsIn(
  message: Uint8Array,
  size: number,
  providers: number,
): { groups: number[]; larger: number[] } {
  const opened = openIndexes(workspace, { blocks: message, size, secretKey: aggregator.secretKey });
  const indexes = hexBlocks(opened, opened.length / (message.length / size)).map((hex) =>
    hex.slice(0, 2 * POINT_BYTES),
  );
  const sizes = [...Map.groupBy(indexes, (index) => index).values()].map(({ length }) => length);
  return {
    groups: Array.from({ length: providers }, (_, i) => sizes.filter((each) => each === i + 1).length),
    larger: sizes.filter((each) => each > providers).sort((a, b) => a - b),
  };
}

const PEOPLE: Events[] = [
  new Map([
    [1, 1],
    [2, 2],
    [3, 1],
    [4, 9],
  ]),
  new Map([
    [3, 1],
    [4, 1],
    [5, 1],
  ]),
];

/** Returns the providers' sketches in plaintext, with one entry for each register that is not empty. */
function plain(spec: typeof SPEC, events: Events[]): PlainRegister[][] {
  return events.map((one) => {
    const { keys, frequencies } = frequencySketch(spec, one);
    return [...frequencies.keys()].flatMap((index): PlainRegister[] => {
      if (frequencies[index] === 0) return [];
      const key = keys[index] === 0 ? 'destroyed' : String(keys[index]);
      return [{ index: String(index), key, count: Math.min(frequencies[index]!, MAXIMUM + 1) }];
    });
  });
}

describe('the ring model', () => {
  const noiseOf = (
    parameters: Parameters<typeof drawNoise>[0],
    setups: Uint8Array[],
    rounds: Uint8Array[] = [],
  ) =>
    sumOf(
      setups.map((seed, i) =>
        drawNoise(parameters, {
          registers: stepSeed(seed, 'noise'),
          tuples: stepSeed(rounds[i] ?? seed, 'noise'),
        }),
      ),
    );

  test('predicts the counts of the aggregator for frequencies', async () => {
    const { parameters, blinded, flags, left, registers, seeds } = await computeFrequencies(SPEC, PEOPLE);
    const view = viewOf(
      parameters,
      plain(SPEC, PEOPLE),
      noiseOf(parameters, seeds.slice(0, 3), seeds.slice(3)),
    );
    expect(groupsIn(blinded, FREQUENCY_REGISTER_BYTES, 2)).toEqual({
      groups: view.groups,
      larger: [view.publisher, view.padding].sort((a, b) => a - b),
    });
    const zeroFlags = workspace.zeros(
      takeColumn(flags, TUPLE_BYTES, 0, 3 * CIPHERTEXT_BYTES),
      aggregator.secretKey,
    );
    const types = hexBlocks(zeroFlags, 3).map((hex) => hex.replace(/0(.)/g, '$1'));
    const has = (type: string) => types.filter((each) => each === type).length;
    expect([has('000'), has('110'), has('101') + has('001')]).toEqual([
      view.several,
      view.destroyed,
      view.histogram,
    ]);
    const zeros = workspace.zeros(left, aggregator.secretKey);
    const compared = zeros.length / 2;
    const equal = [0, 1].map((i) =>
      zeros.subarray(i * compared, (i + 1) * compared).reduce((sum, zero) => sum + zero, 0),
    );
    expect([...equal, compared - equal[0]! - equal[1]!]).toEqual(view.frequency);
    expect(registers).toBe(Math.max(0, registersOf(parameters, view)));
  });

  test('predicts the counts of the aggregator for a reach', async () => {
    const parameters = reachOnlyParameters(SPEC);
    const stages = new ReachOnlyStages(parameters, pool);
    const seeds = ring.keys.map(() => dice.seed());
    const sketches = PEOPLE.map((one) => ring.encryptReach(reachSketch(SPEC, one)));
    const setups: Uint8Array[] = [];
    for (const [i, keys] of ring.keys.entries()) {
      setups.push(await stages.setup(sketches.slice(i, i + 1), keys, seeds[i]!));
    }
    let message: Uint8Array = await stages.combine(setups, aggregator, dice.seed());
    for (const keys of [first, second]) message = await stages.execute(message, keys, dice.seed());
    const view = viewOf(parameters, plain(SPEC, PEOPLE), noiseOf(parameters, seeds));
    expect(groupsIn(message.subarray(0, -CIPHERTEXT_BYTES), REACH_REGISTER_BYTES, 2)).toEqual({
      groups: view.groups,
      larger: [view.publisher, view.padding].sort((a, b) => a - b),
    });
    expect(await stages.count(message, aggregator)).toBe(Math.max(0, registersOf(parameters, view)));
  });
});

describe('an aggregator that decrypts every flag and every comparison', async () => {
  /**
   * Both providers reached the same half of these people. The attacker guesses "not reached" for each person for whom
   * it finds no evidence.
   */
  const TARGETS = Array.from({ length: 80 }, (_, i) => 1000 + i);
  const spec = {
    ...SPEC,
    noiseMechanism: 'NONE' as const,
    maxSize: 2000,
    decayRate: 0.1,
    samplingIndicatorSize: 1e6,
  };
  const reached = TARGETS.filter((_, i) => i % 2 === 0);
  const small = { ...spec, maxSize: 160 };
  const events = [new Map(reached.map((vid) => [vid, 2])), new Map(reached.map((vid) => [vid, 3]))];
  const { flags, left } = await computeFrequencies(small as unknown as typeof SPEC, events);
  const opened = (ciphertexts: Uint8Array) =>
    hexBlocks(workspace.decrypt(ciphertexts, ALONE, aggregator.secretKey), POINT_BYTES);
  const NOTHING = '00'.repeat(POINT_BYTES);
  /** Computes a − b for points of the curve. */
  const difference = (a: Uint8Array, b: Uint8Array) => {
    const { curve } = ring;
    const [p, q] = curve.spare;
    const count = a.length / POINT_BYTES;
    const result = new Uint8Array(a.length);
    curve.load(p, a, count);
    curve.load(q, b, count);
    curve.add(p, p, q, -1);
    curve.store(p, result, count);
    return hexBlocks(result, POINT_BYTES);
  };
  const flagsOf = (place: number) =>
    Buffer.concat(
      hexBlocks(flags, TUPLE_BYTES).map((tuple) =>
        Buffer.from(tuple, 'hex').subarray(place * CIPHERTEXT_BYTES, (place + 1) * CIPHERTEXT_BYTES),
      ),
    );
  const [destroyed, histogram] = [opened(flagsOf(1)), opened(flagsOf(2))];

  test('identifies no person: 80 guesses are right about as often as by chance', () => {
    const sketch = frequencySketch(small, new Map());
    const keys = mapToCurve(
      ring.curve,
      TARGETS.map((vid) => String(sketch.indicatorOf(vid))),
    );
    const special = [DESTROYED_KEY, HISTOGRAM_KEY].map((text) => mapToCurve(ring.curve, [text]));
    const tables = special.map((point) => difference(Buffer.concat(TARGETS.map(() => point)), keys));
    const seen = new Set([...destroyed, ...histogram]);
    const isNamed = (i: number) => tables.some((table) => seen.has(table[i]!));
    const right = TARGETS.filter((vid, i) => isNamed(i) === reached.includes(vid)).length;
    // Allow five standard deviations of 80 coin flips. An aggregator that saw unblinded flags would guess nearly all
    // people right.
    expect(Math.abs(right - 40)).toBeLessThan(23);
  });

  test('sees zero flags, and otherwise distinct points with distinct differences', () => {
    const others = [...destroyed, ...histogram].filter((point) => point !== NOTHING);
    expect(others.length).toBeGreaterThan(20);
    expect(new Set(others).size).toBe(others.length);
    // Compare the two flags of each tuple. Without blinding, their difference is the same point in every tuple. If one
    // blinding factor were used for all flags, the difference would also be the same in every tuple.
    const places = destroyed.flatMap((point, i) =>
      point !== NOTHING && histogram[i] !== NOTHING ? [i] : [],
    );
    const bytes = (points: string[]) => Buffer.from(places.map((i) => points[i]).join(''), 'hex');
    const differences = difference(bytes(destroyed), bytes(histogram));
    expect(new Set(differences).size).toBe(differences.length);
  });

  test('cannot tell by how much a count is above the maximum', () => {
    const points = hexBlocks(countPoints(ring.curve, 20), POINT_BYTES);
    const found = opened(left);
    expect(found.filter((point) => point === NOTHING)).toEqual([]);
    expect(found.length).toBeGreaterThan(20);
    expect(found.filter((point) => points.includes(point))).toEqual([]);
    expect(new Set(found).size).toBe(found.length);
  });
});

test('workers that search for the registers that they sent recognize nothing in runs of two worlds', async () => {
  const stages = new ReachOnlyStages(reachOnlyParameters({ ...SPEC, noiseMechanism: 'NONE' }), pool);
  // A worker that recognizes its registers would distinguish the worlds in every run, so a few runs are enough.
  const runs = rounds(2000, 24);
  /**
   * The indexes of sketches with four registers, one sketch for each run of each world. In world 1, three registers of
   * each sketch have a person. In world 0, two registers have one.
   */
  const texts = [0, 1].flatMap((world) =>
    Array.from({ length: runs * 4 }, (_, i) => (i % 4 < 2 + world ? `${world} ${i}` : NOBODY_INDEX)),
  );
  const random = new Keystream(dice.seed());
  const key = workspace.key(first.key);
  const sent = workspace.encrypt(workspace.points(texts), key, random);
  const message = Buffer.concat([sent, workspace.encrypt(['zero'], key, random)]);
  const combined = await stages.combine([message], aggregator, dice.seed());
  const once = await stages.execute(combined, first, dice.seed());
  // Attack from both positions: the first worker receives the combined message from the aggregator, and the second
  // worker receives the first worker's output.
  for (const given of [combined, once]) {
    const found = new Set(hexBlocks(given, CIPHERTEXT_BYTES));
    const kept = hexBlocks(sent, CIPHERTEXT_BYTES).map((register) => found.has(register));
    // Returns the figure that the consumer gets if the attacking worker keeps only the registers that it recognizes.
    const figure = (world: WorldNumber, run: number) => {
      const from = (world * runs + run) * 4;
      return new Set(texts.slice(from, from + 4).filter((_, i) => kept[from + i])).size;
    };
    expectHidden(await compareWorlds(figure, runs), 0);
    const points = new Set(hexBlocks(message, POINT_BYTES));
    expect(hexBlocks(given, POINT_BYTES).filter((point) => points.has(point))).toEqual([]);
  }
});
