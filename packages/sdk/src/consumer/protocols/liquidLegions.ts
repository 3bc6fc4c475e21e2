/**
 * Estimates the errors of Liquid Legions figures. The sketch parameters come from the exchange and are not signed.
 * False parameters can change only the width of an interval, not a figure.
 */
import {
  type LiquidLegionsConfig,
  legionsNoiseShapes,
  type PrivacyParams,
  ringOf,
  type specs,
} from '@measurement-exchange/contract';
import {
  type Estimate,
  estimate,
  liquidLegionsReachInterval,
  liquidLegionsReachVariance,
  liquidLegionsShareVariances,
  productInterval,
} from '@measurement-exchange/mpc';
import { type DuchyEstimates, duchyNoiseVariance, known } from '../duchyErrors.ts';
import { atLeastOf, countVariance, mechanismOf } from '../figures.ts';

export function liquidLegionsErrors(
  reported: specs.Measurement_Result_Reach,
  privacyParams: PrivacyParams | undefined,
  width: number,
  config: LiquidLegionsConfig,
): DuchyEstimates {
  const { decayRate, maxSize, samplingIndicatorSize = 1 } = config;
  // Pass 1 as the number of data providers, because the noise in the released figures does not depend on it.
  const shapes = legionsNoiseShapes(1, ringOf(config).length);
  const noiseVariance = duchyNoiseVariance(reported, privacyParams, shapes.reach);
  const sketch = { decayRate, maxSize, width, reach: Number(reported.value) };
  const excessKurtosis = mechanismOf(reported.noiseMechanism) === 'GEOMETRIC' ? 3 : 0;
  const reach = reachEstimate({ ...sketch, noiseVariance, excessKurtosis });
  return {
    maximum: Number.POSITIVE_INFINITY,
    reach,
    atFrequencies(frequency, shares, { frequencyPrivacyParams, maximumFrequency }) {
      const frequencyNoiseVariance = duchyNoiseVariance(frequency, frequencyPrivacyParams, shapes.frequency);
      const params = { ...sketch, samplingIndicatorSize, maximumFrequency, frequencyNoiseVariance };
      const orMore = atLeastOf(shares);
      const variances = liquidLegionsShareVariances(params, shares);
      const buckets = shares.map((_, i) => maximumFrequency - i);
      const orMoreVariances = liquidLegionsShareVariances(params, orMore, buckets);
      return shares.map((value, i) => {
        const share = shareEstimate(value, variances[i]!);
        const count = countEstimate(share, reach);
        const atLeast =
          i === 0 ? reach : countEstimate(shareEstimate(orMore[i]!, orMoreVariances[i]!), reach);
        return { share, count, atLeast };
      });
    },
  };
}

function reachEstimate(params: Parameters<typeof liquidLegionsReachInterval>[0]): Estimate {
  const { reach, noiseVariance } = params;
  // Return an infinite error for a negative reach, because the caller rejects such a reach anyway.
  if (!Number.isFinite(noiseVariance) || reach < 0) return estimate(reach, undefined);
  return {
    ...estimate(reach, known(liquidLegionsReachVariance(params))),
    interval: liquidLegionsReachInterval(params),
  };
}

function shareEstimate(value: number, variance: number): Estimate {
  const share = estimate(value, known(variance), 1);
  // A share that is uniformly distributed between 0 and 1 has variance 1/12. With that variance or more, any share is
  // possible.
  return variance >= 1 / 12 ? { ...share, interval: [0, 1] } : share;
}

function countEstimate(share: Estimate, reach: Estimate): Estimate {
  const count = estimate(share.value * reach.value, countVariance(share, reach));
  return Number.isFinite(count.variance) ? { ...count, interval: productInterval(share, reach) } : count;
}
