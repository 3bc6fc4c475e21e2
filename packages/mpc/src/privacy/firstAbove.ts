/**
 * Returns the smallest number of people for which an increasing function is at least `value`. Returns 0 if the function
 * starts at `value` or above, and Infinity if it is still below `value` at more than 2^53 − 1 people. The result may be
 * too high, by a relative error of at most `precision`. The search starts at `guess`.
 */
export function firstAbove(
  of: (people: number) => number,
  value: number,
  { guess = 1, precision = 1e-6 } = {},
): number {
  let [low, atLow] = [0, of(0) - value];
  if (atLow >= 0) return 0;
  let high = Math.max(1, guess);
  let atHigh = of(high) - value;
  while (atHigh < 0) {
    if (high > Number.MAX_SAFE_INTEGER) return Number.POSITIVE_INFINITY;
    [low, atLow] = [high, atHigh];
    high *= 4;
    atHigh = of(high) - value;
  }
  // Use the Illinois method (a variant of regula falsi) on the logarithm of the number of people. `of` returns a number
  // of registers, which grows almost linearly with this logarithm.
  let repeated: 'low' | 'high' | undefined;
  while (high - low > precision * high) {
    const [x0, x1] = [Math.log1p(low), Math.log1p(high)];
    const crossing = Math.expm1((x0 * atHigh - x1 * atLow) / (atHigh - atLow));
    const people = crossing > low && crossing < high ? crossing : (low + high) / 2;
    const at = of(people) - value;
    if (at < 0) {
      [low, atLow] = [people, at];
      if (repeated === 'low') atHigh /= 2;
      repeated = 'low';
    } else {
      [high, atHigh] = [people, at];
      if (repeated === 'high') atLow /= 2;
      repeated = 'high';
    }
  }
  return high;
}
