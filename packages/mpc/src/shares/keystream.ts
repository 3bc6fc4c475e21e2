/**
 * Generates random values that every party with the seed can reproduce. The source is an AES-256-CTR byte stream, from
 * which ring values (numbers below a modulus) are drawn.
 */
import { type Cipheriv, createCipheriv, createSecretKey, randomBytes } from 'node:crypto';
import type { RandomSource } from '../privacy/random.ts';
import { checkModulus } from './ring.ts';

/** The size of a seed: an AES-256 key, followed by the first counter block. */
export const SEED_BYTES = 48;
const KEY_BYTES = 32;
/**
 * The maximum number of bytes that `skip` and `fill` draw at once. Larger pieces would not fit in the processor's
 * caches.
 */
const PIECE = 1 << 16;
const ZEROS = new Uint8Array(PIECE);

export function newSeed(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(randomBytes(SEED_BYTES));
}

/** Combines the two workers' contributions into the seed that both workers use. */
export function combineSeeds(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  checkSeed(one);
  checkSeed(other);
  return new Uint8Array(one).map((byte, i) => byte ^ other[i]!);
}

/** The byte stream determined by a seed. Each byte is returned only once. */
export class Keystream implements RandomSource {
  private readonly cipher: Cipheriv;

  constructor(seed: Uint8Array) {
    checkSeed(seed);
    // Node creates a cipher four times as fast from a key object as from the bytes of the key.
    const key = createSecretKey(seed.subarray(0, KEY_BYTES));
    this.cipher = createCipheriv('aes-256-ctr', key, seed.subarray(KEY_BYTES));
  }

  /** Returns the next n bytes in a new array, aligned to 8 bytes. */
  bytes(n: number): Uint8Array<ArrayBuffer> {
    const bytes = this.cipher.update(n <= PIECE ? ZEROS.subarray(0, n) : new Uint8Array(n));
    return bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
  }

  skip(n: number): void {
    for (let left = n; left > 0; left -= PIECE) this.bytes(Math.min(left, PIECE));
  }
}

/**
 * A fixed number of values, drawn in pieces. Draw all the values before drawing anything else from the same keystream.
 */
export interface RingValues {
  fill(into: Uint8Array): void;
}

/**
 * Draws `count` uniform values below the modulus. Each keystream byte is cut to the number of bits of modulus − 1, and
 * rejected if the result is not below the modulus. Bytes are drawn in batches. The size of a batch is the number of
 * bytes that the missing values are expected to need. Unused bytes of the last batch are skipped, so that all parties
 * continue at the same byte.
 */
export class UniformValues implements RingValues {
  private readonly keystream: Keystream;
  private readonly rule: Rule;
  private readonly rejected: number;
  private missing: number;
  private batch = 0;

  constructor(keystream: Keystream, modulus: number, count: number) {
    checkModulus(modulus);
    this.keystream = keystream;
    const mask = bitMask(modulus);
    this.rule = { mask, flip: 0, limit: modulus };
    this.rejected = (mask + 1 - modulus) / (mask + 1);
    this.missing = count;
  }

  fill(into: Uint8Array): void {
    if (into.length > this.missing) throw new RangeError('no more values than count can be drawn');
    let filled = 0;
    while (filled < into.length) {
      if (this.batch === 0) this.batch = batchSize(this.missing - filled, this.rejected);
      // Draw at most as many bytes as fit in `into`, so that no value is lost.
      const bytes = this.keystream.bytes(Math.min(into.length - filled, this.batch, PIECE));
      this.batch -= bytes.length;
      filled = accept(this.rule, bytes, into, filled);
    }
    this.missing -= into.length;
    if (this.missing === 0) {
      this.keystream.skip(this.batch);
      this.batch = 0;
    }
  }
}

/** Draws uniform values that are not zero. Draws batches of uniform values and removes the zeros. */
export class NonZeroValues implements RingValues {
  private readonly keystream: Keystream;
  private readonly modulus: number;
  private missing: number;
  private batch = 0;
  private uniform: UniformValues;
  private readonly piece: Uint8Array;

