/**
 * Which virtual people are in a sample. The public rule hashes a VID to u in [0, 1] and compares u with the
 * interval in 32-bit floats; here the same decision is made on the integer behind u, so that any engine can
 * make it exactly.
 */

/** Added to a VID before it is hashed. */
export const VID_SALT = 1_414_214n;
/** FarmHash's constant k2, and its multiplier for an input of 8 bytes. */
export const FARMHASH_K2 = 0x9ae16a3b2f90404fn;
export const FARMHASH_MUL_8 = FARMHASH_K2 + 16n;
/** A bucket is the low 23 bits of the hash; u = bucket / BUCKET_MASK. */
export const BUCKET_MASK = 0x7fffff;
export const BUCKET_COUNT = BUCKET_MASK + 1;

/** A stretch of the unit interval; it may run over the end and continue at 0. */
export interface VidSamplingInterval {
  start: number;
  width: number;
}

/** A bucket is sampled when `from` ≤ bucket < `to`, or bucket < `wrapTo`. */
export interface BucketRange {
  from: number;
  to: number;
  wrapTo: number;
}

/** The bucket (0 … 2^23 − 1) of a VID: FarmHash Fingerprint64 of its 8 bytes, in closed form. */
export function sampleBucket(vid: bigint): number {
  if (BigInt.asIntN(64, vid) !== vid) throw new RangeError('vid must be a 64-bit signed integer');
  const word = u64(vid + VID_SALT);
  const shifted = u64(word + FARMHASH_K2);
  const c = u64(rotateRight(word, 37n) * FARMHASH_MUL_8 + shifted);
  const d = u64((rotateRight(shifted, 25n) + word) * FARMHASH_MUL_8);
  let x = u64((c ^ d) * FARMHASH_MUL_8);
  x ^= x >> 47n;
  let y = u64((d ^ x) * FARMHASH_MUL_8);
  y ^= y >> 47n;
  return Number(u64(y * FARMHASH_MUL_8) & BigInt(BUCKET_MASK));
}

/**
 * The buckets of an interval. Width 1 is everybody: by the float rule alone u = 1, one VID in 8,388,608,
 * would be in no interval that ends at 1.
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
  return {
    from: bucketsBelow(Math.fround(start)),
    to: bucketsBelow(end),
    wrapTo: bucketsBelow(Math.fround(end - 1)),
  };
}

/** Whether a VID is in the sample. For many VIDs take `bucketRange` once and compare `sampleBucket`. */
export function isSampled(vid: bigint, interval: VidSamplingInterval): boolean {
  const { from, to, wrapTo } = bucketRange(interval);
  const bucket = sampleBucket(vid);
  return (bucket >= from && bucket < to) || bucket < wrapTo;
}

/** How many buckets have u below the bound. u never falls from one bucket to the next, so halving finds it. */
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

function u64(value: bigint): bigint {
  return BigInt.asUintN(64, value);
}

function rotateRight(word: bigint, by: bigint): bigint {
  return u64((word >> by) | (word << (64n - by)));
}
