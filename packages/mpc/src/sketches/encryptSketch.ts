/**
 * Encrypts sketches, register by register. Empty registers are encrypted too, and the ciphertexts are in random order,
 * so that nobody can tell which registers are empty.
 */

import {
  CIPHERTEXT_BYTES,
  Ciphertexts,
  type Curve,
  drawScalars,
  type ElGamalPublicKey,
  mapToCurve,
  POINT_BYTES,
} from '../elGamal.ts';
import type { RandomSource } from '../privacy/random.ts';
import { uniformBelow32 } from '../privacy/random.ts';
import { countPoints, DESTROYED_KEY, NOBODY_INDEX } from './points.ts';
import { DESTROYED } from './sketch.ts';

/** The size of an encrypted register of a reach sketch, in bytes. The register contains only an index. */
export const REACH_REGISTER_BYTES = CIPHERTEXT_BYTES;
/** The size of an encrypted register of a frequency sketch, in bytes. It contains an index, a key, and a count. */
export const FREQUENCY_REGISTER_BYTES = 3 * CIPHERTEXT_BYTES;

/** Encrypts sketches under the combined key of all duchies. Each thread needs its own encrypter. */
export class SketchEncrypter {
  private readonly curve: Curve;
  private readonly key: ElGamalPublicKey;
  private readonly random: RandomSource;
  private readonly batch: Ciphertexts;
  private readonly paddingIndex: Uint8Array;
  private readonly destroyed: Uint8Array;

  constructor(curve: Curve, key: ElGamalPublicKey, random: RandomSource) {
    this.curve = curve;
    this.key = key;
    this.random = random;
    this.batch = new Ciphertexts(curve);
    this.paddingIndex = mapToCurve(curve, [NOBODY_INDEX]);
    this.destroyed = mapToCurve(curve, [DESTROYED_KEY]);
  }

  *reach({ active }: { active: Uint8Array }): Generator<Uint8Array<ArrayBuffer>> {
    for (const places of this.batches(active.length)) {
      const registers = new Uint8Array(places.length * REACH_REGISTER_BYTES);
      this.encrypt(this.indexes(places, active), registers, REACH_REGISTER_BYTES, 0);
      yield registers;
    }
  }

  /**
   * Yields the encrypted registers in batches. A count above the maximum is encrypted as the maximum plus one. An empty
   * register gets the index `NOBODY_INDEX`, and the same key and count as a destroyed register.
   */
  *frequency(
    { keys, frequencies }: Record<'keys' | 'frequencies', Uint32Array>,
    maximumFrequency: number,
  ): Generator<Uint8Array<ArrayBuffer>> {
    const stride = FREQUENCY_REGISTER_BYTES;
    const counts = countPoints(this.curve, maximumFrequency + 1);
    const hasKey = (place: number) => frequencies[place] !== 0 && keys[place] !== DESTROYED;
    for (const places of this.batches(frequencies.length)) {
      const registers = new Uint8Array(places.length * stride);
      const keyPoints = this.points(places, hasKey, (place) => `${keys[place]! - 1}`, this.destroyed);
      const countPoint = (place: number) => {
        if (!hasKey(place)) return this.destroyed;
        const count = Math.min(frequencies[place]!, maximumFrequency + 1);
        return counts.subarray((count - 1) * POINT_BYTES, count * POINT_BYTES);
      };
      this.encrypt(this.indexes(places, frequencies), registers, stride, 0);
      this.encrypt(keyPoints, registers, stride, CIPHERTEXT_BYTES);
      this.encrypt(Buffer.concat(Array.from(places, countPoint)), registers, stride, 2 * CIPHERTEXT_BYTES);
      yield registers;
    }
  }

  private indexes(places: Uint32Array, registers: Uint8Array | Uint32Array): Uint8Array {
    return this.points(places, (place) => registers[place] !== 0, String, this.paddingIndex);
  }

  /**
   * Returns one curve point per register. If `hasText` is true for a register, `textOf` returns the text that is
   * mapped to the register's point. The other registers get the point `otherwise`.
   */
  private points(
    places: Uint32Array,
    hasText: (place: number) => boolean,
    textOf: (place: number) => string,
    otherwise: Uint8Array,
  ): Uint8Array {
    const mapped = mapToCurve(this.curve, Array.from(places.filter(hasText), textOf));
    let used = 0;
    const pointOf = (place: number) => {
      if (!hasText(place)) return otherwise;
      used += POINT_BYTES;
      return mapped.subarray(used - POINT_BYTES, used);
    };
    return Buffer.concat(Array.from(places, pointOf));
  }

  private encrypt(points: Uint8Array, into: Uint8Array, stride: number, at: number): void {
    this.batch.encrypt(this.key, points, drawScalars(this.random, points.length / POINT_BYTES));
    this.batch.store(into, { stride, at });
  }

  /** Yields the indexes of all registers in random order, in batches. */
  private *batches(count: number): Generator<Uint32Array> {
    const places = new Uint32Array(count).map((_, i) => i);
    for (let i = 0; i < count; i++) {
      const other = i + uniformBelow32(count - i, this.random);
      const place = places[i]!;
      places[i] = places[other]!;
      places[other] = place;
    }
    for (let from = 0; from < count; from += this.curve.capacity) {
      yield places.subarray(from, Math.min(from + this.curve.capacity, count));
    }
  }
}
