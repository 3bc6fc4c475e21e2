import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { combineSeeds, Keystream, NonZeroValues, newSeed, SEED_BYTES, UniformValues } from './keystream.ts';

const seedOf = (text: string) => createHash('sha384').update(text).digest();

test('the keystream equals the test vector of SP 800-38A, F.5.5', () => {
  const key = '603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4';
  const counter = 'f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff';
  const plaintext =
    '6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51' +
    '30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710';
  const ciphertext =
    '601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5' +
    '2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6';
  const keystream = new Keystream(Buffer.from(key + counter, 'hex'));
  const bytes = Buffer.concat([keystream.bytes(5), keystream.bytes(32), keystream.bytes(27)]);
  const expected = Buffer.from(ciphertext, 'hex').map((byte, i) => byte ^ Buffer.from(plaintext, 'hex')[i]!);
  expect(bytes.equals(expected)).toBe(true);
});

test('bytes after a skip are those of the keystream at the same offset', () => {
  const whole = new Keystream(seedOf('skip')).bytes(200_020);
  const keystream = new Keystream(seedOf('skip'));
  keystream.skip(200_000);
  expect(keystream.bytes(20)).toEqual(whole.subarray(200_000));
});

/** Draws values by the sampling rule in the comment of `UniformValues`, without optimizations. */
function uniform(keystream: Keystream, modulus: number, count: number): number[] {
  const bits = Math.ceil(Math.log2(modulus));
  const failure = (2 ** bits - modulus) / 2 ** bits;
  const values: number[] = [];
  while (values.length < count) {
    const missing = count - values.length;
    const batch = [...keystream.bytes(Math.floor(missing + 1 + (failure * missing) / (1 - failure)))];
    values.push(...batch.map((byte) => byte & (2 ** bits - 1)).filter((value) => value < modulus));
  }
  return values.slice(0, count);
}

function nonZero(keystream: Keystream, modulus: number, count: number): number[] {
  const values: number[] = [];
  while (values.length < count) {
    const missing = count - values.length;
    const batch = uniform(
      keystream,
      modulus,
      Math.floor(missing + 1 + missing / modulus / (1 - 1 / modulus)),
    );
    values.push(...batch.filter((value) => value !== 0));
  }
  return values.slice(0, count);
}

describe.each([2, 3, 5, 64, 65, 101, 113, 127, 128])('values modulo %d', (modulus) => {
  test.each([1, 2, 3, 100, 4097])(
    'follow the documented sampling rule for %d values, and use exactly its keystream bytes',
    (count) => {
      const seed = seedOf(`${modulus} ${count}`);
      const [reference, keystream] = [new Keystream(seed), new Keystream(seed)];
      for (const [rule, draw] of [
        [uniform, UniformValues],
        [nonZero, NonZeroValues],
        [uniform, UniformValues],
      ] as const) {
        const values = new Uint8Array(count);
        new draw(keystream, modulus, count).fill(values);
        expect([...values]).toEqual(rule(reference, modulus, count));
      }
      expect(keystream.bytes(48)).toEqual(reference.bytes(48));
    },
  );

  test.each([UniformValues, NonZeroValues])('are the same if they are drawn in pieces (%o)', (draw) => {
    const count = 150_000;
    const whole = new Uint8Array(count);
    new draw(new Keystream(seedOf('pieces')), modulus, count).fill(whole);
    const pieces = new Uint8Array(count);
    const keystream = new Keystream(seedOf('pieces'));
    const values = new draw(keystream, modulus, count);
    for (let at = 0, length = 1; at < count; at += length, length = 1 + ((length * 7919) % 70_001)) {
      values.fill(pieces.subarray(at, at + length));
    }
    expect(Buffer.compare(pieces, whole)).toBe(0);
    expect(() => values.fill(new Uint8Array(1))).toThrow(RangeError);
  });

  test('are uniform', () => {
    const count = 200_000;
    for (const [draw, least] of [
      [UniformValues, 0],
      [NonZeroValues, 1],
    ] as const) {
      const values = new Uint8Array(count);
      new draw(new Keystream(seedOf(`uniform ${modulus}`)), modulus, count).fill(values);
      const seen = new Array<number>(modulus).fill(0);
      for (const value of values) seen[value]!++;
      const expected = count / (modulus - least);
      const statistic = seen.slice(least).reduce((sum, times) => sum + (times - expected) ** 2 / expected, 0);
      const freedom = modulus - least - 1;
      expect(seen.slice(0, least).every((times) => times === 0)).toBe(true);
      expect(statistic).toBeLessThanOrEqual(freedom + 5 * Math.sqrt(2 * freedom));
    }
  });
});

test('a seed must have 48 bytes, and a modulus must be an integer from 2 to 128', () => {
  expect(newSeed()).toHaveLength(SEED_BYTES);
  expect(newSeed()).not.toEqual(newSeed());
  expect(() => new Keystream(new Uint8Array(47))).toThrow(/48 bytes/);
  for (const modulus of [0, 1, 1.5, 129, Number.NaN]) {
    expect(() => new UniformValues(new Keystream(newSeed()), modulus, 1)).toThrow(/ringModulus/);
  }
});

test('combineSeeds is commutative and its own inverse, and rejects a seed of another length', () => {
  const [one, other] = [newSeed(), newSeed()];
  expect(combineSeeds(one, other)).toEqual(combineSeeds(other, one));
  expect(combineSeeds(combineSeeds(one, other), other)).toEqual(one);
  expect(() => combineSeeds(one, other.subarray(1))).toThrow(/48 bytes/);
});
