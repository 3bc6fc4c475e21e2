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
import { LiquidLegionsError } from './errors.ts';

/** One ciphertext of each block. */
export interface Column {
  /** Size of a block. */
  stride: number;
  /** Where in its block the ciphertext is. */
  at: number;
}

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

  /** A public key from a compressed point. */
  key(bytes: Uint8Array): ElGamalPublicKey {
    const name = Buffer.from(bytes).toString('hex');
    const key = this.keys.get(name) ?? new ElGamalPublicKey(this.curve, bytes);
    this.keys.set(name, key);
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

  /** Encrypts points to a column. */
  encrypt(
    points: Uint8Array,
    key: ElGamalPublicKey,
    random: RandomSource,
    into: Uint8Array,
    { stride, at }: Column = ALONE,
  ): void {
    this.inBatches(points.length / POINT_BYTES, (from, count) => {
      this.batch.encrypt(key, points, drawScalars(random, count), { at: from * POINT_BYTES });
      this.batch.store(into, { stride, at: from * stride + at });
    });
  }

  encryptZeros(count: number, key: ElGamalPublicKey, random: RandomSource): Uint8Array<ArrayBuffer> {
    const zeros = new Uint8Array(count * CIPHERTEXT_BYTES);
    this.inBatches(count, (from, some) => {
      this.batch.encryptZeros(key, drawScalars(random, some));
      this.batch.store(zeros, { at: from * CIPHERTEXT_BYTES });
    });
    return zeros;
  }

  /** 1 for each ciphertext of a column, under one key alone, that is zero. */
  zeros(blocks: Uint8Array, { stride, at }: Column, secretKey: Uint8Array): Uint8Array<ArrayBuffer> {
    const found = new Uint8Array(blocks.length / stride);
    this.inBatches(found.length, (from, count) => {
      found.set(areZero(this.curve, secretKey, blocks, count, { stride, at: from * stride + at }), from);
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

export function checkBlocks(bytes: Uint8Array, size: number, what: string): void {
  if (bytes.length % size === 0) return;
  throw new LiquidLegionsError(
    `${what} must be whole blocks of ${size} bytes, and ${bytes.length} bytes came`,
  );
}
