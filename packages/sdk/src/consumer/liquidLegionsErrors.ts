/**
 * How far figures of the Liquid Legions protocols may be from the truth. The parameters of the sketch are the word of the
 * exchange: a lie about them changes how wide an interval is, and no figure.
 */
import {
  type LiquidLegionsConfig,
  legionsNoiseShapes,
  type PrivacyParams,
  ringOf,
  type specs,
} from '@measurement-exchange/contract';
import {
  countAtFrequencyVariance,
  liquidLegionsReachVariance,
  liquidLegionsShareVariances,
} from '../privacy/index.ts';
import { duchyNoiseVariance, type Errors } from './duchyErrors.ts';

export function liquidLegionsErrors(
  reach: specs.Measurement_Result_Reach,
  privacyParams: PrivacyParams | undefined,
  width: number,
  config: LiquidLegionsConfig,
): Errors {
  const { decayRate, maxSize, samplingIndicatorSize = 1 } = config;
  // The number of data providers makes no difference to the noise of what is released.
  const shapes = legionsNoiseShapes(1, ringOf(config).length);
  const sketch = { decayRate, maxSize, width, reach: Number(reach.value) };
  const noiseVariance = duchyNoiseVariance(reach, privacyParams, shapes.reach);
  const reachVariance = liquidLegionsReachVariance({ ...sketch, noiseVariance });
  return {
    maximum: Number.POSITIVE_INFINITY,
    reachVariance,
    atFrequencies(frequency, shares, { privacyParams, maximumFrequency }) {
      const frequencyNoiseVariance = duchyNoiseVariance(frequency, privacyParams, shapes.frequency);
      const shareVariances = liquidLegionsShareVariances(
        { ...sketch, samplingIndicatorSize, maximumFrequency, frequencyNoiseVariance },
        shares,
      );
      return shareVariances.map((shareVariance, i) => ({
        shareVariance,
        countVariance: countAtFrequencyVariance({
          ratio: shares[i]!,
          ratioVariance: shareVariance,
          reach: sketch.reach,
          reachVariance,
        }),
      }));
    },
  };
}
