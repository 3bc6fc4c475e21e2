/** Computes which people of a population have no attributes. */
import type { VidRange } from '@measurement-exchange/contract';

/** Returns the parts of `ranges` that are in none of `others`. Neither list has two ranges that overlap. */
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
        // The other range may reach into the next one.
        if (other.end > end) break;
        next += 1;
      }
      if (from <= end) outside.push({ start: from, end });
      return outside;
    });
}
