/** From the registers of each frequency to the distribution; the reach is estimated as in the reach-only protocol. */
export { estimateReach } from '../reachOnlyLiquidLegionsV2/estimate.ts';

/** By frequency, the share of the registers that have one; none if no register has. */
export function relativeFrequencies(frequencies: readonly number[]): Map<number, number> {
  const total = frequencies.reduce((sum, count) => sum + count, 0);
  const shares = frequencies.map((count, i) => [i + 1, count / total] as const);
  return new Map(shares.filter(([, share]) => share > 0));
}
