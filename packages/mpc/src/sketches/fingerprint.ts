import { Fingerprint64 } from '../privacy/farmHash.ts';

const PREFIX = 'AnySketchFingerprint:';
const MAX_BYTES = 64;
const ZERO = 0x30;

/** Computes the hashes that sketches need. The hash input is the text `AnySketchFingerprint:<VID>:<name>`. */
export class Fingerprints {
  private readonly bytes = new Uint8Array(MAX_BYTES);
  private readonly hash = new Fingerprint64(this.bytes);
  private readonly suffix: Uint8Array;

  constructor(name: 'Index' | 'SamplingIndicator') {
    this.bytes.set(new TextEncoder().encode(PREFIX));
    this.suffix = new TextEncoder().encode(`:${name}`);
  }

  /** Returns an object with the result in `high` and `low`. The next call overwrites the object. */
  of(vid: number | bigint): Fingerprint64 {
    const { bytes, suffix, hash } = this;
    let at = typeof vid === 'number' && vid <= 0xffffffff ? this.writeDigits(vid) : this.writeText(`${vid}`);
    for (let i = 0; i < suffix.length; i++) bytes[at++] = suffix[i]!;
    hash.compute(at);
    return hash;
  }

  /**
   * Writes a VID's digits and returns the index after the last digit. Creating a string for each VID would be slow,
   * because there are millions of VIDs.
   */
  private writeDigits(vid: number): number {
    let digits = 1;
    for (let least = 10; vid >= least; least *= 10) digits++;
    const end = PREFIX.length + digits;
    for (let at = end - 1, rest = vid >>> 0; at >= PREFIX.length; at--) {
      const next = (rest / 10) >>> 0;
      this.bytes[at] = ZERO + rest - 10 * next;
      rest = next;
    }
    return end;
  }

  private writeText(text: string): number {
    for (let i = 0; i < text.length; i++) this.bytes[PREFIX.length + i] = text.charCodeAt(i);
    return PREFIX.length + text.length;
  }
}
