/** Sorts and checks ranges of VIDs (virtual person IDs). */
import type { VidRange, Violation } from '@measurement-exchange/contract';

export function ascending(ranges: readonly VidRange[]): VidRange[] {
  return ranges.toSorted((a, b) => a.start - b.start);
}

export function isSameRange(a: VidRange, b: VidRange): boolean {
  return a.start === b.start && a.end === b.end;
}

/** Finds ranges that end before they start, and ranges that overlap. `field` names a range in the request. */
export function rangeViolations(ranges: readonly (VidRange & { field: string })[]): Violation[] {
  const violations: Violation[] = [];
  let [reached, reaching] = [0, ''];
  for (const { start, end, field } of ranges.toSorted((a, b) => a.start - b.start)) {
    if (end < start) violations.push({ field: `${field}.end`, description: 'must not be before start' });
    if (start <= reached) violations.push({ field, description: `overlaps ${reaching}` });
    if (end > reached) [reached, reaching] = [end, field];
  }
  return violations;
}
