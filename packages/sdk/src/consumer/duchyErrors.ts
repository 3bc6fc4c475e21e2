/** The error of figures that duchies computed, for every protocol. */
import {
  type MpcNoiseShape,
  type PrivacyParams,
  SHARE_SHUFFLE_NOISE,
  type specs,
} from '@measurement-exchange/contract';
import { type Estimate, mpcNoise } from '@measurement-exchange/mpc';
import { type FrequencyEstimate, mechanismOf } from './figures.ts';

/** The request for a frequency distribution. */
export interface AskedFrequency {
  privacyParams: PrivacyParams | undefined;
  maximumFrequency: number;
}

/** The figures of one protocol, with how far they may be from the truth. */
export interface DuchyEstimates {
  /** Nobody can reach more people than this. */
  maximum: number;
  reach: Estimate;
  /** The share and the number of people at each frequency, from 1 on. */
  atFrequencies(
    frequency: specs.Measurement_Result_Frequency,
    shares: number[],
    asked: AskedFrequency,
  ): Omit<FrequencyEstimate, 'frequency'>[];
}

/** Computes them from a reach with the signed privacy parameters, the width of the sample and the config. */
export type DuchyErrors<Config> = (
  reach: specs.Measurement_Result_Reach,
  privacyParams: PrivacyParams | undefined,
  width: number,
  config: Config,
) => DuchyEstimates;

/** The variance of their noise: Infinity where the result names no noise, or noise that does not fit the request. */
export function duchyNoiseVariance(
  { noiseMechanism }: specs.Measurement_Result_Reach | specs.Measurement_Result_Frequency,
  params: PrivacyParams | undefined,
  shape: MpcNoiseShape = SHARE_SHUFFLE_NOISE,
): number {
  const mechanism = mechanismOf(noiseMechanism);
  if (mechanism !== 'DISCRETE_GAUSSIAN' && mechanism !== 'GEOMETRIC' && mechanism !== 'NONE') {
    return Number.POSITIVE_INFINITY;
  }
  try {
    return mpcNoise(mechanism, params, shape).variance;
  } catch (error) {
    if (error instanceof RangeError) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

/** Differences of infinite variances are NaN. */
export function known(variance: number): number | undefined {
  return Number.isFinite(variance) ? variance : undefined;
}
