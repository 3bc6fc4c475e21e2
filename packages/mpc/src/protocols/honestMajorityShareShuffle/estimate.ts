/**
 * Estimates the result from the counts that aggregate.ts computes. Never throws, even if the registers have invalid
 * values.
 */
import { NOISE_WORKERS } from '@measurement-exchange/contract/shareShuffle';
import { drawAggregatorNoise, Keystream, type MpcNoise } from '../../shares.ts';
import type { ShareShuffleParameters } from './limits.ts';

export interface ShareShuffleEstimate {
  reach: number;
  /**
   * The share of each frequency among the people reached. The maximum frequency means "or more". Frequencies with share
   * 0 are omitted, so the map is empty if nobody was reached. Undefined for a reach measurement.
   */
  relativeFrequencyDistribution?: Map<number, number>;
}

export interface EstimateInput {
  /** The result of `countValues`. */
  counts: Float64Array;
  /** The width of the sampling interval, a 32-bit float in the spec. */
  width: number;
  /**
   * A seed that only the aggregator knows. The caller stores it before the estimate, so that a retry releases the same
   * noise.
   */
  noiseSeed: Uint8Array;
}

export function estimate(parameters: ShareShuffleParameters, input: EstimateInput): ShareShuffleEstimate {
  const random = new Keystream(input.noiseSeed);
  /** Subtracts the mean of the workers' noise, and adds the aggregator's noise. */
  const released = (count: number, noise: MpcNoise) =>
    count - NOISE_WORKERS * noise.offset + drawAggregatorNoise(noise, random);
  return parameters.measurementType === 'REACH'
    ? estimateReach(parameters, input, released)
    : estimateFrequencies(parameters, input, released);
}

type Release = (count: number, noise: MpcNoise) => number;

function estimateReach(
  { registerCount, reachNoise }: ShareShuffleParameters,
  { counts, width }: EstimateInput,
  released: Release,
): ShareShuffleEstimate {
  const nonZero = counts.reduce((sum, count) => sum + count, 0) - counts[0]!;
  return { reach: scaled(clamp(released(nonZero, reachNoise), registerCount), width) };
}

/**
 * Estimates the frequency distribution. Each register stands for one person, and its value is the person's frequency.
 * The noisy counts cover value 0 and each value below the maximum frequency. All remaining registers count as the
 * maximum frequency, even registers with a value that honest providers cannot produce, because the shares of all
 * frequencies must add up to 1.
 */
function estimateFrequencies(
  { registerCount, maximumFrequency, reachNoise, frequencyNoise }: ShareShuffleParameters,
  { counts, width }: EstimateInput,
  released: Release,
): ShareShuffleEstimate {
  const people = Array.from({ length: maximumFrequency }, (_, frequency) =>
    Math.max(0, released(counts[frequency]!, frequency === 0 ? reachNoise : frequencyNoise)),
  );
  const reached = clamp(registerCount - people[0]!, registerCount);
  if (reached === 0) return { reach: 0, relativeFrequencyDistribution: new Map() };
  const known = people.reduce((sum, count) => sum + count, 0);
  people[maximumFrequency] = Math.max(0, registerCount - known);
  const total = Math.max(registerCount, known) - people[0]!;
  const distribution = people
    .map((count, frequency) => [frequency, count / total] as const)
    .filter(([frequency, share]) => frequency > 0 && share > 0);
  return { reach: scaled(reached, width), relativeFrequencyDistribution: new Map(distribution) };
}

function clamp(value: number, most: number): number {
  return Math.min(Math.max(0, value), most);
}

function scaled(reached: number, width: number): number {
  return Math.trunc(reached / Math.fround(width));
}
