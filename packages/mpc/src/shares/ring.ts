/**
 * Arithmetic on arrays of bytes, modulo a small number. Processes four bytes (one 32-bit word) at a time. Values are
 * below the modulus, which is at most 128, so the sum of two values still fits in a byte.
 */
export const MAX_MODULUS = 128;

const LOW_BITS = 0x7f7f7f7f;
const HIGH_BITS = 0x80808080 | 0;

export function checkModulus(modulus: number): void {
  if (Number.isInteger(modulus) && modulus >= 2 && modulus <= MAX_MODULUS) return;
  throw new RangeError(`ringModulus must be a whole number from 2 to ${MAX_MODULUS}`);
}

/** Allocates a word-aligned array of `bytes` bytes. Its buffer extends to the end of the last 32-bit word. */
export function wordAligned(bytes: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Math.ceil(bytes / 4) * 4).subarray(0, bytes);
}

/** Returns the 32-bit words of a word-aligned array. The array may fill the last word only partly. */
export function wordsOf(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset, Math.ceil(bytes.length / 4));
}

/** Adds `count` words: into[at + i] += values[i]. Each of a word's four bytes is a number modulo `modulus`. */
export function addWords(
  modulus: number,
  into: Uint32Array,
  at: number,
  values: Uint32Array,
  count: number,
): void {
  const toHigh = inEveryByte(MAX_MODULUS - modulus);
  for (let i = 0; i < count; i++) {
    const sum = (into[at + i]! + values[i]!) | 0;
    // `over` has the high bit set for each byte whose sum is at least the modulus.
    const over = (sum | ((sum & LOW_BITS) + toHigh)) & HIGH_BITS;
    into[at + i] = (sum - Math.imul(over >>> 7, modulus)) | 0;
  }
}

/** Subtracts `count` words: into[at + i] −= values[i]. Each of a word's four bytes is a number modulo `modulus`. */
export function subtractWords(
  modulus: number,
  into: Uint32Array,
  at: number,
  values: Uint32Array,
  count: number,
): void {
  const toHigh = inEveryByte(MAX_MODULUS - modulus);
  const zero = inEveryByte(modulus);
  for (let i = 0; i < count; i++) {
    const sum = (into[at + i]! + (zero - values[i]!)) | 0;
    const over = (sum | ((sum & LOW_BITS) + toHigh)) & HIGH_BITS;
    into[at + i] = (sum - Math.imul(over >>> 7, modulus)) | 0;
  }
}

/** Returns a multiplication table. The product a · b (modulo `modulus`) is at index a · MAX_MODULUS + b. */
export function productTable(modulus: number): Uint8Array {
  const table = new Uint8Array(MAX_MODULUS * MAX_MODULUS);
  for (let a = 0; a < modulus; a++) {
    for (let b = 0; b < modulus; b++) table[a * MAX_MODULUS + b] = (a * b) % modulus;
  }
  return table;
}

/** Returns whether every value is below `modulus`. The array does not have to be aligned. */
export function areBelow(modulus: number, values: Uint8Array): boolean {
  const toHigh = inEveryByte(MAX_MODULUS - modulus);
  const view = new DataView(values.buffer, values.byteOffset, values.length);
  const wordBytes = values.length & ~3;
  let over = 0;
  for (let i = 0; i < wordBytes; i += 4) {
    const word = view.getInt32(i, true);
    over |= word | ((word & LOW_BITS) + toHigh);
  }
  for (let i = wordBytes; i < values.length; i++) over |= values[i]! >= modulus ? HIGH_BITS : 0;
  return (over & HIGH_BITS) === 0;
}

export function isPrime(n: number): boolean {
  for (let divisor = 2; divisor * divisor <= n; divisor++) if (n % divisor === 0) return false;
  return n >= 2;
}

function inEveryByte(value: number): number {
  return Math.imul(value, 0x01010101);
}
