/** Computes the expected error of a need's value before the need is measured. */
import {
  type LiquidLegionsConfig,
  legionsNoiseShapes,
  type PrivacyParams,
} from '@measurement-exchange/contract';
import {
  liquidLegionsReachVariance,
  mpcNoise,
  noiseVariance,
  scalarVariance,
  shareShuffleReachVariance,
} from '@measurement-exchange/mpc';
import { releasesOf } from '@measurement-exchange/mpc/charges';
import { specOf } from './spec.ts';
import type { Surroundings } from './surroundings.ts';
import type { UnpricedNeed } from './types.ts';

const ASSUMED_REACH = 1_000_000;

/**
 * Returns the reach to assume for a union. Segments are assumed to be independent, or disjoint if the population is
 * unknown.
 */
export function assumedReach(
  union: number,
  segments: readonly string[],
  { assumedReach = {}, population }: Surroundings,
): number {
  const reaches = segments
    .filter((_, i) => union & (1 << i))
    .map((name) => assumedReach[name] ?? ASSUMED_REACH);
  if (population === undefined) return reaches.reduce((sum, reach) => sum + reach, 0);
  const missed = reaches.reduce((rest, reach) => rest * (1 - Math.min(1, reach / population)), 1);
  return population * (1 - missed);
}

/**
 * Returns the expected variance of a need's value. `value` is the assumed number of people. For impressions and
 * durations, each person is assumed to have one impression or one second.
 */
export function expectedVariance(
  planned: UnpricedNeed,
  params: PrivacyParams,
  value: number,
  surroundings: Surroundings,
): number {
  const { need, computed, dataProviders } = planned;
  const { width } = need.vidSamplingInterval;
  if (computed === undefined) {
    const choice = surroundings.noiseOf?.(dataProviders[0]!);
    const [{ mechanism, sensitivity }] = releasesOf(specOf(need, params), choice) as [
      ReturnType<typeof releasesOf>[0],
    ];
    // Noise is added to durations in milliseconds, but values of durations are in seconds.
    const unit = need.type === 'DURATION' ? 1000 : 1;
    const noise = noiseVariance(mechanism, params, sensitivity) / unit ** 2;
    return scalarVariance({ value, maximumPerUser: Number(sensitivity) / unit, width, noiseVariance: noise });
  }
  const { protocol, config } = computed;
  if (protocol === 'honestMajorityShareShuffle') {
    const frequencyVectorSize = (surroundings.population ?? Number.MAX_SAFE_INTEGER) * width;
    const noise = mpcNoise(config.noiseMechanism, params).variance;
    return shareShuffleReachVariance({ reach: value, frequencyVectorSize, width, noiseVariance: noise });
  }
  const { decayRate, maxSize, workers, noiseMechanism } = config as LiquidLegionsConfig;
  const noise = mpcNoise(noiseMechanism, params, legionsNoiseShapes(1, workers.length + 1).reach).variance;
  return liquidLegionsReachVariance({ decayRate, maxSize, reach: value, width, noiseVariance: noise });
}
