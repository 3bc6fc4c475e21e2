/**
 * Computes the hash FarmHash Fingerprint64. Stores each 64-bit number as two 32-bit halves, which is ten times as fast
 * as BigInt.
 */

/** FarmHash's constant k2, and its multipliers for 8-byte and 16-byte inputs. */
export const FARMHASH_K2 = 0x9ae16a3b2f90404fn;
export const FARMHASH_MUL_8 = FARMHASH_K2 + 16n;
const MUL_16 = FARMHASH_K2 + 32n;

const [K2_LOW, K2_HIGH] = halvesOf(FARMHASH_K2);
const [MUL_LOW, MUL_HIGH] = halvesOf(MUL_16);

/** The input that `hashVid` hashes is two big-endian int64 values: the VID and this salt. */
const SALT = 21_858_450;
/**
 * The hash reads the eight big-endian bytes of the salt as a little-endian number. This constant is the high half of
 * that number, and the low half is 0. The hash reads a VID in the same way, so the low half of a VID is 0 too.
 */
const SALT_HIGH = swapped(SALT);
/** The term of the hash that depends only on the salt: rotr(salt, 37) · MUL_16, where rotr rotates right. */
const SALT_TERM = ((BigInt(SALT_HIGH >>> 0) >> 5n) | (BigInt(SALT_HIGH & 31) << 59n)) * MUL_16;
const [C_LOW, C_HIGH] = halvesOf(SALT_TERM + FARMHASH_K2);

function halvesOf(word: bigint): [low: number, high: number] {
  return [Number(BigInt.asIntN(32, word)), Number(BigInt.asIntN(32, word >> 32n))];
}

/** Hashes a VID (0 to 2^31 − 1) with the salt. Writes the high half to `hash[0]` and the low half to `hash[1]`. */
export function hashVid(vid: number, hash: Int32Array): void {
  const vidHigh = swapped(vid);
  const aHigh = (vidHigh + K2_HIGH) | 0;
  const cHigh = (vidHigh + C_HIGH) | 0;
  // Compute rotr(a, 25) + salt, where rotr rotates right and a = VID + k2.
  const sumLow = (K2_LOW >>> 25) | (aHigh << 7);
  const sumHigh = (((aHigh >>> 25) | (K2_LOW << 7)) + SALT_HIGH) | 0;
  const dHigh = productHigh(sumHigh, sumLow, MUL_HIGH, MUL_LOW);
  const dLow = Math.imul(sumLow, MUL_LOW);
  let high = productHigh(cHigh ^ dHigh, C_LOW ^ dLow, MUL_HIGH, MUL_LOW);
  let low = Math.imul(C_LOW ^ dLow, MUL_LOW);
  low ^= high >>> 15;
  const yHigh = productHigh(dHigh ^ high, dLow ^ low, MUL_HIGH, MUL_LOW);
  low = Math.imul(dLow ^ low, MUL_LOW);
  low ^= yHigh >>> 15;
  high = productHigh(yHigh, low, MUL_HIGH, MUL_LOW);
  hash[0] = high;
  hash[1] = Math.imul(low, MUL_LOW);
}

/** Multiplies two 64-bit numbers and returns bits 32 to 63 of the product, computed from 16-bit products. */
function productHigh(xHigh: number, xLow: number, yHigh: number, yLow: number): number {
  const x0 = xLow & 0xffff;
  const x1 = xLow >>> 16;
  const y0 = yLow & 0xffff;
  const y1 = yLow >>> 16;
  const middle0 = Math.imul(x0, y1);
  const middle1 = Math.imul(x1, y0);
  const carry = ((Math.imul(x0, y0) >>> 16) + (middle0 & 0xffff) + (middle1 & 0xffff)) >>> 16;
  return (
    (Math.imul(x1, y1) +
      (middle0 >>> 16) +
      (middle1 >>> 16) +
      carry +
      Math.imul(xHigh, yLow) +
      Math.imul(xLow, yHigh)) |
    0
  );
}

function swapped(value: number): number {
  return (value << 24) | ((value & 0xff00) << 8) | ((value >>> 8) & 0xff00) | (value >>> 24);
}

const MAX_BYTES = 64;

/** The index of each 64-bit variable in the `words` array. The low half of a variable comes first. */
const [K1, K2, MUL, A, B, C, D, E] = [0, 2, 4, 6, 8, 10, 12, 14] as const;
const [F, G, H, Y, Z, U, V] = [16, 18, 20, 22, 24, 26, 28] as const;

/** Computes fingerprints of bytes that the caller writes to the given array, which has at most 64 bytes. */
export class Fingerprint64 {
  private readonly view: DataView;
  private readonly words = new Int32Array(30);

  constructor(bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.words.set([0xbe98f273, 0xb492b66f], K1);
    this.words.set([K2_LOW, K2_HIGH], K2);
  }

