/**
 * Decides which virtual people are in a sample. The rule of the public reference system hashes a VID to a number u in
 * [0, 1]. It then compares u with the sampling interval in 32-bit floats. This file instead compares the integer from
 * which u is computed. The result is the same, and any database engine can reproduce it exactly.
 */
import { Fingerprint64 } from './farmHash.ts';

/** The number added to a VID before hashing. */
export const VID_SALT = 1_414_214n;
/** The mask for a VID's bucket, the low 23 bits of the hash. The VID's number in [0, 1] is bucket / BUCKET_MASK. */
export const BUCKET_MASK = 0x7fffff;
export const BUCKET_COUNT = BUCKET_MASK + 1;

/** A part of the interval [0, 1]. The part can extend past 1 and continue at 0. */
export interface VidSamplingInterval {
  start: number;
  width: number;
}

/** The sampled buckets: all buckets from `from` to `to` − 1, and all buckets below `wrapTo`. */
export interface BucketRange {
  from: number;
  to: number;
  wrapTo: number;
}

const word = new DataView(new ArrayBuffer(8));
const fingerprint = new Fingerprint64(new Uint8Array(word.buffer));

/** Returns a VID's bucket (0 to 2^23 − 1), from the FarmHash Fingerprint64 of the VID plus the salt. */
export function sampleBucket(vid: bigint): number {
  if (BigInt.asIntN(64, vid) !== vid) throw new RangeError('vid must be a 64-bit signed integer');
  word.setBigInt64(0, vid + VID_SALT, true);
  fingerprint.compute(8);
  return fingerprint.low & BUCKET_MASK;
}

/**
 * Returns the buckets of an interval. Width 1 includes everybody. Any narrower interval excludes its end. A narrower
 * interval that ends at 1 therefore excludes the last bucket (one VID in 8,388,608), whose number is exactly 1.
 */
export function bucketRange({ start, width }: VidSamplingInterval): BucketRange {
  if (!(start >= 0 && start <= 1)) {
    throw new RangeError('vidSamplingInterval.start must be at least 0 and at most 1');
  }
  if (!(width > 0 && width <= 1)) {
    throw new RangeError('vidSamplingInterval.width must be above 0 and at most 1');
  }
  if (Math.fround(width) === 1) return { from: 0, to: BUCKET_COUNT, wrapTo: 0 };
  const end = Math.fround(Math.fround(start) + Math.fround(width));
  const wrapTo = bucketsBelow(Math.fround(end - 1));
  return { from: bucketsBelow(Math.fround(start)), to: bucketsBelow(end), wrapTo };
}

/** Returns whether a VID is in the sample. For many VIDs, call `bucketRange` once and compare each `sampleBucket`. */
export function isSampled(vid: bigint, interval: VidSamplingInterval): boolean {
  const { from, to, wrapTo } = bucketRange(interval);
  const bucket = sampleBucket(vid);
  return (bucket >= from && bucket < to) || bucket < wrapTo;
}

/**
 * Returns the number of buckets whose u (bucket / BUCKET_MASK) is below the bound. Uses binary search, because u never
 * decreases from bucket to bucket.
 */
function bucketsBelow(bound: number): number {
  let low = 0;
  let high = BUCKET_COUNT;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (Math.fround(middle / BUCKET_MASK) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