  constructor(keystream: Keystream, modulus: number, count: number) {
    this.keystream = keystream;
    this.modulus = modulus;
    this.missing = count;
    this.uniform = new UniformValues(keystream, modulus, 0);
    this.piece = new Uint8Array(Math.min(count, PIECE));
  }

  fill(into: Uint8Array): void {
    if (into.length > this.missing) throw new RangeError('no more values than count can be drawn');
    let filled = 0;
    while (filled < into.length) {
      if (this.batch === 0) {
        this.batch = batchSize(this.missing - filled, 1 / this.modulus);
        this.uniform = new UniformValues(this.keystream, this.modulus, this.batch);
      }
      filled = accept(NON_ZERO, this.next(Math.min(into.length - filled, this.batch)), into, filled);
    }
    this.missing -= into.length;
    if (this.missing === 0) while (this.batch > 0) this.next(this.batch);
  }

  private next(most: number): Uint8Array {
    const values = this.piece.subarray(0, most);
    this.uniform.fill(values);
    this.batch -= values.length;
    return values;
  }
}

/**
 * Returns how many values to draw so that about `missing` are accepted. `rejected` is the expected share of rejected
 * values.
 */
function batchSize(missing: number, rejected: number): number {
  return Math.floor(missing + 1 + (rejected * missing) / (1 - rejected));
}

/**
 * A rule for accepting bytes: keep the bits in `mask`, and accept the byte if (byte xor `flip`) is less than `limit`.
 */
interface Rule {
  mask: number;
  flip: number;
  limit: number;
}

/**
 * Accepts every value except zero. Flipping the bits turns zero into 0x7f, the only number that is not below the limit.
 */
const NON_ZERO: Rule = { mask: 0x7f, flip: 0x7f, limit: 0x7f };

/**
 * Writes the accepted bytes to `into`, starting at `at`, and returns the next free index. Rejected bytes are written
 * too, but the next byte overwrites them. Writing every byte avoids a branch that the processor could not predict.
 */
function accept({ mask, flip, limit }: Rule, bytes: Uint8Array, into: Uint8Array, at: number): number {
  let next = at;
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2);
  const maskFour = Math.imul(mask, 0x01010101);
  const flipFour = Math.imul(flip, 0x01010101);
  const toNextBit = Math.imul(mask + 1 - limit, 0x01010101);
  const nextBit = Math.imul(mask + 1, 0x01010101);
  for (let i = 0; i < words.length; i++) {
    const four = words[i]! & maskFour;
    const a = four & 0xff;
    const b = (four >>> 8) & 0xff;
    const c = (four >>> 16) & 0xff;
    const d = four >>> 24;
    into[next] = a;
    if ((((four ^ flipFour) + toNextBit) & nextBit) === 0) {
      into[next + 1] = b;
      into[next + 2] = c;
      into[next + 3] = d;
      next += 4;
    } else {
      next += ((a ^ flip) - limit) >>> 31;
      into[next] = b;
      next += ((b ^ flip) - limit) >>> 31;
      into[next] = c;
      next += ((c ^ flip) - limit) >>> 31;
      into[next] = d;
      next += ((d ^ flip) - limit) >>> 31;
    }
  }
  for (let i = words.length << 2; i < bytes.length; i++) {
    const value = bytes[i]! & mask;
    into[next] = value;
    next += ((value ^ flip) - limit) >>> 31;
  }
  return next;
}

/** Returns a bit mask that is just large enough for the largest value, modulus − 1. */
function bitMask(modulus: number): number {
  return 2 ** (32 - Math.clz32(modulus - 1)) - 1;
}

function checkSeed(seed: Uint8Array): void {
  if (seed.length !== SEED_BYTES) throw new RangeError(`a seed must have ${SEED_BYTES} bytes`);
}
