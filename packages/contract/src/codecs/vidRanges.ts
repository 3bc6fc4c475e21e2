/**
 * Converts a population's ranges of VIDs (virtual person IDs) to a canonical form, so that all parties compute the same
 * fingerprint.
 */
import type { VidRange } from './population.ts';

/** Sorts the ranges and joins adjacent ones. Throws a RangeError if ranges overlap or a range ends before it starts. */
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

/** Returns the number of VIDs in ranges that do not overlap. */
export function populationSize(ranges: readonly VidRange[]): number {
  return ranges.reduce((sum, { start, end }) => sum + end - start + 1, 0);
}

/**
 * Returns the bytes whose SHA-256 is a population's fingerprint: the canonical ranges, each as two big-endian uint32
 * values. Splitting a range in two does not change the fingerprint.
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
