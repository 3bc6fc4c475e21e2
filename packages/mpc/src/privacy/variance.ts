/**
 * Computes the error of released figures. The variances include sampling and noise, but not two small biases. First,
 * dividing by a sampling width below 1 and rounding down subtracts half a unit on average. Second, clamping at 0 makes
 * a figure too high on average if the true value is within a few standard deviations of 0.
 */
import type { specs } from '@measurement-exchange/contract';

/** The two-sided 95% quantile of the normal distribution. */
export const NORMAL_95 = 1.959964;

/**
 * A figure with its uncertainty. An unknown variance is represented as Infinity, and so is the variance of any sum that
 * includes the figure.
 */
export interface Estimate {
  value: number;
  variance: number;
  standardDeviation: number;
  /**
   * The 95% confidence interval, clamped to the range of possible true values. `standardDeviation` ignores this range.
   */
  interval: [low: number, high: number];
}

/**
 * Returns an estimate with its 95% confidence interval, clamped to [0, maximum]. Fractions have the maximum 1, and
 * counts have no maximum.
 */
export function estimate(
  value: number | bigint,
  variance: number | undefined,
  maximum = Number.POSITIVE_INFINITY,
): Estimate {
  const figure = Number(value);
  const known = variance ?? Number.POSITIVE_INFINITY;
  const standardDeviation = Math.sqrt(known);
  const margin = NORMAL_95 * standardDeviation;
  const [low, high] = [Math.max(0, figure - margin), Math.min(maximum, figure + margin)];
  return { value: figure, variance: known, standardDeviation, interval: [low, high] };
}

/** Returns the variance that a provider's custom methodology states, or undefined if it does not state a variance. */
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

/** A reach (with `maximumPerUser` 1), impression count, or watch duration that a provider computes without duchies. */
export interface ScalarParams {
  value: number;
  /** The maximum that one person can contribute, in the value's unit: 1, the frequency cap, or the duration cap. */
  maximumPerUser: number;
  width: number;
  /** The variance of the noise at sensitivity `maximumPerUser`: `noiseVariance(mechanism, params, maximumPerUser)`. */
  noiseVariance: number;
}

/** Returns (M X w(1 − w) + noise) / w², the variance of the value X, where M is `maximumPerUser` and w is `width`. */
export function scalarVariance({ value, maximumPerUser, width, noiseVariance }: ScalarParams): number {
  const sampling = maximumPerUser * Math.max(0, value) * width * (1 - width);
  return (sampling + noiseVariance) / width ** 2;
}

/**
 * One share of a frequency distribution that a provider computes without duchies, and the reach of the same
 * measurement. A share is the fraction (`ratio`) of the reached people whose frequency is exactly k, or k or more.
 */
export interface RelativeFrequencyParams {
  ratio: number;
  reach: number;
  reachVariance: number;
  width: number;
  maximumFrequency: number;
  /** The number of noisy buckets that the share covers: 1 for "exactly k", maximumFrequency − k + 1 for "k or more". */
  buckets: number;
  /** The variance of one bucket's noise: `noiseVariance(mechanism, frequencyPrivacyParams)`. */
  noiseVariance: number;
}

export function relativeFrequencyVariance(params: RelativeFrequencyParams): number {
  const { ratio, reach, reachVariance, width, maximumFrequency, buckets, noiseVariance } = params;
  // If the reach can be 0, the share is unknown. A share that is uniform in [0, 1] has variance 1/12. A share of all
  // frequencies has variance 0, because this share is always 1.
  if (reach - NORMAL_95 * Math.sqrt(reachVariance) <= 0) return buckets === maximumFrequency ? 0 : 1 / 12;
  const sampled = reach * width;
  const sampling = (ratio * (1 - ratio) * (1 - width)) / sampled;
  const noise = (1 - 2 * ratio) * buckets + ratio ** 2 * maximumFrequency;
  return sampling + (noise * noiseVariance) / sampled ** 2;
}

/**
 * The reach, the fraction of the reached people who are at a frequency, and the variances of both. The errors of the
 * reach and the fraction are independent.
 */
export interface CountAtFrequencyParams {
  ratio: number;
  ratioVariance: number;
  reach: number;
  reachVariance: number;
}

/** Returns the variance of the number of people at a frequency, reach × ratio. */
export function countAtFrequencyVariance(params: CountAtFrequencyParams): number {
  const { ratio, ratioVariance, reach, reachVariance } = params;
  return ratioVariance * reachVariance + ratioVariance * reach ** 2 + reachVariance * ratio ** 2;
}

/**
 * Returns the confidence interval of a product of two independent figures. For the lower end, takes each figure's
 * distance to the lower end of its interval, and combines the two distances with the formula for the standard deviation
 * of a product. Computes the upper end in the same way. The result is asymmetric if the two intervals are asymmetric.
 */
export function productInterval(a: Estimate, b: Estimate): [low: number, high: number] {
  const value = a.value * b.value;
  const distance = (side: 0 | 1) => {
    const [ofA, ofB] = [Math.abs(a.interval[side] - a.value), Math.abs(b.interval[side] - b.value)];
    // Treat 0 times Infinity as 0, because a figure that is certainly 0 makes the product 0.
    const times = (x: number, y: number) => (x === 0 || y === 0 ? 0 : x * y);
    return Math.hypot(times(ofA, b.value), times(ofB, a.value), times(ofA, ofB));
  };
  return [Math.max(0, value - distance(0)), value + distance(1)];
}
