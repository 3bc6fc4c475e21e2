/**
 * Returns the number of decimals to show for an interval: the smallest number, from `least` to MOST_DIGITS, that is
 * enough. A number is enough if the rounded ends differ and one unit of the last decimal is at most the width. If no
 * number is enough, returns MOST_DIGITS or `least`, whichever is larger. If the ends are equal, returns `least`. For
 * example, the interval from 3.52 to 3.54 needs two decimals.
 */
export function digitsFor(low: number, high: number, least: number): number {
  if (!(low < high)) return least;
  // The ends and their difference are rounded to doubles, so the difference may be too small by up to this much.
  const rounding = 2 * Number.EPSILON * (Math.abs(low) + Math.abs(high));
  const isEnough = (digits: number) =>
    high - low + rounding >= 10 ** -digits && low.toFixed(digits) !== high.toFixed(digits);
  let digits = least;
  while (digits < MOST_DIGITS && !isEnough(digits)) digits++;
  return digits;
}

const MOST_DIGITS = 6;
