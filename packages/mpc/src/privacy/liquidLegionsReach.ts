/** The 95 % interval of a reach out of a sketch. It is made on the scale of registers, where the noise is, and then inverted. */
import { firstAbove } from './firstAbove.ts';
import { type LiquidLegionsReachParams, registersForEstimate, sketchMoments } from './liquidLegions.ts';
import { NORMAL_95 } from './variance.ts';

export interface LiquidLegionsIntervalParams extends LiquidLegionsReachParams {
  /** 0 for noise that is close to normal, 3 for a two-sided geometric distribution. */
  excessKurtosis: number;
}

/**
 * All reaches for which the observed count of registers is among the central 95 % of counts. On the scale of people
 * an estimate is far from normal: at the scale of its noise, people grow exponentially with registers. Where any
 * larger number of people may have this count, the upper end is Infinity.
 */
export function liquidLegionsReachInterval(params: LiquidLegionsIntervalParams): [low: number, high: number] {
  const { width, noiseVariance } = params;
  // The estimate was rounded down to people of the sketch, then divided by the width and rounded down again.
  const people = Math.ceil(params.reach * Math.fround(width) - ROUNDING);
  const count = (of: number) => registersForEstimate(params, of, noiseVariance);
  // The lowest and the highest whole number of registers that is estimated as these people.
  const least = people === 0 ? 0 : Math.ceil(count(people) - ROUNDING);
  const most = Math.max(least, Math.ceil(count(people + 1) - ROUNDING) - 1);
  const low = firstAbove((at) => quantile(params, at, 1), least, { guess: people + 1 });
  const high = firstAbove((at) => quantile(params, at, -1), most, { guess: 2 * people });
  return [Math.min(params.reach, low / width), Math.max(params.reach, high / width)];
}

/** Sums over registers are exact to about this. */
const ROUNDING = 1e-6;

/** The end of the central 95 % of counts, for so many people expected in the sample: +1 for the upper one. */
function quantile(params: LiquidLegionsIntervalParams, people: number, side: 1 | -1): number {
  const { width, noiseVariance, excessKurtosis } = params;
  const { registers, variance: ofRegisters, slope } = sketchMoments(params, people);
  const variance = ofRegisters + noiseVariance + slope ** 2 * people * (1 - width);
  if (variance === 0) return registers;
  // Cornish and Fisher: the quantile of a sum, of which the noise has this part of the variance.
  const kurtosis = excessKurtosis * (noiseVariance / variance) ** 2;
  const z = NORMAL_95 + ((NORMAL_95 ** 3 - 3 * NORMAL_95) * kurtosis) / 24;
  return registers + side * z * Math.sqrt(variance);
}
