/**
 * Functions for scalars, the numbers that points are multiplied by. A scalar is from 1 to the P-256 group order minus
 * 1, and is encoded as 32 bytes, big-endian.
 */
import type { RandomSource } from '../privacy/random.ts';
import { isBelow, NUMBER_BYTES, toBytes, toNumber } from './bigEndian.ts';

export const SCALAR_BYTES = NUMBER_BYTES;
export const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const ORDER_BYTES = toBytes(ORDER);
const ONE_BYTES = toBytes(1n);

/** The maximum number of bytes to draw at once. A random source may limit the size of one draw. */
const PIECE = 8192;

/** Returns `count` uniformly random scalars, concatenated. */
export function drawScalars(random: RandomSource, count: number): Uint8Array<ArrayBuffer> {
  const scalars = new Uint8Array(count * SCALAR_BYTES);
  for (let at = 0; at < scalars.length; at += PIECE) {
    scalars.set(random.bytes(Math.min(PIECE, scalars.length - at)), at);
  }
  for (let at = 0; at < scalars.length; at += SCALAR_BYTES) {
    while (!isScalar(scalars, at)) scalars.set(random.bytes(SCALAR_BYTES), at);
  }
  return scalars;
}

function isScalar(bytes: Uint8Array, at: number): boolean {
  return isBelow(bytes, at, ORDER_BYTES) && !isBelow(bytes, at, ONE_BYTES);
}

function checkScalar(bytes: Uint8Array, at: number): void {
  if (isScalar(bytes, at)) return;
  throw new RangeError('a scalar must be from 1 to the order of the curve minus 1');
}

/** Returns −scalar · factor for each scalar, modulo the group order. */
export function negativeProducts(scalars: Uint8Array, factor: Uint8Array): Uint8Array<ArrayBuffer> {
  checkScalar(factor, 0);
  const products = new Uint8Array(scalars.length);
  const negative = ORDER - toNumber(factor);
  for (let at = 0; at < scalars.length; at += SCALAR_BYTES) {
    const scalar = toNumber(scalars.subarray(at, at + SCALAR_BYTES));
    products.set(toBytes((scalar * negative) % ORDER), at);
  }
  return products;
}

/** A digit of a scalar. All digits are odd and therefore not 0, so every scalar takes the same number of additions. */
export interface Digit {
  /** The index of a table entry. Entry i of the table is (2 i + 1) times the point. */
  entry: number;
  sign: 1 | -1;
}

/**
 * Computes an odd number n from a scalar k: n = k if k is odd, and n = order − k if k is even. Returns 1 if k is odd,
 * and −1 if k is even. Writes floor(n / 2) + 2^255 to `into` in little-endian order. `digitOf` turns each group of bits
 * of the written number into a digit, and n is the sum over all i of digit i · 2^(bits · i).
 */
export function halve(scalars: Uint8Array, at: number, into: Uint8Array, intoAt: number): 1 | -1 {
  checkScalar(scalars, at);
  const isOdd = scalars[at + SCALAR_BYTES - 1]! & 1;
  // For an even scalar k, `flip` is all ones, and the sum below is order − k, computed as order + ~k + 1.
  const flip = isOdd - 1;
  let carry = flip & 1;
  for (let i = 0; i < SCALAR_BYTES; i++) {
    const place = SCALAR_BYTES - 1 - i;
    const sum = ((scalars[at + place]! ^ flip) & 0xff) + (ORDER_BYTES[place]! & flip) + carry;
    into[intoAt + i] = sum;
    carry = sum >>> 8;
  }
  for (let i = 0; i < SCALAR_BYTES; i++) {
    const next = i + 1 < SCALAR_BYTES ? into[intoAt + i + 1]! & 1 : 1;
    into[intoAt + i] = (into[intoAt + i]! >>> 1) | (next << 7);
  }
  return isOdd === 1 ? 1 : -1;
}

/** Returns the digit 2 t + 1 − 2^bits as a table entry and a sign. `t` is a group of `bits` bits that `halve` wrote. */
export function digitOf(t: number, bits: number): Digit {
  const half = 1 << (bits - 1);
  return t >= half ? { entry: t - half, sign: 1 } : { entry: half - 1 - t, sign: -1 };
}
