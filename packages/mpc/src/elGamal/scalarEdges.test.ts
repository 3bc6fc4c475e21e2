/**
 * Tests every function that takes a scalar. The tested scalars are near 0 or near the group order n, or are 2^256 − 1.
 * Each call must return the right result or reject the scalar.
 */
import { isStress } from '@measurement-exchange/testkit/rounds';
import { p256 } from '@noble/curves/nist.js';
import { describe, expect, test } from 'vitest';
import { POINT_BYTES, PointError } from '../curve/affine.ts';
import { toBytes, toNumber } from '../curve/bigEndian.ts';
import { Curve } from '../curve/curve.ts';
import { drawScalars, negativeProducts, ORDER } from '../curve/scalars.ts';
import { Keystream } from '../shares.ts';
import { areZero, CIPHERTEXT_BYTES, Ciphertexts } from './elGamal.ts';
import { ElGamalPublicKey, newKeyPair } from './keys.ts';
import { isProven, PROOF_BYTES } from './proof.ts';

const { Point } = p256;
type NoblePoint = InstanceType<typeof Point>;

const OUT_OF_RANGE = { '0': 0n, n: ORDER, 'n + 1': ORDER + 1n, '2^256 - 1': 2n ** 256n - 1n };
const IN_RANGE = {
  ...(isStress && { '1': 1n, 'n - 1': ORDER - 1n }),
  ...{ '2': 2n, 'n - 2': ORDER - 2n },
};

const random = new Keystream(new Uint8Array(48).fill(4));
const curve = new Curve(4);
const [p, q, r] = [curve.points(), curve.points(), curve.points()];
const batch = new Ciphertexts(curve);

const pointOf = () => Point.BASE.multiply(toNumber(drawScalars(random, 1)));
const [A, B] = [pointOf(), pointOf()];
const key = new ElGamalPublicKey(curve, pointOf().toBytes(true));
const KEY = Point.fromBytes(Uint8Array.from(key.bytes));
const factor = drawScalars(random, 1);
const F = toNumber(factor);
const CIPHERTEXT = Buffer.concat([A.toBytes(true), B.toBytes(true)]);

/** Sets p to A and q to B, does the work, and returns the points in `results`. */
function after(work: () => void, ...results: (typeof p)[]): Buffer {
  curve.load(p, A.toBytes(true), 1);
  curve.load(q, B.toBytes(true), 1);
  work();
  const bytes = Buffer.alloc(results.length * POINT_BYTES);
  for (const [i, points] of results.entries()) curve.store(points, bytes, 1, POINT_BYTES, i * POINT_BYTES);
  return bytes;
}

/** Loads the ciphertext (A, B), does the work, and returns the changed ciphertext. */
function afterwards(work: () => void): Buffer {
  batch.load(CIPHERTEXT, 1);
  work();
  const bytes = Buffer.alloc(CIPHERTEXT_BYTES);
  batch.store(bytes);
  return bytes;
}

type Entry = [name: string, compute: (scalar: Uint8Array) => Buffer, expected: (k: bigint) => NoblePoint[]];

