/** Returns how many decimals, at least `least`, tell the ends of an interval apart. A rate of 3.5 % may have 3.52 to 3.53. */
export function digitsFor(low: number, high: number, least: number): number {
  const width = high - low;
  return width > 0 && width < 1
    ? Math.min(MOST_DIGITS, Math.max(least, Math.ceil(-Math.log10(width))))
    : least;
}

const MOST_DIGITS = 6;
