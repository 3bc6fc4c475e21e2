/**
 * How far a released figure may be from the truth. Sampling and noise are both in the variances; small biases
 * are not: dividing by the width and flooring takes half a unit off on average (none at width 1), and a figure
 * clamped at 0 is too high on average when the truth is within a few standard deviations of 0.
 */
import type { specs } from '@measurement-exchange/contract';

/** The two-sided 95 % quantile of the normal distribution. */
export const NORMAL_95 = 1.959964;

/** A figure with its uncertainty. An unknown variance is Infinity, and so is what is summed with it. */
export interface Estimate {
  value: number;
  variance: number;
  standardDeviation: number;
  /** 95 %; cut off where no true figure can lie, while `standardDeviation` stays as it is. */
  interval: [low: number, high: number];
}

/** An estimate with its 95 % interval within [0, maximum]: a count has no maximum, a share's is 1. */
export function estimate(
  value: number | bigint,
  variance: number | undefined,
  maximum = Number.POSITIVE_INFINITY,
): Estimate {
  const figure = Number(value);
  const known = variance ?? Number.POSITIVE_INFINITY;
  const standardDeviation = Math.sqrt(known);
  const margin = NORMAL_95 * standardDeviation;
  return {
    value: figure,
    variance: known,
    standardDeviation,
    interval: [Math.max(0, figure - margin), Math.min(maximum, figure + margin)],
  };
}

/** The variance that a provider's own methodology states; undefined where it states none. */
export function customVariance(
  methodology: specs.CustomDirectMethodology,
  frequency?: { frequency: number; orMore: boolean },
): number | undefined {
  const type = methodology.variance?.type;
  if (frequency === undefined) return type?.case === 'scalar' ? type.value : undefined;
  if (type?.case !== 'frequency') return undefined;
  const variances = frequency.orMore ? type.value.kPlusVariances : type.value.variances;
  return variances[String(frequency.frequency)];
}

/** A reach (maximumPerUser 1), an impression count or a watch duration, counted directly. */
export interface ScalarParams {
  value: number;
  /** The most that one person can add, in the unit of the value: 1, the frequency cap, the duration cap. */
  maximumPerUser: number;
  /** Width of the VID sampling interval. */
  width: number;
  /** The variance of the noise at sensitivity `maximumPerUser`: `noiseVariance(mechanism, params, maximumPerUser)`. */
  noiseVariance: number;
}

/** Variance of a directly counted figure: (M X w(1 − w) + noise) / w². */
export function scalarVariance({ value, maximumPerUser, width, noiseVariance }: ScalarParams): number {
  const sampling = maximumPerUser * Math.max(0, value) * width * (1 - width);
  return (sampling + noiseVariance) / width ** 2;
}

/** One share of a directly computed frequency distribution, and the reach it is a share of. */
export interface RelativeFrequencyParams {
  ratio: number;
  reach: number;
  reachVariance: number;
  width: number;
  maximumFrequency: number;
  /** How many noised buckets the share adds up: 1 for "exactly k", maximumFrequency − k + 1 for "k or more". */
  buckets: number;
  /** The variance of one bucket's noise: `noiseVariance(mechanism, frequencyPrivacyParams)`. */
  noiseVariance: number;
}

/** Variance of a share of the frequency distribution. */
export function relativeFrequencyVariance(params: RelativeFrequencyParams): number {
  const { ratio, reach, reachVariance, width, maximumFrequency, buckets, noiseVariance } = params;
  // A reach that may be nothing says nothing about its parts: a uniform share in [0, 1] has variance 1/12.
  if (reach - NORMAL_95 * Math.sqrt(reachVariance) <= 0) return buckets === maximumFrequency ? 0 : 1 / 12;
  const sampled = reach * width;
  const sampling = (ratio * (1 - ratio) * (1 - width)) / sampled;
  const noise = (1 - 2 * ratio) * buckets + ratio ** 2 * maximumFrequency;
  return sampling + (noise * noiseVariance) / sampled ** 2;
}

/** A share, a reach, and the variance of each; the two are independent. */
export interface CountAtFrequencyParams {
  ratio: number;
  ratioVariance: number;
  reach: number;
  reachVariance: number;
}

/** Variance of the number of people at a frequency, reach × ratio. */
export function countAtFrequencyVariance(params: CountAtFrequencyParams): number {
  const { ratio, ratioVariance, reach, reachVariance } = params;
  return ratioVariance * reachVariance + ratioVariance * reach ** 2 + reachVariance * ratio ** 2;
}

/**
 * The interval of a product of two independent figures, from their intervals: distances on each side are combined as
 * the standard deviations of a product are. The interval is as lopsided as theirs, which value ± 1.96 standard
 * deviations cannot be.
 */
export function productInterval(a: Estimate, b: Estimate): [low: number, high: number] {
  const value = a.value * b.value;
  const distance = (side: 0 | 1) => {
    const [ofA, ofB] = [Math.abs(a.interval[side] - a.value), Math.abs(b.interval[side] - b.value)];
    // 0 times Infinity is 0 here: a figure that is 0 for certain makes the product 0.
    const times = (x: number, y: number) => (x === 0 || y === 0 ? 0 : x * y);
    return Math.hypot(times(ofA, b.value), times(ofB, a.value), times(ofA, ofB));
  };
  return [Math.max(0, value - distance(0)), value + distance(1)];
}
