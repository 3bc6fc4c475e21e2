/** Estimates the errors of figures that duchies computed. This file contains the parts that all protocols share. */
import {
  type MpcNoiseShape,
  type PrivacyParams,
  SHARE_SHUFFLE_NOISE,
  type specs,
} from '@measurement-exchange/contract';
import { type Estimate, mpcNoise } from '@measurement-exchange/mpc';
import { type AskedFrequency, type FrequencyEstimate, mechanismOf } from './figures.ts';

export interface DuchyEstimates {
  /** The largest possible reach. */
  maximum: number;
  reach: Estimate;
  /**
   * Estimates, for each frequency from 1, the number of people with this frequency, and their share of the reach.
   * `shares` has the shares that the result states.
   */
  atFrequencies(
    frequency: specs.Measurement_Result_Frequency,
    shares: number[],
    asked: AskedFrequency,
  ): Omit<FrequencyEstimate, 'frequency'>[];
}

export type DuchyErrors<Config> = (
  reach: specs.Measurement_Result_Reach,
  privacyParams: PrivacyParams | undefined,
  width: number,
  config: Config,
) => DuchyEstimates;

/**
 * Returns the variance of the duchies' noise. Returns Infinity if the result states no mechanism, a mechanism that
 * duchies do not use, or a mechanism that does not match the privacy parameters.
 */
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

/** Returns the variance, or undefined if it is infinite or NaN. Subtracting infinite variances gives NaN. */
export function known(variance: number): number | undefined {
  return Number.isFinite(variance) ? variance : undefined;
}
