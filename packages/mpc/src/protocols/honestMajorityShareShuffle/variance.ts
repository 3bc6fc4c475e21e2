/**
 * The error of HonestMajorityShareShuffle results. The sample is drawn without replacement from a universe of known size.
 * From all registers, the aggregator subtracts those at 0 (with the reach noise) and those at each frequency (each with
 * separate noise); the remainder is at the highest frequency.
 */
import { NORMAL_95 } from '../../privacy/variance.ts';

/** A reach computed by share shuffle. */
export interface ShareShuffleReachParams {
  reach: number;
  /** The number of people in the sample, one per register. The result's methodology states it. */
  frequencyVectorSize: number;
  /** The width of the VID sampling interval. */
  width: number;
  /** The variance of the duchies' combined noise on the number of people who were not reached. */
  noiseVariance: number;
}

/** The number of people at a frequency, and the reach that includes them. */
export interface ShareShuffleFrequencyParams extends ShareShuffleReachParams {
  /** The number of people at this frequency. */
  count: number;
  frequency: number;
  /** True for "this often or more", false for "exactly this often". The maximum frequency always means "or more". */
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

/** Returns the variance of the number of people at a frequency. */
export function shareShuffleCountVariance(params: ShareShuffleFrequencyParams): number {
  const { count, frequency, noiseVariance, frequencyNoiseVariance, width } = params;
  // The remainder after subtracting all lower frequencies has the noise of each of them, including 0.
  const noise = isRemainder(params)
    ? noiseVariance + (frequency - 1) * frequencyNoiseVariance
    : frequencyNoiseVariance;
  return samplingCovariance(count, count, params) + noise / width ** 2;
}

/** Returns the variance of these people's share of the reach, using the delta method. */
export function shareShuffleShareVariance(params: ShareShuffleFrequencyParams): number {
  const { reach, count, noiseVariance, width } = params;
  const reachVariance = shareShuffleReachVariance(params);
  // If the reach may be 0, its shares are unknown. A uniform share in [0, 1] has variance 1/12.
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

/** Returns the covariance, due to sampling, of two estimated numbers of people. `whole` includes all people in `part`. */
function samplingCovariance(whole: number, part: number, params: ShareShuffleReachParams): number {
  const universe = shareShuffleUniverse(params);
  if (universe <= 1) return 0;
  const within = (people: number) => Math.min(Math.max(0, people), universe);
  const { width } = params;
  return ((1 - width) * (universe - within(whole)) * within(part)) / (universe - 1) / width;
}
