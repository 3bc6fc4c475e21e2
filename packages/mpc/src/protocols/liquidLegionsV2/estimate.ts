/** Estimates the distribution from the registers of each frequency, and the reach as in the reach-only protocol. */
export { estimateReach } from '../reachOnlyLiquidLegionsV2/estimate.ts';

/** Returns the share of each frequency among the registers that have one; empty if no register has one. */
export function relativeFrequencies(frequencies: readonly number[]): Map<number, number> {
  const total = frequencies.reduce((sum, count) => sum + count, 0);
  const shares = frequencies.map((count, i) => [i + 1, count / total] as const);
  return new Map(shares.filter(([, share]) => share > 0));
}
