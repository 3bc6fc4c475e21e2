/** The one form of a population's ranges that everybody orders, counts and hashes. */
import type { VidRange } from './population.ts';

/** In ascending order, with ranges that touch each other joined. Throws a RangeError that names ranges that overlap. */
export function canonicalRanges(ranges: readonly VidRange[]): VidRange[] {
  const canonical: VidRange[] = [];
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start)) {
    const before = canonical.at(-1);
    if (end < start) throw new RangeError(`the VID range ${start}-${end} must not end before it starts`);
    if (before !== undefined && start <= before.end) {
      throw new RangeError(
        `the VID ranges ${before.start}-${before.end} and ${start}-${end} must not overlap`,
      );
    }
    if (before !== undefined && start === before.end + 1) before.end = end;
    else canonical.push({ start, end });
  }
  return canonical;
}

/** How many VIDs disjoint ranges hold. */
export function populationSize(ranges: readonly VidRange[]): number {
  return ranges.reduce((sum, { start, end }) => sum + end - start + 1, 0);
}

/**
 * The bytes that the fingerprint of a population is the SHA-256 of: its canonical ranges, each as two big-endian uint32.
 * The same VIDs have the same fingerprint, in whatever ranges they were written down.
 */
export function populationBytes(ranges: readonly VidRange[]): Uint8Array {
  const canonical = canonicalRanges(ranges);
  const bytes = new Uint8Array(canonical.length * 8);
  const view = new DataView(bytes.buffer);
  canonical.forEach(({ start, end }, i) => {
    view.setUint32(i * 8, start);
    view.setUint32(i * 8 + 4, end);
  });
  return bytes;
}
