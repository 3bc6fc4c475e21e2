import { seededRandom } from '@measurement-exchange/testkit/mpc/seededRandom';
import { describe, expect, test } from 'vitest';
import { ValuesReader } from '../../shares/framing.ts';
import { Keystream, newSeed, SEED_BYTES, UniformValues } from '../../shares/keystream.ts';
import { VidIndex } from '../../shares/vidIndex.ts';
import { orderVids } from '../../shares/vidOrder.ts';
import { FrequencyVector, uploadChunks } from './provider.ts';

const RANGES = [{ start: 1, end: 10 }];
/** The VIDs 1 to 10 in the order of their indexes. */
const ORDER = [4, 9, 10, 5, 3, 6, 8, 2, 7, 1];
const INDEX = new VidIndex(RANGES, orderVids(RANGES));

describe('a frequency vector', () => {
  test('has one register for each sampled VID, in index order', () => {
    const vector = new FrequencyVector(INDEX, { start: 0.75, width: 0.5 }, 100);
    for (const vid of ORDER) expect(vector.add(vid, vid)).toBe(true);
    expect([...vector.frequencies]).toEqual([2, 7, 1, 4, 9]);
  });

  test('adds up the frequencies of a VID up to the cap', () => {
    const vector = new FrequencyVector(INDEX, { start: 0, width: 1 }, 3);
    for (const times of [1, 1]) vector.add(4, times);
    for (const times of [2, 2, 1]) vector.add(9, times);
    vector.add(10, 1_000_000);
    vector.add(1, 0);
    expect([...vector.frequencies]).toEqual([2, 3, 3, 0, 0, 0, 0, 0, 0, 0]);
  });

  test('returns false for a VID that is not in the population, and true for others', () => {
    const vector = new FrequencyVector(INDEX, { start: 0, width: 0.1 }, 1);
    expect(vector.add(11, 1)).toBe(false);
    expect(vector.add(0, 1)).toBe(false);
    expect(vector.add(9, 1)).toBe(true);
    expect([...vector.frequencies]).toEqual([0]);
  });

  test('rejects a cap that is not an integer from 1 to 127', () => {
    for (const cap of [0, 1.5, 128]) {
      expect(() => new FrequencyVector(INDEX, { start: 0, width: 1 }, cap)).toThrow(/cap/);
    }
  });
});

function shareOf(frequencies: Uint8Array, seed: Uint8Array, modulus: number): Uint8Array {
  const reader = new ValuesReader(modulus, frequencies.length);
  const share = Buffer.concat(
    [...uploadChunks(frequencies, seed, modulus)].map((chunk) => reader.push(chunk)),
  );
  expect(reader.end().count).toBe(frequencies.length);
  return share;
}

describe('the two shares', () => {
  test.each([0, 1, 3, 1000, 524_288, 524_289, 1_100_001])('of %d frequencies add up to them', (count) => {
    for (const modulus of count > 1000 ? [127] : [3, 101, 127, 128]) {
      const seed = newSeed();
      const frequencies = Uint8Array.from({ length: count }, (_, i) => (i * i) % modulus);
      const kept = frequencies.slice();
      const uploaded = shareOf(frequencies, seed, modulus);
      const expanded = new Uint8Array(count);
      new UniformValues(new Keystream(seed), modulus, count).fill(expanded);
      let wrong = 0;
      for (let i = 0; i < count; i++) {
        if ((uploaded[i]! + expanded[i]!) % modulus !== frequencies[i]) wrong++;
      }
      expect(wrong).toBe(0);
      expect(frequencies).toEqual(kept);
    }
  });

  test('are uniform even if all frequencies are equal', () => {
    const count = 254_000;
    for (const frequency of [0, 1, 10]) {
      const seed = seededRandom(`shares ${frequency}`).bytes(SEED_BYTES);
      const seen = new Array<number>(127).fill(0);
      for (const value of shareOf(new Uint8Array(count).fill(frequency), seed, 127)) seen[value]!++;
      const expected = count / 127;
      const statistic = seen.reduce((sum, times) => sum + (times - expected) ** 2 / expected, 0);
      expect(statistic).toBeLessThan(126 + 5 * Math.sqrt(2 * 126));
    }
  });
});
