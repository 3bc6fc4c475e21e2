/**
 * Computes the VID ranges of a population that belong to no subpopulation. The people in these ranges have no
 * attributes.
 */
import type { VidRange } from '@measurement-exchange/contract';

/** Returns the parts of `ranges` that are outside all `others`. The ranges within each list must not overlap. */
export function rangesOutside(ranges: readonly VidRange[], others: readonly VidRange[]): VidRange[] {
  const ascending = others.toSorted((a, b) => a.start - b.start);
  let next = 0;
  return ranges
    .toSorted((a, b) => a.start - b.start)
    .flatMap(({ start, end }) => {
      const outside: VidRange[] = [];
      let from = start;
      while (next < ascending.length && ascending[next]!.start <= end) {
        const other = ascending[next]!;
        if (other.start > from) outside.push({ start: from, end: other.start - 1 });
        from = Math.max(from, other.end + 1);
        // Keep `other` for the next range of `ranges`, because `other` may extend into that range.
        if (other.end > end) break;
        next += 1;
      }
      if (from <= end) outside.push({ start: from, end });
      return outside;
    });
}
