/**
 * Computes figures with their intervals. Each interval is centered on the figure as measured, limited to possible
 * values, and extended to include the corrected figure.
 */
import { NORMAL_95 } from '@measurement-exchange/mpc';
import type { Component, Correction } from '../correction/correct.ts';
import { noiseCovariance } from '../correction/noiseCovariance.ts';

export interface Estimate {
  /** The corrected figure. */
  value: number;
  /** The figure as measured, before the correction. */
  raw: number;
  standardDeviation: number;
  /** The 95 % interval. */
  interval: [low: number, high: number];
  /** True if the noise is so large that an interval around the corrected figure would include 0. */
  isNoiseDominated: boolean;
}

/**
 * The amount added to each half-width, because people and events are whole numbers. Without it, intervals with small
 * noise would cover the true value less often than promised.
 */
const HALF = 0.5;

/**
 * One term of the sum that makes up a figure: a need's value times a weight. Each frequency of a distribution can have
 * an extra factor.
 */
export interface Term {
  key: string;
  weight: number;
  /** Returns the factor for a frequency of a distribution. By default, all factors are 1, which gives the reach. */
  ofFrequency?(frequency: number): number;
}

/** Returns the weighted sum of the terms, or undefined if an answer is missing. */
export function estimateOf(
  { needs }: Correction,
  terms: readonly Term[],
  maximum = Number.POSITIVE_INFINITY,
): Estimate | undefined {
  let [value, raw] = [0, 0];
  const weights = new Map<Component, Float64Array>();
  for (const { key, weight, ofFrequency = () => 1 } of terms) {
    const need = needs.get(key);
    if (need === undefined) return undefined;
    const { component, rows } = need;
    const own = weights.get(component) ?? new Float64Array(component.rows.length);
    weights.set(component, own);
    for (const [i, row] of rows.entries()) {
      const factor = weight * (need.frequencies ? ofFrequency(i + 1) : 1);
      value += factor * (need.frequencies?.[i] ?? need.value);
      raw += factor * component.rows[row]!.value;
      own[row]! += factor;
    }
  }
  const { variance, kurtosis } = momentsOf(weights);
  const standardDeviation = Math.sqrt(Math.max(0, variance));
  // Widen the interval by the Cornish-Fisher expansion, because geometric and Laplace noise have heavier tails than
  // normal noise.
  const noise = (NORMAL_95 + ((NORMAL_95 ** 3 - 3 * NORMAL_95) * kurtosis) / 24) * standardDeviation;
  const halfWidth = noise + HALF;
  const within = (bound: number) => Math.min(Math.max(0, bound), maximum);
  return {
    ...{ value, raw, standardDeviation },
    interval: [Math.min(value, within(raw - halfWidth)), Math.max(value, within(raw + halfWidth))],
    isNoiseDominated: noise >= value,
  };
}

function momentsOf(weights: ReadonlyMap<Component, Float64Array>): { variance: number; kurtosis: number } {
  let [variance, fourth] = [0, 0];
  for (const [{ rows, covariance }, own] of weights) {
    const used = [...own.keys()].filter((i) => own[i] !== 0);
    for (const i of used) {
      for (const j of used) variance += own[i]! * own[j]! * covariance[i]![j]!;
      if (!/GEOMETRIC|LAPLACE/.test(rows[i]!.answer.methodology.noise?.mechanism ?? '')) continue;
      const isSketch = 'maxSize' in rows[i]!.answer.methodology;
      // The excess kurtosis of two-sided geometric noise is about 3, and that of Laplace noise is exactly 3. The fourth
      // cumulant is the excess kurtosis times the squared variance.
      const noise = isSketch
        ? covariance[i]![i]!
        : Math.min(covariance[i]![i]!, noiseCovariance(rows[i]!, rows[i]!));
      fourth += 3 * own[i]! ** 4 * noise ** 2;
    }
  }
  return { variance, kurtosis: variance > 0 ? fourth / variance ** 2 : 0 };
}