const ENTRIES: Entry[] = [
  ['Curve.multiply', (k) => after(() => curve.multiply(r, p, k), r), (k) => [A.multiply(k)]],
  ['Curve.multiplyEach', (k) => after(() => curve.multiplyEach(r, p, k), r), (k) => [A.multiply(k)]],
  [
    'Curve.multiplyPair, first scalar',
    (k) => after(() => curve.multiplyPair(p, q, k, factor), p, q),
    (k) => [A.multiply(k), B.multiply(k).add(A.multiply(F))],
  ],
  [
    'Curve.multiplyPair, second scalar',
    (k) => after(() => curve.multiplyPair(p, q, factor, k), p, q),
    (k) => [A.multiply(F), B.multiply(F).add(A.multiply(k))],
  ],
  [
    'Curve.multiplyPairEach, first scalars',
    (k) => after(() => curve.multiplyPairEach(p, q, k, factor), p, q),
    (k) => [A.multiply(k), B.multiply(k).add(A.multiply(F))],
  ],
  [
    'Curve.multiplyPairEach, second scalars',
    (k) => after(() => curve.multiplyPairEach(p, q, factor, k), p, q),
    (k) => [A.multiply(F), B.multiply(F).add(A.multiply(k))],
  ],
  [
    'Curve.multiplyFixed',
    (k) => after(() => curve.multiplyFixed(r, curve.generator, k), r),
    (k) => [Point.BASE.multiply(k)],
  ],
  [
    'Ciphertexts.encrypt',
    (k) => afterwards(() => batch.encrypt(key, A.toBytes(true), k)),
    (k) => [Point.BASE.multiply(k), KEY.multiply(k).add(A)],
  ],
  [
    'Ciphertexts.encryptZeros',
    (k) => afterwards(() => batch.encryptZeros(key, k)),
    (k) => [Point.BASE.multiply(k), KEY.multiply(k)],
  ],
  [
    'Ciphertexts.encryptRandom, first scalars',
    (k) => afterwards(() => batch.encryptRandom(k, factor)),
    (k) => [Point.BASE.multiply(k), Point.BASE.multiply(F)],
  ],
  [
    'Ciphertexts.encryptRandom, second scalars',
    (k) => afterwards(() => batch.encryptRandom(factor, k)),
    (k) => [Point.BASE.multiply(F), Point.BASE.multiply(k)],
  ],
  [
    'Ciphertexts.reRandomize',
    (k) => afterwards(() => batch.reRandomize(key, k)),
    (k) => [A.add(Point.BASE.multiply(k)), B.add(KEY.multiply(k))],
  ],
  ['Ciphertexts.decrypt', (k) => afterwards(() => batch.decrypt(k)), (k) => [A, B.subtract(A.multiply(k))]],
  [
    'Ciphertexts.open',
    (k) => {
      const bytes = Buffer.alloc(POINT_BYTES);
      batch.load(CIPHERTEXT, 1);
      batch.open(k, bytes);
      return bytes;
    },
    (k) => [B.subtract(A.multiply(k))],
  ],
  [
    'Ciphertexts.blind, the secret',
    (k) => afterwards(() => batch.blind(k, factor)),
    (k) => [A.multiply(F), B.subtract(A.multiply(k)).multiply(F)],
  ],
  [
    'Ciphertexts.blind, the scalar',
    (k) => afterwards(() => batch.blind(factor, k)),
    (k) => [A.multiply(k), B.subtract(A.multiply(F)).multiply(k)],
  ],
  [
    'Ciphertexts.blindEach, the secret',
    (k) => afterwards(() => batch.blindEach(k, factor)),
    (k) => [A.multiply(F), B.subtract(A.multiply(k)).multiply(F)],
  ],
  [
    'Ciphertexts.blindEach, the scalars',
    (k) => afterwards(() => batch.blindEach(factor, k)),
    (k) => [A.multiply(k), B.subtract(A.multiply(F)).multiply(k)],
  ],
  [
    'Ciphertexts.multiplyEach',
    (k) => afterwards(() => batch.multiplyEach(k)),
    (k) => [A.multiply(k), B.multiply(k)],
  ],
];

describe.each(ENTRIES)('%s', (_name, compute, expected) => {
  test.each(Object.entries(OUT_OF_RANGE))('rejects the scalar %s', (_, scalar) => {
    expect(() => compute(toBytes(scalar))).toThrow('a scalar must be from 1 to the order');
  });

  test.each(Object.entries(IN_RANGE))(
    'computes the right points with the scalar %s, or throws a PointError',
    (_, scalar) => {
      let computed: Buffer;
      try {
        computed = compute(toBytes(scalar));
      } catch (error) {
        expect(error).toBeInstanceOf(PointError);
        return;
      }
      expect(computed).toEqual(Buffer.concat(expected(scalar).map((point) => point.toBytes(true))));
    },
  );
});

test('areZero rejects secrets out of range, and is right or throws a PointError at the edges', () => {
  for (const secret of Object.values(OUT_OF_RANGE)) {
    expect(() => areZero(curve, toBytes(secret), CIPHERTEXT, 1)).toThrow('a scalar must be from 1 to');
  }
  for (const secret of Object.values(IN_RANGE)) {
    const zero = Buffer.concat([A.toBytes(true), A.multiply(secret).toBytes(true)]);
    try {
      expect([...areZero(curve, toBytes(secret), zero, 1)]).toEqual([1]);
      expect([...areZero(curve, toBytes(secret), CIPHERTEXT, 1)]).toEqual([0]);
    } catch (error) {
      expect(error).toBeInstanceOf(PointError);
    }
  }
});

test('negativeProducts rejects factors out of range, and is right at the edges of the range', () => {
  for (const scalar of Object.values(OUT_OF_RANGE)) {
    expect(() => negativeProducts(factor, toBytes(scalar))).toThrow('a scalar must be from 1 to the order');
  }
  for (const scalar of Object.values(IN_RANGE)) {
    expect(toNumber(negativeProducts(factor, toBytes(scalar)))).toBe(ORDER - ((F * scalar) % ORDER));
  }
});

test.each(Object.entries(OUT_OF_RANGE))('a drawn scalar is never %s', (_, scalar) => {
  const next = toBytes(5n);
  const draws = [toBytes(scalar), next];
  expect(drawScalars({ bytes: () => draws.shift()! }, 1)).toEqual(next);
  const again = [toBytes(scalar), next];
  expect(newKeyPair({ bytes: () => again.shift()! }).secretKey).toEqual(next);
});

test.each(Object.entries(OUT_OF_RANGE))('a proof with the response %s is invalid', (_, scalar) => {
  const context = { purpose: 'p', duchy: 'd', computation: 'c', termsSha256: new Uint8Array(32) };
  const proof = Buffer.concat([A.toBytes(true), toBytes(scalar)]);
  expect(proof.length).toBe(PROOF_BYTES);
  expect(isProven(B.toBytes(true), proof, context)).toBe(false);
});
