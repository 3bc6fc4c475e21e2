/**
 * Returns the number of decimals that distinguish the ends of an interval, but at least `least`. For example, the
 * interval from 3.52 to 3.54 needs two decimals.
 */
export function digitsFor(low: number, high: number, least: number): number {
  const width = high - low;
  return width > 0 && width < 1
    ? Math.min(MOST_DIGITS, Math.max(least, Math.ceil(-Math.log10(width))))
    : least;
}

const MOST_DIGITS = 6;
