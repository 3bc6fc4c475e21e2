/** An interval of whole numbers that includes both ends. */
export interface Interval {
  start: bigint;
  end: bigint;
}

/** Merges intervals that overlap or touch. Returns ascending intervals that contain the same numbers. */
export function joinIntervals(intervals: Iterable<Interval>): Interval[] {
  const joined: Interval[] = [];
  for (const { start, end } of [...intervals].sort((a, b) => compare(a.start, b.start))) {
    if (end < start) continue;
    const before = joined.at(-1);
    if (before === undefined || start > before.end + 1n) joined.push({ start, end });
    else if (end > before.end) before.end = end;
  }
  return joined;
}

/** Returns the parts of `within` that are outside all the intervals. */
export function gapsBetween(intervals: Iterable<Interval>, within: Interval): Interval[] {
  const gaps: Interval[] = [];
  let next = within.start;
  for (const { start, end } of joinIntervals(intervals)) {
    if (start > next) gaps.push({ start: next, end: start - 1n });
    if (end >= next) next = end + 1n;
  }
  if (next <= within.end) gaps.push({ start: next, end: within.end });
  return gaps;
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
