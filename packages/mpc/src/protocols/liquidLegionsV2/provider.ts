/** A provider's sketch for reach and frequency. */
import { Fingerprints } from '../../sketches/fingerprint.ts';
import { DESTROYED, type FrequencySketchParams, MAX, RegisterIndexes } from '../../sketches/sketch.ts';

export { FREQUENCY_REGISTER_BYTES } from '../../sketches/encryptSketch.ts';

/**
 * A sketch that assigns each person to a register, and stores the person's key and the number of times that the person
 * was reached. If people with different keys share a register, its key becomes DESTROYED.
 */
export class FrequencySketch {
  /**
   * The key of each register: the person's sampling indicator (a hash of the VID) plus one, or DESTROYED. The key of an
   * empty register is meaningless.
   */
  readonly keys: Uint32Array<ArrayBuffer>;
  /** The frequency of each register, or 0 if the register is empty. */
  readonly frequencies: Uint32Array<ArrayBuffer>;
  private readonly indexes: RegisterIndexes;
  private readonly indicators = new Fingerprints('SamplingIndicator');
  private readonly indicatorCount: number;

  constructor(params: FrequencySketchParams) {
    const { maxSize, samplingIndicatorSize: size } = params;
    if (!(Number.isInteger(size) && size >= 1 && size < MAX)) {
      throw new RangeError(`samplingIndicatorSize must be a whole number from 1 to ${MAX - 1}`);
    }
    this.indexes = new RegisterIndexes(params);
    this.indicatorCount = size;
    this.keys = new Uint32Array(maxSize);
    this.frequencies = new Uint32Array(maxSize);
  }

  add(vid: number | bigint, times: number): void {
    if (times === 0) return;
    const index = this.indexes.of(vid);
    const key = this.indicatorOf(vid) + 1;
    const known = this.frequencies[index]!;
    this.keys[index] = known === 0 || this.keys[index] === key ? key : DESTROYED;
    this.frequencies[index] = Math.min(known + times, MAX);
  }

  indicatorOf(vid: number | bigint): number {
    const { high, low } = this.indicators.of(vid);
    const size = this.indicatorCount;
    // Compute the hash modulo `size`, 16 bits at a time, so that every intermediate number is exact.
    const rest = ((high % size) * 2 ** 16 + (low >>> 16)) % size;
    return (rest * 2 ** 16 + (low & 0xffff)) % size;
  }
}
