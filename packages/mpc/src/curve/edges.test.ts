/**
 * Tests scalars and points for which other P-256 implementations had wrong results. Compares our results with those of
 * OpenSSL and of an independent library.
 */
import { createECDH } from 'node:crypto';
import { isStress, rounds } from '@measurement-exchange/testkit/rounds';
import { p256 } from '@noble/curves/nist.js';
import { describe, expect, test } from 'vitest';
import { Keystream } from '../shares.ts';
import { POINT_BYTES, PointError } from './affine.ts';
import { toBytes, toNumber } from './bigEndian.ts';
import { Curve, GENERATOR } from './curve.ts';
import { PRIME } from './limbs.ts';
import { drawScalars, ORDER } from './scalars.ts';

const { Point } = p256;
const curve = new Curve(1);
const [p, q, r] = [curve.points(), curve.points(), curve.points()];

function stored(points: typeof p): Buffer {
  const bytes = Buffer.alloc(POINT_BYTES);
  curve.store(points, bytes, 1);
  return bytes;
}

/** Computes scalar · G with OpenSSL. */
function byOpenSsl(scalar: bigint): Buffer {
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(toBytes(scalar));
  return ecdh.getPublicKey(null, 'compressed') as unknown as Buffer;
}

function product(scalar: bigint, point: Uint8Array = GENERATOR): Buffer {
  curve.load(p, point, 1);
  curve.multiply(r, p, toBytes(scalar));
  return stored(r);
}

/** Scalars at the edges of the range, at the edges of windows of up to 8 bits, and with few or many bits set. */
const EDGES = [
  ...[1n, 2n, 3n, ORDER - 1n, ORDER - 2n, ORDER - 3n, ORDER / 2n, ORDER / 2n + 1n, ORDER >> 128n],
  ...Array.from({ length: 32 }, (_, i) => 1n << BigInt(8 * i)),
  ...Array.from({ length: 31 }, (_, i) => (1n << BigInt(8 * i + 8)) - 1n),
  ...Array.from({ length: 31 }, (_, i) => (1n << BigInt(8 * i + 7)) + 1n),
  ...[3n, 5n, 6n, 7n].map((width) => ((1n << 255n) / ((1n << width) - 1n)) % ORDER),
];

/** Each scalar takes 20 ms, so only stress runs try all of them. Other runs try about a quarter. */
const TRIED = isStress ? EDGES : EDGES.filter((_, i) => i < 9 || i % 5 === 0);

test('edge scalars give the same point as OpenSSL or throw a PointError, but never give a wrong point', () => {
  let refused = 0;
  for (const scalar of TRIED) {
    try {
      expect(product(scalar), scalar.toString(16)).toEqual(byOpenSsl(scalar));
    } catch (error) {
      if (!(error instanceof PointError)) throw error;
      refused++;
    }
  }
  expect(refused).toBeLessThan(TRIED.length / 4);
});

test('random scalars and points give the same results as OpenSSL and an independent library', () => {
  const random = new Keystream(new Uint8Array(48).fill(9));
  for (let i = 0; i < rounds(1000, 5); i++) {
    const [scalar, other] = [toNumber(drawScalars(random, 1)), toNumber(drawScalars(random, 1))];
    const point = byOpenSsl(other);
    expect(product(scalar)).toEqual(byOpenSsl(scalar));
    const expected = Point.fromBytes(Uint8Array.from(point)).multiply(scalar).toBytes(true);
    expect(product(scalar, point)).toEqual(Buffer.from(expected));
  }
});

test('a point plus itself is its double, and plus its negative is reported as infinity', () => {
  curve.load(p, GENERATOR, 1);
  curve.load(q, GENERATOR, 1);
  expect(curve.add(r, p, q)).toEqual([]);
  expect(stored(r)).toEqual(byOpenSsl(2n));
  expect(curve.add(r, p, q, -1)).toContain(0);
  curve.negate(q, q);
  expect(stored(q)).toEqual(byOpenSsl(ORDER - 1n));
  expect(curve.add(r, p, q)).toContain(0);
});

describe('loading a compressed point', () => {
  const withX = (first: number, x: bigint) => Uint8Array.of(first, ...toBytes(x));
  const x = toNumber(GENERATOR.subarray(1));
  test.each([
    ['the point at infinity', withX(0, 0n)],
    ['an uncompressed point', withX(4, x)],
    ['an unknown first byte', withX(1, x)],
    ['an x that is not on the curve', withX(2, 1n)],
    ['x = p', withX(2, PRIME)],
    ['x above p', withX(2, PRIME + 5n)],
    ['the largest x', withX(3, 2n ** 256n - 1n)],
  ])('rejects %s', (_, bytes) => {
    expect(() => curve.load(p, bytes, 1)).toThrow();
  });
});
