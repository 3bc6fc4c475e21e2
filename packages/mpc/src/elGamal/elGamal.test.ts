import { p256 } from '@noble/curves/nist.js';
import { describe, expect, test } from 'vitest';
import { POINT_BYTES } from '../curve/affine.ts';
import { toNumber } from '../curve/bigEndian.ts';
import { Curve } from '../curve/curve.ts';
import { mapToCurve } from '../curve/mapToCurve.ts';
import { drawScalars, SCALAR_BYTES } from '../curve/scalars.ts';
import { Keystream } from '../shares.ts';
import { areZero, CIPHERTEXT_BYTES, Ciphertexts } from './elGamal.ts';
import { combineKeys, type ElGamalKeyPair, ElGamalPublicKey, newKeyPair } from './keys.ts';

const { Point } = p256;
type NoblePoint = InstanceType<typeof Point>;

const COUNT = 6;
const random = new Keystream(new Uint8Array(48).fill(2));
const curve = new Curve(32);
const [batch, other] = [new Ciphertexts(curve), new Ciphertexts(curve)];
const duchies = Array.from({ length: 3 }, () => newKeyPair(random));
const combined = new ElGamalPublicKey(
  curve,
  combineKeys(
    curve,
    duchies.map(({ publicKey }) => publicKey),
  ),
);
const texts = Array.from({ length: COUNT }, (_, i) => String(i));
const messages = mapToCurve(curve, texts);

const at = (bytes: Uint8Array, i: number, size: number) => bytes.slice(i * size, (i + 1) * size);
const pointAt = (bytes: Uint8Array, i: number) => Point.fromBytes(at(bytes, i, POINT_BYTES));

function encrypted(points = messages): Uint8Array {
  const bytes = new Uint8Array(COUNT * CIPHERTEXT_BYTES);
  batch.encrypt(combined, points, drawScalars(random, COUNT));
  batch.store(bytes);
  return bytes;
}

/** Decrypts with an independent library: subtracts u times each secret key from e. */
function decrypted(bytes: Uint8Array, keys: readonly ElGamalKeyPair[]): NoblePoint[] {
  return Array.from({ length: COUNT }, (_, i) => {
    const [u, e] = [pointAt(bytes, 2 * i), pointAt(bytes, 2 * i + 1)];
    return keys.reduce((left, { secretKey }) => left.subtract(u.multiply(toNumber(secretKey))), e);
  });
}

const points = Array.from({ length: COUNT }, (_, i) => pointAt(messages, i));
const stored = () => {
  const bytes = new Uint8Array(COUNT * CIPHERTEXT_BYTES);
  batch.store(bytes);
  return bytes;
};

