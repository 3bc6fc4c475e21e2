/**
 * Rounds numbers of people to whole numbers by the largest-remainder method. A report adds up these whole numbers to
 * compute its figures, so the figures are consistent with each other. The solver keeps the sum of all people within the
 * population (`most`) only approximately. This function enforces the limit exactly.
 */
export function rounded(fitted: readonly number[], most = Number.POSITIVE_INFINITY): number[] {
  const sum = fitted.reduce((total, value) => total + value, 0);
  const people = sum > most ? fitted.map((value) => (value * most) / sum) : fitted;
  const whole = people.map(Math.floor);
  const total = Math.round(Math.min(sum, most));
  const missing = total - whole.reduce((before, value) => before + value, 0);
  const order = people
    .map((value, i) => [value - whole[i]!, i] as const)
    .sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  for (const [, i] of order.slice(0, missing)) whole[i]! += 1;
  return whole;
}
