/** Computes with arrays of numbers modulo the P-256 prime. The arrays are in the memory of a WebAssembly kernel. */
import { isBelow, NUMBER_BYTES, toBytes } from './bigEndian.ts';
import { type FieldKernel, fieldKernel, LANES, LIMB_BITS, LIMBS, QUAD_BYTES } from './fieldKernel.ts';
import { addPrime, carry, isBelowPrime, limbAt, limbsOf, PRIME, rounded } from './limbs.ts';

const PRIME_BYTES = toBytes(PRIME);

/** An array, identified by its address in the kernel's memory. */
export type FieldArray = number;

/** The Montgomery factor. Arrays store each number multiplied by this factor. */
const MONTGOMERY = 2n ** BigInt(LIMB_BITS * LIMBS);
const QUAD_WORDS = QUAD_BYTES / 4;

/** The number of arrays that a field needs internally: four for powers, one for products, and one for inverses. */
const OWN_ARRAYS = 6;

/** The last call to `use` sets how many elements of every array the operations process. */
export class Field {
  readonly capacity: number;
  /**
   * The kernel's memory, as 32-bit words. A number is stored in nine words (limbs) that are LANES words apart. `wordOf`
   * returns the index of the lowest limb.
   */
  readonly words: Int32Array;
  readonly one: FieldArray;
  private readonly kernel: FieldKernel;
  private readonly arrayBytes: number;
  private allocated = 0;
  private quads = 1;
  private readonly plainOne: FieldArray;
  private readonly montgomerySquare: FieldArray;
  private readonly powers: [FieldArray, FieldArray, FieldArray, FieldArray];
  private readonly products: FieldArray;
  private readonly inverses: FieldArray;
  private readonly limbs = new Int32Array(LIMBS);

  constructor(capacity: number, arrays: number) {
    this.capacity = capacity;
    this.arrayBytes = Math.ceil(capacity / LANES) * QUAD_BYTES;
    this.kernel = fieldKernel((arrays + OWN_ARRAYS) * this.arrayBytes + 8 * QUAD_BYTES);
    this.words = new Int32Array(this.kernel.memory.buffer);
    this.one = this.constant(1n);
    this.plainOne = this.quadOf(1n);
    this.montgomerySquare = this.constant(MONTGOMERY);
    this.powers = [this.array(), this.array(), this.array(), this.array()];
    this.products = this.array();
    this.inverses = this.array();
  }

  array(): FieldArray {
    return this.allocate(this.arrayBytes);
  }

  constant(value: bigint): FieldArray {
    return this.quadOf((value * MONTGOMERY) % PRIME);
  }

  /**
   * Sets how many numbers the next operations process. Returns this count rounded up to whole quads (groups of four).
   */
  use(count: number): number {
    if (!(count >= 1 && count <= this.capacity)) throw new RangeError(`count must be 1 to ${this.capacity}`);
    this.quads = Math.ceil(count / LANES);
    return this.quads * LANES;
  }

  multiply(into: FieldArray, a: FieldArray, b: FieldArray): void {
    this.kernel.multiply(into, a, b, this.quads, QUAD_BYTES, QUAD_BYTES);
  }

  square(into: FieldArray, a: FieldArray): void {
    this.kernel.square(into, a, this.quads);
  }

  /** Computes times · a + otherTimes · b. Limbs can overflow if |times| + |otherTimes| is above 6. */
  combine(into: FieldArray, times: number, a: FieldArray, otherTimes: number, b: FieldArray): void {
    this.kernel.combine(into, a, b, this.quads, times, otherTimes, QUAD_BYTES);
  }

  /** Computes times · a + factor · constant. Limbs can overflow if |times| + |factor| is above 6. */
  addConstant(into: FieldArray, times: number, a: FieldArray, factor: number, constant: FieldArray): void {
    this.kernel.combine(into, a, constant, this.quads, times, factor, 0);
  }

  copy(into: FieldArray, a: FieldArray): void {
    this.words.copyWithin(into / 4, a / 4, a / 4 + this.quads * QUAD_WORDS);
  }

  /**
   * Returns the inverses of all numbers, or undefined if any number is zero. Inverts only the product of each lane's
   * numbers, and derives each number's inverse from that one inverse. The next call overwrites the result.
   */
  inverse(a: FieldArray): FieldArray | undefined {
    const { kernel, products, inverses, quads } = this;
    const others = quads - 1;
    const last = others * QUAD_BYTES;
    this.quads = 1;
    this.copy(products, a);
    // Compute running products. Each step multiplies the next number by the product that the kernel has just stored.
    if (others > 0) {
      kernel.multiply(products + QUAD_BYTES, products, a + QUAD_BYTES, others, QUAD_BYTES, QUAD_BYTES);
    }
    this.invertOne(inverses + last, products + last);
    this.quads = quads;
    for (let lane = 0; lane < LANES; lane++) {
      if (this.isZero(products, LANES * others + lane)) return undefined;
    }
    if (others > 0) {
      kernel.multiply(
        ...([inverses + last - QUAD_BYTES, inverses + last, a + last] as const),
        ...([others, -QUAD_BYTES, -QUAD_BYTES] as const),
      );
      const second = inverses + QUAD_BYTES;
      kernel.multiply(second, second, products, others, QUAD_BYTES, QUAD_BYTES);
    }
    return inverses;
  }

  /** Computes a^((p + 1) / 4), where p is the prime. The result is a square root of a, if a has a square root. */
  squareRoot(into: FieldArray, a: FieldArray): void {
    const [first, second, , ones32] = this.powersOfOnes(a);
    this.raise(first, ones32, 32, a);
    this.raise(second, first, 96, a);
    this.square(into, second);
    for (let i = 1; i < 94; i++) this.square(into, into);
  }

