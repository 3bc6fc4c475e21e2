import { MAX_SHUFFLED } from '@measurement-exchange/contract/shareShuffle';
import { describe, expect, test } from 'vitest';
import { Keystream, newSeed } from '../shares.ts';
import { shuffle } from './permutation.ts';
import { drawPlaces } from './places.ts';

/** Reads the 16 bytes as one little-endian integer. */
function uint128(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

describe('the shuffle', () => {
  test.each([0, 1, 2, 3, 100, 5000, 9001])('of %d values equals a shuffle with BigInt', (count) => {
    const seed = newSeed();
    const values = Uint8Array.from({ length: count }, (_, i) => i * 7);
    const expected = values.slice();
    const keystream = new Keystream(seed);
    for (let i = 0; i < count - 1; i++) {
      const place = i + Number(uint128(keystream.bytes(16)) % BigInt(count - i));
      [expected[i], expected[place]] = [expected[place]!, expected[i]!];
    }
    shuffle(values, seed);
    expect(values).toEqual(expected);
  });

  test('moves every value to every place equally often', () => {
    const count = 6;
    const repetitions = 6_000;
    const seen = Array.from({ length: count }, () => new Array<number>(count).fill(0));
    const seeds = new Keystream(new Uint8Array(48).fill(1));
    for (let i = 0; i < repetitions; i++) {
      const values = Uint8Array.from({ length: count }, (_, value) => value);
      shuffle(values, seeds.bytes(48));
      values.forEach((value, place) => {
        seen[value]![place]!++;
      });
    }
    const expected = repetitions / count;
    const statistic = seen.flat().reduce((sum, times) => sum + (times - expected) ** 2 / expected, 0);
    expect(statistic).toBeLessThan(25 + 5 * Math.sqrt(50));
  });
});

describe('drawPlaces', () => {
  const random = new Keystream(new Uint8Array(48).fill(2));

  /** Compares places with big-integer arithmetic, for up to 1,000 draws that include the extreme values. */
  function check(from: number, total: number) {
    const bytes = new Uint8Array(16_000);
    bytes.set(random.bytes(16_000));
    bytes.fill(0xff, 0, 16);
    bytes.fill(0, 16, 32);
    const count = Math.min(1000, total - from);
    const places = drawPlaces(bytes.subarray(0, 16 * count), from, total);
    expect(places).toHaveLength(count);
    for (let i = 0; i < count; i++) {
      const value = uint128(bytes.subarray(16 * i, 16 * i + 16));
      expect(places[i]).toBe(from + i + Number(value % BigInt(total - from - i)));
    }
  }

  test.each([1, 2, 3, 1000, 65_536, 65_537, 10_000_019, 2 ** 24, 2 ** 26 + 1, MAX_SHUFFLED, 2 ** 30 - 1])(
    'is exact for a total of %d',
    (total) => {
      check(0, total);
      check(total >>> 1, total);
      check(Math.max(0, total - 1000), total);
    },
  );

  test('is exact for numbers around multiples of the divisor', () => {
    // Include the largest divisors, because the rounded inverse makes some of their quotients too large.
    const largest = Array.from({ length: 100 }, (_, i) => MAX_SHUFFLED - i);
    for (const divisor of [1, 2, 3, 127, 999_983, 10_040_321, 2 ** 26, 2 ** 30 - 1, ...largest]) {
      const numbers = [
        1n,
        2n ** 26n,
        2n ** 32n,
        2n ** 63n,
        2n ** 64n,
        2n ** 76n,
        2n ** 128n / BigInt(divisor),
      ].flatMap((factor) =>
        [-1n, 0n, 1n].map((step) => BigInt.asUintN(128, factor * BigInt(divisor) + step)),
      );
      for (const number of numbers) {
        const bytes = Uint8Array.from({ length: 16 }, (_, i) => Number((number >> BigInt(8 * i)) & 0xffn));
        const places = drawPlaces(bytes, 0, divisor);
        expect(places[0]).toBe(Number(number % BigInt(divisor)));
      }
    }
  });
});
