/**
 * Estimates the frequency distribution from the number of registers at each frequency. The reach is estimated as in the
 * reach-only protocol.
 */
export { estimateReach } from '../reachOnlyLiquidLegionsV2/estimate.ts';

/**
 * Returns the share of each frequency among the registers that have a frequency. Frequencies with share 0 are omitted,
 * so the map is empty if no register has a frequency.
 */
export function relativeFrequencies(frequencies: readonly number[]): Map<number, number> {
  const total = frequencies.reduce((sum, count) => sum + count, 0);
  const shares = frequencies.map((count, i) => [i + 1, count / total] as const);
  return new Map(shares.filter(([, share]) => share > 0));
}
