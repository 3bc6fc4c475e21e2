/** Functions for single numbers in the representation that fieldKernel.ts uses: nine 29-bit limbs, lowest first. */
import { NUMBER_BYTES } from './bigEndian.ts';
import { LIMB_BITS, LIMBS } from './fieldKernel.ts';

export const PRIME = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
const LIMB_MASK = 2 ** LIMB_BITS - 1;
const PRIME_LIMBS = limbsOf(PRIME);

export function carry(limbs: Int32Array): void {
  for (let i = 0; i < LIMBS - 1; i++) {
    limbs[i + 1]! += limbs[i]! >> LIMB_BITS;
    limbs[i]! &= LIMB_MASK;
  }
}

/** Moves carries between the limbs, so that each limb except the highest is within ±2^28, as in the kernel. */
export function rounded(limbs: Int32Array): Int32Array {
  for (let i = 0; i < LIMBS - 1; i++) {
    const over = (limbs[i]! + 2 ** (LIMB_BITS - 1)) >> LIMB_BITS;
    limbs[i]! -= over * 2 ** LIMB_BITS;
    limbs[i + 1]! += over;
  }
  return limbs;
}

export function addPrime(limbs: Int32Array, times: number): void {
  for (let i = 0; i < LIMBS; i++) limbs[i]! += times * PRIME_LIMBS[i]!;
  carry(limbs);
}

export function isBelowPrime(limbs: Int32Array): boolean {
  for (let i = LIMBS - 1; i >= 0; i--) if (limbs[i] !== PRIME_LIMBS[i]) return limbs[i]! < PRIME_LIMBS[i]!;
  return false;
}

export function limbsOf(value: bigint): Int32Array {
  return Int32Array.from({ length: LIMBS }, (_, i) =>
    Number((value >> BigInt(LIMB_BITS * i)) & BigInt(LIMB_MASK)),
  );
}

/** Reads one limb of a 32-byte number: the 29 bits starting at bit 29 · limb. */
export function limbAt(bytes: Uint8Array, at: number, limb: number): number {
  const first = (limb * LIMB_BITS) >>> 3;
  let low = 0;
  for (let i = 0; i < 4; i++) low |= byteOf(bytes, at, first + i) << (8 * i);
  const shift = (limb * LIMB_BITS) & 7;
  const high = shift > 3 ? byteOf(bytes, at, first + 4) << (32 - shift) : 0;
  return ((low >>> shift) | high) & LIMB_MASK;
}

/** Returns byte i of a number, or 0 past its end. Byte 0 is the lowest. */
function byteOf(bytes: Uint8Array, at: number, i: number): number {
  return i < NUMBER_BYTES ? bytes[at + NUMBER_BYTES - 1 - i]! : 0;
}
