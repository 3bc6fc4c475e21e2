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
  type Estimate,
  estimate,
  liquidLegionsReachInterval,
  liquidLegionsReachVariance,
  liquidLegionsShareVariances,
  productInterval,
} from '@measurement-exchange/mpc';
import { type DuchyEstimates, duchyNoiseVariance, known } from '../duchyErrors.ts';
import { mechanismOf } from '../figures.ts';

export function liquidLegionsErrors(
  reported: specs.Measurement_Result_Reach,
  privacyParams: PrivacyParams | undefined,
  width: number,
  config: LiquidLegionsConfig,
): DuchyEstimates {
  const { decayRate, maxSize, samplingIndicatorSize = 1 } = config;
  // The number of data providers makes no difference to the noise of what is released.
  const shapes = legionsNoiseShapes(1, ringOf(config).length);
  const noiseVariance = duchyNoiseVariance(reported, privacyParams, shapes.reach);
  const sketch = { decayRate, maxSize, width, reach: Number(reported.value) };
  const excessKurtosis = mechanismOf(reported.noiseMechanism) === 'GEOMETRIC' ? 3 : 0;
  const reach = reachEstimate({ ...sketch, noiseVariance, excessKurtosis });
  return {
    maximum: Number.POSITIVE_INFINITY,
    reach,
    atFrequencies(frequency, shares, { privacyParams, maximumFrequency }) {
      const frequencyNoiseVariance = duchyNoiseVariance(frequency, privacyParams, shapes.frequency);
      const variances = liquidLegionsShareVariances(
        { ...sketch, samplingIndicatorSize, maximumFrequency, frequencyNoiseVariance },
        shares,
      );
      return shares.map((value, i) => {
        const variance = variances[i]!;
        const share = estimate(value, known(variance), 1);
        // At least as uncertain as a uniform share: it may be any.
        if (variance >= 1 / 12) share.interval = [0, 1];
        return { share, count: countEstimate(share, reach) };
      });
    },
  };
}

function reachEstimate(params: Parameters<typeof liquidLegionsReachInterval>[0]): Estimate {
  const { reach, noiseVariance } = params;
  // A reach below 0 is rejected by the caller.
  if (!Number.isFinite(noiseVariance) || reach < 0) return estimate(reach, undefined);
  return {
    ...estimate(reach, known(liquidLegionsReachVariance(params))),
    interval: liquidLegionsReachInterval(params),
  };
}

function countEstimate(share: Estimate, reach: Estimate): Estimate {
  const variance = countAtFrequencyVariance({
    ratio: share.value,
    ratioVariance: share.variance,
    reach: reach.value,
    reachVariance: reach.variance,
  });
  const count = estimate(share.value * reach.value, known(variance));
  return Number.isFinite(count.variance) ? { ...count, interval: productInterval(share, reach) } : count;
}