  /**
   * Computes a^(p − 2), where p is the prime. The result is the inverse of a. `into` must not be the same array as `a`.
   */
  private invertOne(into: FieldArray, a: FieldArray): void {
    const [first, second, ones30, ones32] = this.powersOfOnes(a);
    this.raise(first, ones32, 32, a);
    this.raise(second, first, 128, ones32);
    this.raise(first, second, 32, ones32);
    this.raise(second, first, 30, ones30);
    this.raise(into, second, 2, a);
  }

  /** Returns four arrays: two scratch arrays for the caller, then a^(2^30 − 1) and a^(2^32 − 1). */
  private powersOfOnes(a: FieldArray): readonly [FieldArray, FieldArray, FieldArray, FieldArray] {
    const [two, three, even, odd] = this.powers;
    this.raise(two, a, 1, a);
    this.raise(three, two, 1, a);
    this.raise(even, three, 3, three);
    this.raise(odd, even, 6, even);
    this.raise(even, odd, 3, three);
    this.raise(odd, even, 15, even);
    this.raise(even, odd, 2, two);
    return [two, three, odd, even];
  }

  /** Computes a^(2^squarings) · b. `into` can be the same array as `a`, but must not be the same as `b`. */
  private raise(into: FieldArray, a: FieldArray, squarings: number, b: FieldArray): void {
    this.square(into, a);
    for (let i = 1; i < squarings; i++) this.square(into, into);
    this.multiply(into, into, b);
  }

  /**
   * Reads a number and returns whether it is below the prime. Call `enter` before using the number in other operations.
   */
  read(into: FieldArray, index: number, bytes: Uint8Array, at: number): boolean {
    for (let limb = 0, word = this.wordOf(into, index); limb < LIMBS; limb++, word += LANES) {
      this.words[word] = limbAt(bytes, at, limb);
    }
    return isBelow(bytes, at, PRIME_BYTES);
  }

  enter(a: FieldArray): void {
    this.kernel.multiply(a, a, this.montgomerySquare, this.quads, QUAD_BYTES, 0);
  }

  /** Converts numbers from Montgomery form back to plain numbers, as `write` and `isOdd` require. */
  leave(into: FieldArray, a: FieldArray): void {
    this.kernel.multiply(into, a, this.plainOne, this.quads, QUAD_BYTES, 0);
  }

  write(a: FieldArray, index: number, bytes: Uint8Array, at: number): void {
    const limbs = this.canonical(a, index);
    for (let i = 0; i < NUMBER_BYTES; i++) {
      const bit = 8 * i;
      const limb = Math.floor(bit / LIMB_BITS);
      const shift = bit - limb * LIMB_BITS;
      const high = shift > LIMB_BITS - 8 ? limbs[limb + 1]! << (LIMB_BITS - shift) : 0;
      bytes[at + NUMBER_BYTES - 1 - i] = (limbs[limb]! >>> shift) | high;
    }
  }

  isOdd(a: FieldArray, index: number): boolean {
    return (this.canonical(a, index)[0]! & 1) === 1;
  }

  isZero(a: FieldArray, index: number): boolean {
    return this.canonical(a, index).every((limb) => limb === 0);
  }

  /** Returns one number as a BigInt, for rare cases that are not worth an array operation. */
  get(a: FieldArray, index: number): bigint {
    const limbs = this.canonical(a, index);
    let value = 0n;
    for (let limb = LIMBS - 1; limb >= 0; limb--) value = (value << BigInt(LIMB_BITS)) + BigInt(limbs[limb]!);
    return (value * MONTGOMERY_INVERSE) % PRIME;
  }

  set(into: FieldArray, index: number, value: bigint): void {
    const limbs = rounded(limbsOf((value * MONTGOMERY) % PRIME));
    for (let limb = 0, word = this.wordOf(into, index); limb < LIMBS; limb++, word += LANES) {
      this.words[word] = limbs[limb]!;
    }
  }

  wordOf(a: FieldArray, index: number): number {
    return a / 4 + (index >>> 2) * QUAD_WORDS + (index & 3);
  }

  /**
   * Reduces a number to the range 0 to prime − 1 and returns its limbs (0 to 2^29 − 1). The next call overwrites the
   * limbs.
   */
  private canonical(a: FieldArray, index: number): Int32Array {
    const { limbs, words } = this;
    for (let limb = 0, word = this.wordOf(a, index); limb < LIMBS; limb++, word += LANES) {
      limbs[limb] = words[word]!;
    }
    carry(limbs);
    // The kernel keeps numbers between −2 p and 2 p, where p is the prime, so each loop runs at most twice.
    while (limbs[LIMBS - 1]! < 0) addPrime(limbs, 1);
    while (!isBelowPrime(limbs)) addPrime(limbs, -1);
    return limbs;
  }

  private quadOf(value: bigint): FieldArray {
    const address = this.allocate(QUAD_BYTES);
    for (const [i, limb] of rounded(limbsOf(value)).entries()) {
      this.words.fill(limb, address / 4 + LANES * i, address / 4 + LANES * (i + 1));
    }
    return address;
  }

  private allocate(bytes: number): FieldArray {
    const address = this.allocated;
    this.allocated += bytes;
    if (this.allocated > this.words.byteLength) throw new RangeError('more arrays than there is room for');
    return address;
  }
}

const MONTGOMERY_INVERSE = inverseOf(MONTGOMERY % PRIME);

function inverseOf(value: bigint): bigint {
  let power = 1n;
  for (const bit of (PRIME - 2n).toString(2)) {
    power = (power * power) % PRIME;
    if (bit === '1') power = (power * value) % PRIME;
  }
  return power;
}
