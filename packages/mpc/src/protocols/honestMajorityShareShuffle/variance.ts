/**
 * Computes the error of Honest Majority Share Shuffle results. The sample is drawn without replacement from a
 * population of known size. The aggregator counts the registers at 0 (with the reach noise) and at each frequency below
 * the maximum (each with separate noise). All remaining registers count as the maximum frequency.
 */
import { NORMAL_95 } from '../../privacy/variance.ts';

export interface ShareShuffleReachParams {
  reach: number;
  /** The number of people in the sample, one per register. The methodology in the result states this number. */
  frequencyVectorSize: number;
  width: number;
  /**
   * The variance of the duchies' combined noise. For a reach measurement, the noise is on the number of people reached.
   * For a reach-and-frequency measurement, the noise is on the number of people not reached.
   */
  noiseVariance: number;
}

/** The number of people at a frequency, and the reach, which includes these people. */
export interface ShareShuffleFrequencyParams extends ShareShuffleReachParams {
  count: number;
  frequency: number;
  /**
   * True for "this frequency or more", false for "exactly this frequency". The maximum frequency always means "or
   * more".
   */
  orMore?: boolean;
  maximumFrequency: number;
  /** The variance of the duchies' combined noise on the number of people at each frequency. */
  frequencyNoiseVariance: number;
}

/** Returns the number of people in the population. */
export function shareShuffleUniverse({
  frequencyVectorSize,
  width,
}: Pick<ShareShuffleReachParams, 'frequencyVectorSize' | 'width'>): number {
  return Math.ceil(frequencyVectorSize / width);
}

export function shareShuffleReachVariance(params: ShareShuffleReachParams): number {
  const { reach, noiseVariance, width } = params;
  return samplingCovariance(reach, reach, params) + noiseVariance / width ** 2;
}

/**
 * Returns the sampling covariance of two estimated numbers of people, `first` and `second`. `overlap` is the number of
 * people who are counted in both. Both estimates use the same sample of people.
 */
export function shareShuffleCovariance(
  [first, second]: readonly [number, number],
  overlap: number,
  sample: Pick<ShareShuffleReachParams, 'frequencyVectorSize' | 'width'>,
): number {
  const universe = shareShuffleUniverse(sample);
  if (universe <= 1) return 0;
  return (((1 - sample.width) / sample.width) * (universe * overlap - first * second)) / (universe - 1);
}

/** Returns the variance of the number of people at a frequency. */
export function shareShuffleCountVariance(params: ShareShuffleFrequencyParams): number {
  const { count, frequency, noiseVariance, frequencyNoiseVariance, width } = params;
  // The number of people at "k or more" is the sample size minus the counts of all lower frequencies, including 0. The
  // number therefore has the noise of each of these counts.
  const noise = isRemainder(params)
    ? noiseVariance + (frequency - 1) * frequencyNoiseVariance
    : frequencyNoiseVariance;
  return samplingCovariance(count, count, params) + noise / width ** 2;
}

/**
 * Returns the variance of count / reach, the fraction of reached people who are at a frequency. Uses the delta method.
 */
export function shareShuffleShareVariance(params: ShareShuffleFrequencyParams): number {
  const { reach, count, noiseVariance, width } = params;
  const reachVariance = shareShuffleReachVariance(params);
  // If the reach can be 0, the share is unknown. A share that is uniform in [0, 1] has variance 1/12.
  if (reach - NORMAL_95 * Math.sqrt(reachVariance) <= 0) return 1 / 12;
  const share = count / reach;
  const common = isRemainder(params) ? noiseVariance / width ** 2 : 0;
  const covariance = samplingCovariance(reach, count, params) + common;
  const variance = shareShuffleCountVariance(params) - 2 * share * covariance + share ** 2 * reachVariance;
  return Math.max(0, variance) / reach ** 2;
}

function isRemainder({ frequency, orMore, maximumFrequency }: ShareShuffleFrequencyParams): boolean {
  return orMore === true || frequency === maximumFrequency;
}

/**
 * Returns the sampling covariance of two estimated numbers of people. The people counted in `whole` include all people
 * counted in `part`.
 */
function samplingCovariance(whole: number, part: number, params: ShareShuffleReachParams): number {
  const universe = shareShuffleUniverse(params);
  if (universe <= 1) return 0;
  const within = (people: number) => Math.min(Math.max(0, people), universe);
  const { width } = params;
  return ((1 - width) * (universe - within(whole)) * within(part)) / (universe - 1) / width;
}
