/**
 * Scalars, by which points are multiplied: numbers from 1 to the order of P-256 minus 1, of 32 bytes each, the
 * highest first.
 */
import type { RandomSource } from '../privacy/random.ts';
import { isBelow, NUMBER_BYTES, toBytes, toNumber } from './bigEndian.ts';

export const SCALAR_BYTES = NUMBER_BYTES;
export const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const ORDER_BYTES = toBytes(ORDER);
const ONE_BYTES = toBytes(1n);

/** The number of bytes that are drawn at once: a random source may have a limit. */
const PIECE = 8192;

/** `count` uniform scalars, one after the other. */
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

/** Each scalar times the factor, negated. */
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

/**
 * A digit of a scalar. Digits are odd, so that each takes an addition, and the number of additions says nothing about
 * the scalar.
 */
export interface Digit {
  /** An odd multiple of a point: 2 · entry + 1 times it. */
  entry: number;
  sign: 1 | -1;
}

/**
 * An odd number is Σ digit[i] · 2^(bits i) with odd digits: digit i is 2 t + 1 − 2^bits, where t are the bits from
 * bits · i + 1 on, and the last is 2 t + 1. An even scalar is the negative of an odd one. Writes the bytes of all t, the
 * lowest first, and returns the sign. The highest bit is set, so that the last t is like the others.
 */
export function halve(scalars: Uint8Array, at: number, into: Uint8Array, intoAt: number): 1 | -1 {
  checkScalar(scalars, at);
  const isOdd = scalars[at + SCALAR_BYTES - 1]! & 1;
  // All ones for an even scalar k: k becomes order − k, which is order + ~k + 1 in two's complement.
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

/** A digit from its t of so many bits. */
export function digitOf(t: number, bits: number): Digit {
  const half = 1 << (bits - 1);
  return t >= half ? { entry: t - half, sign: 1 } : { entry: half - 1 - t, sign: -1 };
}
