/** Work on more ciphertexts than fit into a batch. One per thread. */
import type { RandomSource } from '@measurement-exchange/sdk';
import {
  areZero,
  CIPHERTEXT_BYTES,
  Ciphertexts,
  Curve,
  drawScalars,
  ElGamalPublicKey,
  mapToCurve,
  POINT_BYTES,
} from '@measurement-exchange/sdk/liquidLegions';

/** One ciphertext of each block. */
export interface Column {
  /** Size of a block. */
  stride: number;
  /** Where in its block the ciphertext is. */
  at: number;
}

/** Those of two computations that take turns. */
const KEPT_KEYS = 4;

export const ALONE: Column = { stride: CIPHERTEXT_BYTES, at: 0 };

export class Workspace {
  readonly curve: Curve;
  readonly batch: Ciphertexts;
  readonly other: Ciphertexts;
  private readonly keys = new Map<string, ElGamalPublicKey>();

  constructor(curve = new Curve()) {
    this.curve = curve;
    this.batch = new Ciphertexts(curve);
    this.other = new Ciphertexts(curve);
  }

  /** A public key from a compressed point: the last few that were asked for have their tables already. */
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

  /** Changes a column: `work` is called for each batch, and what it leaves there is written to `into`. */
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

  /** Encrypts points. */
  encrypt(points: Uint8Array, key: ElGamalPublicKey, random: RandomSource): Uint8Array<ArrayBuffer> {
    return this.encryptBatches(points.length / POINT_BYTES, (from, count) =>
      this.batch.encrypt(key, points, drawScalars(random, count), { at: from * POINT_BYTES }),
    );
  }

  encryptZeros(count: number, key: ElGamalPublicKey, random: RandomSource): Uint8Array<ArrayBuffer> {
    return this.encryptBatches(count, (_, some) => this.batch.encryptZeros(key, drawScalars(random, some)));
  }

  /** Ciphertexts of points that nobody knows, under whatever key. */
  encryptRandom(count: number, random: RandomSource): Uint8Array<ArrayBuffer> {
    return this.encryptBatches(count, (_, some) =>
      this.batch.encryptRandom(drawScalars(random, some), drawScalars(random, some)),
    );
  }

  private encryptBatches(
    total: number,
    encrypt: (from: number, count: number) => void,
  ): Uint8Array<ArrayBuffer> {
    const ciphertexts = new Uint8Array(total * CIPHERTEXT_BYTES);
    this.inBatches(total, (from, count) => {
      encrypt(from, count);
      this.batch.store(ciphertexts, { at: from * CIPHERTEXT_BYTES });
    });
    return ciphertexts;
  }

  /** 1 for each ciphertext, under one key alone, that is zero. */
  zeros(ciphertexts: Uint8Array, secretKey: Uint8Array): Uint8Array<ArrayBuffer> {
    const found = new Uint8Array(ciphertexts.length / CIPHERTEXT_BYTES);
    this.inBatches(found.length, (from, count) => {
      found.set(areZero(this.curve, secretKey, ciphertexts, count, { at: from * CIPHERTEXT_BYTES }), from);
    });
    return found;
  }

  /** What is in a column under one key alone. */
  decrypt(blocks: Uint8Array, { stride, at }: Column, secretKey: Uint8Array): Uint8Array<ArrayBuffer> {
    const points = new Uint8Array((blocks.length / stride) * POINT_BYTES);
    this.inBatches(blocks.length / stride, (from, count) => {
      this.batch.load(blocks, count, { stride, at: from * stride + at });
      this.batch.decrypt(secretKey);
      this.batch.storeMessages(points, { at: from * POINT_BYTES });
    });
    return points;
  }

  points(texts: readonly string[]): Uint8Array<ArrayBuffer> {
    return mapToCurve(this.curve, texts);
  }
}
