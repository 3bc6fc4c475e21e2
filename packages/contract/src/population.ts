/** The bytes that stand for the people of a population: its fingerprint is their SHA-256. */
import type { VidRange } from './codecs/population.ts';

/**
 * The ranges in ascending order, adjacent ones merged, each as two big-endian uint32: the same people have the same bytes,
 * however their ranges are written. The ranges are disjoint.
 */
export function populationBytes(ranges: readonly VidRange[]): Uint8Array {
  const merged: VidRange[] = [];
  for (const range of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last !== undefined && last.end + 1 === range.start) last.end = range.end;
    else merged.push({ ...range });
  }
  const bytes = new DataView(new ArrayBuffer(8 * merged.length));
  merged.forEach(({ start, end }, i) => {
    bytes.setUint32(8 * i, start);
    bytes.setUint32(8 * i + 4, end);
  });
  return new Uint8Array(bytes.buffer);
}
