/** Processes any number of ciphertexts, one batch at a time. Each thread needs its own workspace. */
import type { RandomSource } from '../../privacy/random.ts';
import {
  areZero,
  CIPHERTEXT_BYTES,
  Ciphertexts,
  Curve,
  countPoints,
  drawScalars,
  ElGamalPublicKey,
  mapToCurve,
  POINT_BYTES,
} from '../../sketches.ts';
import { type Bytes, putBlocks } from './blocks.ts';
import type { RingKeys } from './ringKeys.ts';

/** A point to encrypt. `zero` is the point at infinity, and `random` is a point that nobody knows. */
export type Plain = 'zero' | 'random' | Uint8Array;

/** Selects the ciphertext at offset `at` in each block of `stride` bytes. */
export interface Column {
  stride: number;
  at: number;
}

/** The input of an operation on a batch of blocks. Each batch has a different seed. */
export interface Batch {
  blocks: Uint8Array;
  seed: Uint8Array;
}

/** The number of public keys to cache. Four keys are enough for two computations that alternate. */
const KEPT_KEYS = 4;

export const ALONE: Column = { stride: CIPHERTEXT_BYTES, at: 0 };

export class Workspace {
  readonly curve: Curve;
  readonly batch: Ciphertexts;
  readonly other: Ciphertexts;
  private countPoints: Bytes[] = [];
  private readonly keys = new Map<string, ElGamalPublicKey>();

  constructor(curve = new Curve()) {
    this.curve = curve;
    this.batch = new Ciphertexts(curve);
    this.other = new Ciphertexts(curve);
  }

  /** Returns the public key for a compressed point. Caches the last KEPT_KEYS keys with their tables. */
  key(bytes: Uint8Array): ElGamalPublicKey {
    const name = Buffer.from(bytes).toString('hex');
    const key = this.keys.get(name) ?? new ElGamalPublicKey(this.curve, bytes);
    this.keys.delete(name);
    this.keys.set(name, key);
    for (const oldest of this.keys.keys()) {
      if (this.keys.size <= KEPT_KEYS) break;
      this.keys.delete(oldest);
    }
    return key;
  }

  inBatches(total: number, work: (from: number, count: number) => void): void {
    const { capacity } = this.curve;
    for (let from = 0; from < total; from += capacity) work(from, Math.min(capacity, total - from));
  }

  /** Loads each batch of a column, calls `work` to change the batch, and stores the batch in `into`. */
  change(
    blocks: Uint8Array,
    { stride, at }: Column,
    into: Uint8Array,
    work: (batch: Ciphertexts, count: number, from: number) => void,
  ): void {
    this.inBatches(blocks.length / stride, (from, count) => {
      this.batch.load(blocks, count, { stride, at: from * stride + at });
      work(this.batch, count, from);
      this.batch.store(into, { stride, at: from * stride + at });
    });
  }

  /**
   * Removes a key from ciphertexts, multiplies each ciphertext by a separate random number, and re-randomizes it. The
   * duchy that removes the last key then learns only which ciphertexts encrypt zero.
   */
  blindEach(ciphertexts: Uint8Array, { secretKey, restKey }: RingKeys, random: RandomSource): void {
    const rest = this.key(restKey);
    this.change(ciphertexts, ALONE, ciphertexts, (batch, count) => {
      batch.blindEach(secretKey, drawScalars(random, count));
      batch.reRandomize(rest, drawScalars(random, count));
    });
  }

  encrypt(texts: readonly Plain[], key: ElGamalPublicKey, random: RandomSource): Bytes {
    const ciphertexts = new Uint8Array(texts.length * CIPHERTEXT_BYTES);
    const places = { zero: [] as number[], random: [] as number[], point: [] as number[] };
    texts.forEach((text, i) => {
      places[typeof text === 'string' ? text : 'point'].push(i);
    });
    const put = (some: number[], encrypted: Uint8Array) =>
      putBlocks(encrypted, CIPHERTEXT_BYTES, some, ciphertexts);
    put(places.zero, this.encryptZeros(places.zero.length, key, random));
    put(
      places.random,
      this.encryptBatches(places.random.length, (_, count) =>
        this.batch.encryptRandom(drawScalars(random, count), drawScalars(random, count)),
      ),
    );
    const points = Buffer.concat(places.point.map((i) => texts[i] as Uint8Array));
    put(
      places.point,
      this.encryptBatches(places.point.length, (from, count) =>
        this.batch.encrypt(key, points, drawScalars(random, count), { at: from * POINT_BYTES }),
      ),
    );
    return ciphertexts;
  }

  encryptZeros(count: number, key: ElGamalPublicKey, random: RandomSource): Bytes {
    return this.encryptBatches(count, (_, some) => this.batch.encryptZeros(key, drawScalars(random, some)));
  }

  private encryptBatches(total: number, encrypt: (from: number, count: number) => void): Bytes {
    const ciphertexts = new Uint8Array(total * CIPHERTEXT_BYTES);
    this.inBatches(total, (from, count) => {
      encrypt(from, count);
      this.batch.store(ciphertexts, { at: from * CIPHERTEXT_BYTES });
    });
    return ciphertexts;
  }

  /**
   * Returns one byte per ciphertext: 1 if the ciphertext encrypts zero, else 0. `secretKey` must be the last key that
   * is still to be removed from the ciphertexts.
   */
  zeros(ciphertexts: Uint8Array, secretKey: Uint8Array): Bytes {
    const found = new Uint8Array(ciphertexts.length / CIPHERTEXT_BYTES);
    this.inBatches(found.length, (from, count) => {
      found.set(areZero(this.curve, secretKey, ciphertexts, count, { at: from * CIPHERTEXT_BYTES }), from);
    });
    return found;
  }

  decrypt(blocks: Uint8Array, { stride, at }: Column, secretKey: Uint8Array): Bytes {
    const points = new Uint8Array((blocks.length / stride) * POINT_BYTES);
    this.inBatches(blocks.length / stride, (from, count) => {
      this.batch.load(blocks, count, { stride, at: from * stride + at });
      this.batch.open(secretKey, points, { at: from * POINT_BYTES });
    });
    return points;
  }

  points(texts: readonly string[]): Bytes[] {
    return pointsOf(mapToCurve(this.curve, texts));
  }

  /** Returns the points that represent the counts 1, 2, 3, …, at least up to `most`. */
  counts(most: number): Bytes[] {
    if (this.countPoints.length < most) this.countPoints = pointsOf(countPoints(this.curve, most));
    return this.countPoints;
  }
}

function pointsOf(bytes: Bytes): Bytes[] {
  return Array.from({ length: bytes.length / POINT_BYTES }, (_, i) =>
    bytes.subarray(i * POINT_BYTES, (i + 1) * POINT_BYTES),
  );
}
