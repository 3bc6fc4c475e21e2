/**
 * Tests that the aggregator can see only the sum of the workers' shares, and that large inputs are added up exactly.
 */

import { Dice, inChunks, upload, type World } from '@measurement-exchange/testkit/mpc/world';
import { describe, expect, test } from 'vitest';
import { ValuesReader } from '../../shares.ts';
import { countValues } from './aggregate.ts';
import { type Share, shuffleStage } from './duchy.ts';
import { type ShareShuffleSpec, shareShuffleParameters } from './limits.ts';
import { uploadChunks } from './provider.ts';

const PEOPLE = 12_600;
const MODULUS = 127;
const COMMON = { ringModulus: MODULUS, noiseMechanism: 'NONE' } as const;
const REACH = { ...COMMON, measurementType: 'REACH' } as const;
const FREQUENCY = { ...COMMON, measurementType: 'REACH_AND_FREQUENCY', maximumFrequency: 10 } as const;

/**
 * Returns the two workers' output for three providers. All three providers reach the first third of the people, two
 * reach the second third, and none reaches the last third.
 */
function values(spec: World['spec'], name: string): Promise<[Uint8Array, Uint8Array]> {
  const dice = new Dice(name);
  const vids = Array.from({ length: PEOPLE }, (_, i) => i + 1);
  const reached = [PEOPLE / 3, (2 * PEOPLE) / 3, (2 * PEOPLE) / 3];
  const events = reached.map((count) => new Map(vids.slice(0, count).map((vid) => [vid, 1])));
  const world: World = {
    ranges: [{ start: 1, end: PEOPLE }],
    interval: { start: 0, width: 1 },
    events,
    spec,
  };
  const { shares, registerCount } = upload(world, dice);
  const parameters = shareShuffleParameters({
    ...spec,
    dataProviderCount: 3,
    registerCount,
  } as ShareShuffleSpec);
  const commonSeed = dice.seed();
  const output = async (role: 'FIRST_WORKER' | 'SECOND_WORKER') => {
    const own = shares.map(({ seed, bytes }, i): Share => {
      return (i === 0) === (role === 'FIRST_WORKER') ? { upload: inChunks(bytes, 1000) } : { seed };
    });
    const message = await shuffleStage({ parameters, role, shares: own, commonSeed, noiseSeed: dice.seed() });
    return new ValuesReader(MODULUS, PEOPLE).push(message).slice();
  };
  return Promise.all([output('FIRST_WORKER'), output('SECOND_WORKER')]);
}

/**
 * Measures how far the values from `least` to `MODULUS - 1` are from a uniform distribution. Returns Pearson's
 * chi-squared statistic minus its mean, divided by its standard deviation.
 */
function unevenness(values: Uint8Array, least: number): number {
  const expected = values.length / (MODULUS - least);
  const seen = new Array<number>(MODULUS).fill(0);
  for (const value of values) seen[value]!++;
  const statistic = seen.slice(least).reduce((sum, times) => sum + (times - expected) ** 2 / expected, 0);
  const freedom = MODULUS - least - 1;
  return (statistic - freedom) / Math.sqrt(2 * freedom);
}

function sumsOf([first, second]: [Uint8Array, Uint8Array]): Uint8Array {
  return first.map((value, i) => (value + second[i]!) % MODULUS);
}

describe('the aggregator', () => {
  test('sees only uniform values in the message of one worker', async () => {
    for (const spec of [REACH, FREQUENCY]) {
      for (const sent of await values(spec, 'one worker')) expect(unevenness(sent, 0)).toBeLessThan(5);
    }
  });

  test('sees for a reach how many people were reached, but not by how many providers', async () => {
    const sums = sumsOf(await values(REACH, 'reach'));
    const reached = sums.filter((value) => value !== 0);
    expect(reached).toHaveLength((2 * PEOPLE) / 3);
    expect(unevenness(reached, 1)).toBeLessThan(5);
  });

  test('sees for frequencies how many people have each frequency, but not who they are', async () => {
    const sums = sumsOf(await values(FREQUENCY, 'frequency'));
    const counts = [0, 3, 2].map((value) => sums.filter((sum) => sum === value).length);
    expect(counts).toEqual([PEOPLE / 3, PEOPLE / 3, PEOPLE / 3]);
    // Check that another seed moves the same people to other positions. By chance, a third of the positions still have
    // the same value.
    const others = sumsOf(await values(FREQUENCY, 'another frequency'));
    const alike = sums.filter((value, i) => value === others[i]).length;
    const [mean, deviation] = [PEOPLE / 3, Math.sqrt((PEOPLE * 2) / 9)];
    expect(Math.abs(alike - mean)).toBeLessThan(5 * deviation);
  });
});

describe('more registers than fit in one batch', () => {
  const COUNT = 150_001;
  // Use uneven chunks: the first upload's second chunk starts within a word, and the second upload has a short last
  // chunk.
  const CHUNKS = [70_003, 149_998];

  test.each([
    ['of a reach', REACH, 1],
    ['of frequencies', FREQUENCY, 4],
  ] as const)('%s are added exactly, even if the uploads have uneven chunks', async (_, spec, cap) => {
    const dice = new Dice(`large ${cap}`);
    const vectors = [0, 1].map(() => Uint8Array.from({ length: COUNT }, () => dice.below(cap + 1)));
    const parameters = shareShuffleParameters({ ...spec, dataProviderCount: 2, registerCount: COUNT });
    const shares = vectors.map((vector) => {
      const seed = dice.seed();
      return { seed, bytes: Buffer.concat([...uploadChunks(vector, seed, MODULUS)]) };
    });
    const commonSeed = dice.seed();
    const sent = (role: 'FIRST_WORKER' | 'SECOND_WORKER') =>
      shuffleStage({
        ...{ parameters, role, commonSeed, noiseSeed: dice.seed() },
        shares: shares.map(({ seed, bytes }, i): Share => {
          const isUploaded = (i === 0) === (role === 'FIRST_WORKER');
          return isUploaded ? { upload: inChunks(bytes, CHUNKS[i]!) } : { seed };
        }),
      });
    const messages = [await sent('FIRST_WORKER'), await sent('SECOND_WORKER')];
    const [first, second] = messages.map((message) => inChunks(message, 100_001));
    const counts = await countValues(parameters, [first!, second!]);
    const expected = new Array<number>(MODULUS).fill(0);
    for (let i = 0; i < COUNT; i++) expected[vectors[0]![i]! + vectors[1]![i]!]!++;
    if (cap > 1) expect([...counts]).toEqual(expected);
    else expect([counts[0], counts.reduce((a, b) => a + b)]).toEqual([expected[0], COUNT]);
  });
});
