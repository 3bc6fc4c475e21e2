/** From the counts of values to the figures of the result. */
import { ShareShuffleError } from './aggregate.ts';
import type { ShareShuffleParameters } from './parameters.ts';

export interface ShareShuffleEstimate {
  reach: number;
  /** By frequency, the share of the people reached; the last is of those reached that often or more. */
  relativeFrequencyDistribution?: Map<number, number>;
}

/** `counts` is of `countValues`; `width` of the interval of the spec, in which it is a 32-bit float. */
export function estimate(
  parameters: ShareShuffleParameters,
  counts: Float64Array,
  width: number,
): ShareShuffleEstimate {
  return parameters.measurementType === 'REACH'
    ? { reach: scaled(reachedOf(parameters, counts), width) }
    : estimateFrequencies(parameters, counts, width);
}

/** The noise of both workers, on average. */
function baseline(noise: { offset: number }): number {
  return 2 * noise.offset;
}

function reachedOf({ registerCount, reachNoise }: ShareShuffleParameters, counts: Float64Array): number {
  const nonZero = counts.reduce((sum, count) => sum + count, 0) - counts[0]!;
  return clamp(nonZero - baseline(reachNoise), registerCount);
}

function estimateFrequencies(
  parameters: ShareShuffleParameters,
  counts: Float64Array,
  width: number,
): ShareShuffleEstimate {
  const { modulus, registerCount, maximumFrequency, maximumSum, reachNoise, frequencyNoise } = parameters;
  for (let value = maximumSum + 1; value < modulus - 1; value++) {
    if (counts[value] === 0) continue;
    throw new ShareShuffleError(
      `a register adds up to ${value}, and ${maximumSum} is the most that providers can report: ` +
        'a provider or a worker sent a share that is not valid',
    );
  }
  const reached = clamp(registerCount - counts[0]! + baseline(reachNoise), registerCount);
  const people = Array.from({ length: maximumFrequency }, (_, frequency) =>
    Math.max(0, counts[frequency]! - baseline(frequency === 0 ? reachNoise : frequencyNoise)),
  );
  const known = people.reduce((sum, count) => sum + count, 0);
  people[maximumFrequency] = Math.max(0, registerCount - known);
  const total = Math.max(registerCount, known) - people[0]!;
  if (total === 0) {
    throw new ShareShuffleError('nobody was reached, so there is no distribution of frequencies');
  }
  const distribution = people
    .map((count, frequency) => [frequency, count / total] as const)
    .filter(([frequency, share]) => frequency > 0 && share > 0);
  return { reach: scaled(reached, width), relativeFrequencyDistribution: new Map(distribution) };
}

function clamp(value: number, most: number): number {
  return Math.min(Math.max(0, value), most);
}

/** From the sample to the population. */
function scaled(reached: number, width: number): number {
  return Math.trunc(reached / Math.fround(width));
}