  get high(): number {
    return this.words[Z + 1]! >>> 0;
  }

  get low(): number {
    return this.words[Z]! >>> 0;
  }

  /**
   * Hashes the first `length` bytes, and stores the result in `high` and `low`. `length` must be 8, or from 17 to 64.
   */
  compute(length: number): void {
    const isText = length >= 17 && length <= MAX_BYTES;
    if (!isText && length !== 8) throw new RangeError(`length must be 8, or 17 to ${MAX_BYTES}`);
    const w = this.words;
    w[U] = 2 * length;
    w[U + 1] = 0;
    add(w, MUL, K2, U);
    if (isText) this.computeText(length);
    else this.computeWord();
  }

  /**
   * Hashes 8 bytes, which are read as the 64-bit number b. Let a = b + k2, and let rotr rotate right. Computes u =
   * rotr(b, 37) · mul + a and v = (rotr(a, 25) + b) · mul, and mixes u with v.
   */
  private computeWord(): void {
    const w = this.words;
    this.load(B, 0);
    add(w, A, B, K2);
    rotateRight(w, U, B, 37);
    multiply(w, U, U, MUL);
    add(w, U, U, A);
    rotateRight(w, V, A, 25);
    add(w, V, V, B);
    multiply(w, V, V, MUL);
    mix(w);
  }

  private computeText(length: number): void {
    const w = this.words;
    this.load(A, 0);
    multiply(w, A, A, length <= 32 ? K1 : K2);
    this.load(B, 8);
    this.load(C, length - 8);
    multiply(w, C, C, MUL);
    this.load(D, length - 16);
    multiply(w, D, D, K2);
    // Compute y = rotr(a + b, 43) + rotr(c, 30) + d and z = mix(y, a + rotr(b + k2, 18) + c), where rotr rotates right.
    mixInputs(w, A, B, C, D, K2);
    w[Y] = w[U]!;
    w[Y + 1] = w[U + 1]!;
    mix(w);
    if (length <= 32) return;
    this.load(E, 16);
    multiply(w, E, E, MUL);
    this.load(F, 24);
    this.load(G, length - 32);
    add(w, G, G, Y);
    multiply(w, G, G, MUL);
    this.load(H, length - 24);
    add(w, H, H, Z);
    multiply(w, H, H, MUL);
    mixInputs(w, E, F, G, H, A);
    mix(w);
  }

  private load(to: number, at: number): void {
    this.words[to] = this.view.getInt32(at, true);
    this.words[to + 1] = this.view.getInt32(at + 4, true);
  }
}

/** Computes u = rotr(a + b, 43) + rotr(c, 30) + d and v = a + rotr(b + e, 18) + c, where rotr rotates right. */
function mixInputs(w: Int32Array, a: number, b: number, c: number, d: number, e: number): void {
  add(w, U, a, b);
  rotateRight(w, U, U, 43);
  rotateRight(w, V, c, 30);
  add(w, U, U, V);
  add(w, U, U, d);
  add(w, V, b, e);
  rotateRight(w, V, V, 18);
  add(w, V, V, a);
  add(w, V, V, c);
}

/** Computes the result z from u and v, and overwrites u and v. Multiplies three times by `mul`. */
function mix(w: Int32Array): void {
  w[U] = w[U]! ^ w[V]!;
  w[U + 1] = w[U + 1]! ^ w[V + 1]!;
  multiply(w, U, U, MUL);
  shiftedXor(w, U);
  w[V] = w[V]! ^ w[U]!;
  w[V + 1] = w[V + 1]! ^ w[U + 1]!;
  multiply(w, V, V, MUL);
  shiftedXor(w, V);
  multiply(w, Z, V, MUL);
}

/** Computes x ^= x >>> 47 for a 64-bit x. The shifted value fits in the low half. */
function shiftedXor(w: Int32Array, x: number): void {
  w[x] = w[x]! ^ (w[x + 1]! >>> 15);
}

function add(w: Int32Array, to: number, x: number, y: number): void {
  const low = (w[x]! + w[y]!) | 0;
  const carry = low >>> 0 < w[x]! >>> 0 ? 1 : 0;
  w[to + 1] = (w[x + 1]! + w[y + 1]! + carry) | 0;
  w[to] = low;
}

function rotateRight(w: Int32Array, to: number, x: number, by: number): void {
  const low = by < 32 ? w[x]! : w[x + 1]!;
  const high = by < 32 ? w[x + 1]! : w[x]!;
  const bits = by & 31;
  w[to] = (low >>> bits) | (high << (32 - bits));
  w[to + 1] = (high >>> bits) | (low << (32 - bits));
}

function multiply(w: Int32Array, to: number, x: number, y: number): void {
  const xLow = w[x]!;
  const yLow = w[y]!;
  w[to + 1] = productHigh(w[x + 1]!, xLow, w[y + 1]!, yLow);
  w[to] = Math.imul(xLow, yLow);
}
