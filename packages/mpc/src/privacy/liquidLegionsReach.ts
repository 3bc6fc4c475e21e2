/**
 * Computes the 95% confidence interval of a reach that was estimated from a sketch. The file first computes an interval
 * of register counts, and then converts this interval to people.
 */
import { firstAbove } from './firstAbove.ts';
import { type LiquidLegionsReachParams, registersForEstimate, sketchMoments } from './liquidLegions.ts';
import { NORMAL_95 } from './variance.ts';

export interface LiquidLegionsIntervalParams extends LiquidLegionsReachParams {
  /** The excess kurtosis of the noise: 0 if the noise is approximately normal, 3 if it is two-sided geometric. */
  excessKurtosis: number;
}

/**
 * Returns the range of reaches for which the observed register count is among the central 95% of counts. A symmetric
 * interval around the estimate would be wrong, because the number of people grows exponentially with the number of
 * registers. The upper end is Infinity if every larger number of people could produce this count.
 */
export function liquidLegionsReachInterval(params: LiquidLegionsIntervalParams): [low: number, high: number] {
  const { width, noiseVariance } = params;
  // Recover the number of people in the sketch. The estimate was this whole number divided by the width and rounded
  // down.
  const people = Math.ceil(params.reach * Math.fround(width) - ROUNDING);
  const count = (of: number) => registersForEstimate(params, of, noiseVariance);
  // The lowest and highest register counts whose estimate is `people`.
  const least = people === 0 ? 0 : Math.ceil(count(people) - ROUNDING);
  const most = Math.max(least, Math.ceil(count(people + 1) - ROUNDING) - 1);
  const low = firstAbove((at) => quantile(params, at, 1), least, { guess: people + 1 });
  const high = firstAbove((at) => quantile(params, at, -1), most, { guess: 2 * people });
  return [Math.min(params.reach, low / width), Math.max(params.reach, high / width)];
}

/** The maximum rounding error of a sum over registers. */
const ROUNDING = 1e-6;

/**
 * Returns the upper (side 1) or lower (side −1) end of the central 95% of register counts for an expected number of
 * people.
 */
function quantile(params: LiquidLegionsIntervalParams, people: number, side: 1 | -1): number {
  const { width, noiseVariance, excessKurtosis } = params;
  const { registers, variance: ofRegisters, slope } = sketchMoments(params, people);
  const variance = ofRegisters + noiseVariance + slope ** 2 * people * (1 - width);
  if (variance === 0) return registers;
  // Apply the Cornish–Fisher expansion. The noise is only part of the variance, so its excess kurtosis is scaled down.
  const kurtosis = excessKurtosis * (noiseVariance / variance) ** 2;
  const z = NORMAL_95 + ((NORMAL_95 ** 3 - 3 * NORMAL_95) * kurtosis) / 24;
  return registers + side * z * Math.sqrt(variance);
}
