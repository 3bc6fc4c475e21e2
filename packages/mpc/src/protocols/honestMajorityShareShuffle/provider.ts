/**
 * A provider's part of the protocol. The provider counts how often it reached each person in the sample, and splits the
 * counts into two shares.
 */
import {
  registerOf,
  type SampledRegisters,
  sampledRegisters,
} from '@measurement-exchange/contract/shareShuffle';
import type { VidSamplingInterval } from '../../privacy/vidSampling.ts';
import { valuesPrefix } from '../../shares/framing.ts';
import { Keystream, UniformValues } from '../../shares/keystream.ts';
import { subtractWords, wordAligned, wordsOf } from '../../shares/ring.ts';
import type { VidIndex } from '../../shares/vidIndex.ts';

/**
 * The frequency of each register, limited to `cap`. The cap is 1 for reach, and the maximum frequency for reach and
 * frequency.
 */
export class FrequencyVector {
  readonly frequencies: Uint8Array<ArrayBuffer>;
  private readonly index: VidIndex;
  private readonly sample: SampledRegisters;
  private readonly cap: number;

  constructor(index: VidIndex, interval: VidSamplingInterval, cap: number) {
    if (!(Number.isInteger(cap) && cap >= 1 && cap <= 0x7f)) {
      throw new RangeError('cap must be a whole number from 1 to 127');
    }
    this.index = index;
    this.sample = sampledRegisters(index.size, interval);
    this.cap = cap;
    this.frequencies = wordAligned(this.sample.count);
  }

  /**
   * Adds `times` to a person's frequency if the person is in the sample. Returns false if the VID is not in the
   * population.
   */
  add(vid: number, times: number): boolean {
    const index = this.index.of(vid);
    if (index < 0) return false;
    const register = registerOf(this.sample, index);
    if (register >= 0) {
      this.frequencies[register] = Math.min(this.cap, this.frequencies[register]! + times);
    }
    return true;
  }
}

/** The number of values in a chunk. A chunk takes a few milliseconds to compute. */
const CHUNK = 1 << 19;

/**
 * Yields the share to upload, as the bytes of a `FrequencyVector` message. The share is the frequencies minus the other
 * share, which is expanded from the seed. The caller should let the event loop run between chunks.
 */
export function* uploadChunks(
  frequencies: Uint8Array,
  seed: Uint8Array,
  modulus: number,
): Generator<Uint8Array<ArrayBuffer>> {
  const prefix = valuesPrefix(frequencies.length);
  if (prefix.length > 0) yield prefix;
  const expanded = new UniformValues(new Keystream(seed), modulus, frequencies.length);
  const other = wordAligned(Math.min(CHUNK, frequencies.length));
  for (let at = 0; at < frequencies.length; at += CHUNK) {
    const given = frequencies.subarray(at, at + CHUNK);
    const share = wordAligned(given.length);
    share.set(given);
    expanded.fill(other.subarray(0, given.length));
    const words = wordsOf(share);
    subtractWords(modulus, words, 0, wordsOf(other), words.length);
    yield share;
  }
}
