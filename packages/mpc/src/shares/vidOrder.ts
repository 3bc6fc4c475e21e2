/**
 * Sorts the VIDs of a population into the order that all providers share. The sort key is the FarmHash Fingerprint64 of
 * the VID and a salt, as a signed number. VIDs with equal hashes are sorted by VID. A VID's index is its position in
 * this order.
 */
import type { VidRange } from '@measurement-exchange/contract';
import { hashVid } from '../privacy/farmHash.ts';

/** Numbers the VIDs of ascending ranges consecutively. The first VID of the first range has position 0. */
export class VidPositions {
  readonly size: number;
  private readonly starts: Float64Array;
  private readonly ends: Float64Array;
  /** For each range, the number to subtract from a VID to get its position. */
  private readonly shifts: Float64Array;

  constructor(ranges: readonly VidRange[]) {
    this.starts = Float64Array.from(ranges, ({ start }) => start);
    this.ends = Float64Array.from(ranges, ({ end }) => end);
    let size = 0;
    this.shifts = Float64Array.from(ranges, ({ start, end }) => {
      const shift = start - size;
      size += end - start + 1;
      return shift;
    });
    this.size = size;
  }

  of(vid: number): number {
    let low = 0;
    let high = this.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.starts[middle]! <= vid) low = middle;
      else high = middle - 1;
    }
    return vid >= this.starts[low]! && vid <= this.ends[low]! ? vid - this.shifts[low]! : -1;
  }
}

/** The target size of a bucket: the number of VIDs that can be sorted in the processor's caches. */
const BUCKET_SIZE = 2048;
/**
 * The number of hash bits that divide a bucket into smaller buckets. They come right after the bits that choose the
 * bucket.
 */
const INNER_BITS = 10;

/**
 * Returns one element for each VID, in the order of the ranges, which must be ascending. Each element is the VID's
 * index in the order of the hashes. To find the indexes, the function puts the VIDs into buckets by the first bits of
 * their hashes, and then sorts each bucket.
 */
export function orderVids(ranges: readonly VidRange[]): Uint32Array<ArrayBuffer> {
  const positions = new VidPositions(ranges);
  const { size } = positions;
  const bits = Math.max(1, Math.ceil(Math.log2(size / BUCKET_SIZE)));
  const buckets = new Uint32Array(2 ** bits);
  for (const { start, end } of ranges) countBuckets(start, end, 32 - bits, buckets);
  const largest = buckets.reduce((most, count) => Math.max(most, count), 0);
  const sorter = new BucketSorter(bits, largest);
  startsOf(buckets);
  const ordered = new Uint32Array(size);
  for (const { start, end } of ranges) fillBuckets(start, end, 32 - bits, buckets, ordered);
  const indexes = new Uint32Array(size);
  let from = 0;
  for (const to of buckets) {
    const vids = sorter.sorted(ordered.subarray(from, to));
    for (let i = 0; i < vids.length; i++) indexes[positions.of(vids[i]!)] = from + i;
    from = to;
  }
  return indexes;
}

function countBuckets(start: number, end: number, shift: number, counts: Uint32Array): void {
  const hash = new Int32Array(2);
  for (let vid = start; vid <= end; vid++) {
    hashVid(vid, hash);
    counts[unsigned(hash[0]!) >>> shift]!++;
  }
}

/**
 * Puts VIDs into the buckets. At the start, places[bucket] is the start of the bucket. Each VID that is put into the
 * bucket increases places[bucket] by one.
 */
function fillBuckets(start: number, end: number, shift: number, places: Uint32Array, ordered: Uint32Array) {
  const hash = new Int32Array(2);
  for (let vid = start; vid <= end; vid++) {
    hashVid(vid, hash);
    const bucket = unsigned(hash[0]!) >>> shift;
    const place = places[bucket]!;
    ordered[place] = vid;
    places[bucket] = place + 1;
  }
}

/** Replaces the count of VIDs in each bucket with the position where the bucket starts. */
function startsOf(counts: Uint32Array): void {
  let place = 0;
  for (let bucket = 0; bucket < counts.length; bucket++) {
    const count = counts[bucket]!;
    counts[bucket] = place;
    place += count;
  }
}

/** Flips the sign bit of a hash's high half, so that unsigned numbers sort in the order of the signed hashes. */
function unsigned(high: number): number {
  return (high ^ 0x80000000) >>> 0;
}

/** Sorts VIDs whose hashes share the first `bits` bits. VIDs with equal hashes keep their original order. */
class BucketSorter {
  private readonly bits: number;
  private readonly hash = new Int32Array(2);
  private readonly places = new Uint32Array(2 ** INNER_BITS);
  private readonly given: { highs: Uint32Array; lows: Uint32Array };
  private readonly sorting: { highs: Uint32Array; lows: Uint32Array; vids: Uint32Array };

  constructor(bits: number, size: number) {
    this.bits = bits;
    const array = () => new Uint32Array(size);
    this.given = { highs: array(), lows: array() };
    this.sorting = { highs: array(), lows: array(), vids: array() };
  }

  /** Returns the VIDs sorted by their hashes. The next call overwrites the result. */
  sorted(vids: Uint32Array): Uint32Array {
    this.hashAll(vids);
    startsOf(this.places);
    this.placeAll(vids);
    this.insertAll(vids.length);
    return this.sorting.vids.subarray(0, vids.length);
  }

  private hashAll(vids: Uint32Array): void {
    const { bits, hash, places } = this;
    const { highs, lows } = this.given;
    places.fill(0);
    for (let i = 0; i < vids.length; i++) {
      hashVid(vids[i]!, hash);
      const high = unsigned(hash[0]!);
      highs[i] = high;
      lows[i] = hash[1]!;
      places[(high << bits) >>> (32 - INNER_BITS)]!++;
    }
  }

  private placeAll(vids: Uint32Array): void {
    const { bits, given, sorting, places } = this;
    for (let i = 0; i < vids.length; i++) {
      const high = given.highs[i]!;
      const inner = (high << bits) >>> (32 - INNER_BITS);
      const place = places[inner]!;
      places[inner] = place + 1;
      sorting.highs[place] = high;
      sorting.lows[place] = given.lows[i]!;
      sorting.vids[place] = vids[i]!;
    }
  }

  /** Sorts by hash with insertion sort, which is fast because almost every VID is already at its final position. */
  private insertAll(count: number): void {
    const { highs, lows, vids } = this.sorting;
    for (let i = 1; i < count; i++) {
      const high = highs[i]!;
      const low = lows[i]!;
      const vid = vids[i]!;
      let place = i;
      for (; place > 0; place--) {
        const before = highs[place - 1]!;
        if (before < high || (before === high && lows[place - 1]! <= low)) break;
        highs[place] = before;
        lows[place] = lows[place - 1]!;
        vids[place] = vids[place - 1]!;
      }
      highs[place] = high;
      lows[place] = low;
      vids[place] = vid;
    }
  }
}
