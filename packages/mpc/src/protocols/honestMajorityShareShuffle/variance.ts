/**
 * How far figures of HonestMajorityShareShuffle may be from the truth. The sample is drawn without replacement from a
 * universe of known size, and the aggregator counts registers: it subtracts those at 0 (with the noise of the reach) and
 * those at each frequency (with noise of their own) from all, and what is left is at the highest frequency.
 */
import { NORMAL_95 } from '../../privacy/variance.ts';

/** A reach out of share shuffle. */
export interface ShareShuffleReachParams {
  reach: number;
  /** Registers of the frequency vector, as the result's methodology states: the people in the sample. */
  frequencyVectorSize: number;
  /** Width of the VID sampling interval. */
  width: number;
  /** The variance of the duchies' combined noise on the count of people who were not reached. */
  noiseVariance: number;
}

/** People at a frequency, and the reach they are a part of. */
export interface ShareShuffleFrequencyParams extends ShareShuffleReachParams {
  /** How many people are at this frequency. */
  count: number;
  frequency: number;
  /** This often or more, which is always so for the maximum frequency; else exactly this often. */
  orMore?: boolean;
  maximumFrequency: number;
  /** The variance of the duchies' combined noise on the count of people at one frequency. */
  frequencyNoiseVariance: number;
}

/** How many people there are. */
export function shareShuffleUniverse({
  frequencyVectorSize,
  width,
}: Pick<ShareShuffleReachParams, 'frequencyVectorSize' | 'width'>): number {
  return Math.ceil(frequencyVectorSize / width);
}

/** Variance of a reach. */
export function shareShuffleReachVariance(params: ShareShuffleReachParams): number {
  const { reach, noiseVariance, width } = params;
  return samplingCovariance(reach, reach, params) + noiseVariance / width ** 2;
}

/** Variance of the number of people at a frequency. */
export function shareShuffleCountVariance(params: ShareShuffleFrequencyParams): number {
  const { count, frequency, noiseVariance, frequencyNoiseVariance, width } = params;
  // The remainder after subtracting all lower frequencies carries their noise, and that of 0.
  const noise = isRemainder(params)
    ? noiseVariance + (frequency - 1) * frequencyNoiseVariance
    : frequencyNoiseVariance;
  return samplingCovariance(count, count, params) + noise / width ** 2;
}

/** Variance of the share of these people among the people reached, by the delta method. */
export function shareShuffleShareVariance(params: ShareShuffleFrequencyParams): number {
  const { reach, count, noiseVariance, width } = params;
  const reachVariance = shareShuffleReachVariance(params);
  // A reach that may be nothing says nothing about its parts: a uniform share in [0, 1] has variance 1/12.
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
 * The covariance that sampling gives two estimated numbers of people, where all people of `part` are among those of
 * `whole`.
 */
function samplingCovariance(whole: number, part: number, params: ShareShuffleReachParams): number {
  const universe = shareShuffleUniverse(params);
  if (universe <= 1) return 0;
  const within = (people: number) => Math.min(Math.max(0, people), universe);
  const { width } = params;
  return ((1 - width) * (universe - within(whole)) * within(part)) / (universe - 1) / width;
}