describe('ElGamal compared with an independent library', () => {
  test('the combined key is the sum of the public keys of all secrets', () => {
    const sum = duchies.reduce(
      (left, { secretKey }) => left.add(Point.BASE.multiply(toNumber(secretKey))),
      Point.ZERO,
    );
    expect(combined.bytes).toEqual(sum.toBytes(true));
  });

  test('all secrets together decrypt what was encrypted', () => {
    const bytes = encrypted();
    expect(decrypted(bytes, duchies).map((point) => point.toHex())).toEqual(
      points.map((point) => point.toHex()),
    );
  });

  test('no proper subset of the secrets decrypts anything', () => {
    const bytes = encrypted();
    const known = new Set(points.map((point) => point.toHex()));
    for (let subset = 0; subset < 2 ** duchies.length - 1; subset++) {
      const keys = duchies.filter((_, i) => (subset >> i) & 1);
      for (const point of decrypted(bytes, keys)) expect(known.has(point.toHex())).toBe(false);
    }
  });

  test('decrypting with one key after the other returns the messages', () => {
    const [first, second, last] = duchies as [ElGamalKeyPair, ElGamalKeyPair, ElGamalKeyPair];
    batch.load(encrypted(), COUNT);
    for (const { secretKey } of [first, second]) batch.decrypt(secretKey);
    const left = new Uint8Array(messages.length);
    batch.open(last.secretKey, left);
    expect(left).toEqual(messages);
  });

  test('the point at infinity is opened as zeros, and its neighbors are opened correctly', () => {
    const { publicKey, secretKey } = duchies[0]!;
    const key = new ElGamalPublicKey(curve, publicKey);
    batch.encryptZeros(key, drawScalars(random, COUNT));
    const zeros = stored();
    batch.encrypt(key, messages, drawScalars(random, COUNT));
    const mixed = stored();
    for (const i of [2, COUNT - 1]) mixed.set(at(zeros, i, CIPHERTEXT_BYTES), i * CIPHERTEXT_BYTES);
    const opened = new Uint8Array(messages.length);
    batch.load(mixed, COUNT);
    batch.open(secretKey, opened);
    const expected = Uint8Array.from(messages);
    for (const i of [2, COUNT - 1]) expected.fill(0, i * POINT_BYTES, (i + 1) * POINT_BYTES);
    expect(opened).toEqual(expected);
  });

  test('blind and blindEach decrypt with one key and multiply in one step', () => {
    const [{ secretKey }, ...others] = duchies as [ElGamalKeyPair, ElGamalKeyPair, ElGamalKeyPair];
    const expectLeft = (scalars: Uint8Array) => {
      const factor = (i: number) => toNumber(at(scalars, i % (scalars.length / SCALAR_BYTES), SCALAR_BYTES));
      expect(decrypted(stored(), others).map((point) => point.toHex())).toEqual(
        points.map((point, i) => point.multiply(factor(i)).toHex()),
      );
    };
    const scalar = drawScalars(random, 1);
    batch.load(encrypted(), COUNT);
    batch.blind(secretKey, scalar);
    expectLeft(scalar);
    const scalars = drawScalars(random, COUNT);
    batch.load(encrypted(), COUNT);
    batch.blindEach(secretKey, scalars);
    expectLeft(scalars);
  });

  test('re-randomized ciphertexts have different points but the same messages', () => {
    const before = encrypted();
    batch.load(before, COUNT);
    batch.reRandomize(combined, drawScalars(random, COUNT));
    const after = stored();
    for (let i = 0; i < 2 * COUNT; i++)
      expect(at(after, i, POINT_BYTES)).not.toEqual(at(before, i, POINT_BYTES));
    expect(decrypted(after, duchies).map((point) => point.toHex())).toEqual(
      points.map((point) => point.toHex()),
    );
  });

  test('a partly decrypted and then re-randomized ciphertext is decrypted by the other keys', () => {
    const [first, ...others] = duchies as [ElGamalKeyPair, ElGamalKeyPair, ElGamalKeyPair];
    const partial = new ElGamalPublicKey(
      curve,
      combineKeys(
        curve,
        others.map(({ publicKey }) => publicKey),
      ),
    );
    batch.load(encrypted(), COUNT);
    batch.decrypt(first.secretKey);
    batch.reRandomize(partial, drawScalars(random, COUNT));
    expect(decrypted(stored(), others).map((point) => point.toHex())).toEqual(
      points.map((point) => point.toHex()),
    );
  });

  test('multiplied ciphertexts decrypt to multiples', () => {
    const scalars = drawScalars(random, COUNT);
    batch.load(encrypted(), COUNT);
    batch.multiplyEach(scalars);
    expect(decrypted(stored(), duchies).map((point) => point.toHex())).toEqual(
      points.map((point, i) => point.multiply(toNumber(at(scalars, i, SCALAR_BYTES))).toHex()),
    );
  });

  test('ciphertexts are added to each other, and points are added to ciphertexts', () => {
    const reversed = new Uint8Array(messages.length);
    for (let i = 0; i < COUNT; i++) reversed.set(at(messages, COUNT - 1 - i, POINT_BYTES), i * POINT_BYTES);
    other.load(encrypted(), COUNT);
    batch.load(encrypted(reversed), COUNT);
    batch.add(other);
    batch.addPoints(messages);
    expect(decrypted(stored(), duchies).map((point) => point.toHex())).toEqual(
      points.map((point, i) =>
        point
          .double()
          .add(points[COUNT - 1 - i]!)
          .toHex(),
      ),
    );
  });
});

describe('areZero', () => {
  const key = duchies[0]!;
  const publicKey = new ElGamalPublicKey(curve, key.publicKey);

  test('finds encrypted zeros among others, and only with the right key', () => {
    batch.encryptZeros(publicKey, drawScalars(random, COUNT));
    const zeros = stored();
    batch.encrypt(publicKey, messages, drawScalars(random, COUNT));
    const mixed = stored();
    mixed.set(at(zeros, 1, CIPHERTEXT_BYTES), CIPHERTEXT_BYTES);
    mixed.set(at(zeros, 4, CIPHERTEXT_BYTES), 4 * CIPHERTEXT_BYTES);
    expect([...areZero(curve, key.secretKey, mixed, COUNT)]).toEqual([0, 1, 0, 0, 1, 0]);
    expect([...areZero(curve, duchies[1]!.secretKey, mixed, COUNT)]).toEqual([0, 0, 0, 0, 0, 0]);
  });

  test('finds a zero in the difference of two ciphertexts of the same text', () => {
    other.encrypt(publicKey, messages, drawScalars(random, COUNT));
    batch.encrypt(publicKey, messages, drawScalars(random, COUNT));
    batch.add(other, -1);
    expect([...areZero(curve, key.secretKey, stored(), COUNT)]).toEqual(Array(COUNT).fill(1));
  });
});

describe('an attacker', () => {
  test('cannot combine a public key with its negative or with itself', () => {
    const { publicKey } = duchies[0]!;
    const negative = Uint8Array.from(publicKey, (byte, i) => (i === 0 ? byte ^ 1 : byte));
    expect(() => combineKeys(curve, [publicKey, negative])).toThrow('publicKeys must not cancel out');
    expect(() => combineKeys(curve, [publicKey, publicKey])).toThrow('publicKeys must be different');
  });

  test('gets an error with the index for a ciphertext that is subtracted from itself', () => {
    const bytes = encrypted();
    other.load(bytes, COUNT);
    batch.load(bytes, COUNT);
    expect(() => batch.add(other, -1)).toThrow('ciphertext 0: a point of it is at infinity');
  });
});
