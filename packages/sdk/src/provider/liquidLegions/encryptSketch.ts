/**
 * Sketches as encrypted registers. Only registers that have somebody are there, in a random order: what the ciphertexts hide
 * must not show in their place.
 */
import type { RandomSource } from '../../privacy/random.ts';
import { uniformBelow32 } from '../../privacy/random.ts';
import {
  CIPHERTEXT_BYTES,
  Ciphertexts,
  type Curve,
  drawScalars,
  type ElGamalPublicKey,
  mapToCurve,
  POINT_BYTES,
} from '../elGamal/index.ts';
import { countPoints, DESTROYED_KEY } from './points.ts';
import { DESTROYED, type FrequencySketch, type ReachSketch } from './sketch.ts';

/** A register of a reach: its index. */
export const REACH_REGISTER_BYTES = CIPHERTEXT_BYTES;
/** A register with a frequency: its index, key and count. */
export const FREQUENCY_REGISTER_BYTES = 3 * CIPHERTEXT_BYTES;

/** Encrypts under the combined key of all duchies. One per thread. */
export class SketchEncrypter {
  private readonly curve: Curve;
  private readonly key: ElGamalPublicKey;
  private readonly random: RandomSource;
  private readonly batch: Ciphertexts;

  constructor(curve: Curve, key: ElGamalPublicKey, random: RandomSource) {
    this.curve = curve;
    this.key = key;
    this.random = random;
    this.batch = new Ciphertexts(curve);
  }

  /** The registers, some of them at a time. */
  *reach(sketch: ReachSketch): Generator<Uint8Array<ArrayBuffer>> {
    for (const indexes of this.batches(sketch.active)) {
      const registers = new Uint8Array(indexes.length * REACH_REGISTER_BYTES);
      this.encrypt(mapToCurve(this.curve, Array.from(indexes, String)), registers, REACH_REGISTER_BYTES, 0);
      yield registers;
    }
  }

  /** Counts above the maximum are encrypted as one more than it. */
  *frequency(sketch: FrequencySketch, maximumFrequency: number): Generator<Uint8Array<ArrayBuffer>> {
    const stride = FREQUENCY_REGISTER_BYTES;
    const most = maximumFrequency + 1;
    const counts = countPoints(this.curve, most);
    const destroyed = mapToCurve(this.curve, [DESTROYED_KEY]);
    for (const indexes of this.batches(sketch.frequencies)) {
      const registers = new Uint8Array(indexes.length * stride);
      const keys = Array.from(indexes, (index) =>
        sketch.keys[index] === DESTROYED ? DESTROYED_KEY : String(sketch.keys[index]! - 1),
      );
      const countOf = (index: number) => {
        if (sketch.keys[index] === DESTROYED) return destroyed;
        const count = Math.min(sketch.frequencies[index]!, most);
        return counts.subarray((count - 1) * POINT_BYTES, count * POINT_BYTES);
      };
      this.encrypt(mapToCurve(this.curve, Array.from(indexes, String)), registers, stride, 0);
      this.encrypt(mapToCurve(this.curve, keys), registers, stride, CIPHERTEXT_BYTES);
      this.encrypt(Buffer.concat(Array.from(indexes, countOf)), registers, stride, 2 * CIPHERTEXT_BYTES);
      yield registers;
    }
  }

  private encrypt(points: Uint8Array, into: Uint8Array, stride: number, at: number): void {
    this.batch.encrypt(this.key, points, drawScalars(this.random, points.length / POINT_BYTES));
    this.batch.store(into, { stride, at });
  }

  /** The places that are not 0, in a random order. */
  private *batches(registers: Uint8Array | Uint32Array): Generator<Uint32Array> {
    const indexes = new Uint32Array(registers.length);
    let count = 0;
    for (let i = 0; i < registers.length; i++) if (registers[i] !== 0) indexes[count++] = i;
    for (let i = 0; i < count; i++) {
      const place = i + uniformBelow32(count - i, this.random);
      const index = indexes[i]!;
      indexes[i] = indexes[place]!;
      indexes[place] = index;
    }
    for (let from = 0; from < count; from += this.curve.capacity) {
      yield indexes.subarray(from, Math.min(from + this.curve.capacity, count));
    }
  }
}
