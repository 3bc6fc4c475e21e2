/**
 * Rounds numbers of people by the largest-remainder method. Figures are sums of these whole numbers, so they still add up.
 */
export function rounded(people: readonly number[]): number[] {
  const whole = people.map(Math.floor);
  const total = Math.round(people.reduce((sum, value) => sum + value, 0));
  const missing = total - whole.reduce((sum, value) => sum + value, 0);
  const order = people
    .map((value, i) => [value - whole[i]!, i] as const)
    .sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  for (const [, i] of order.slice(0, missing)) whole[i]! += 1;
  return whole;
}
