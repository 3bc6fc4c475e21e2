/**
 * The covariance that noise causes between the numbers of one answer. The noise of different answers is independent.
 */
import {
  legionsNoiseShapes,
  type MpcNoiseMechanism,
  type PrivacyParams,
} from '@measurement-exchange/contract';
import { mpcNoise, noiseVariance } from '@measurement-exchange/mpc';
import { capMillis } from '@measurement-exchange/mpc/charges';
import { type Answer, type Row, sharesOf } from './answers.ts';

/** The variance of the error that rounding to a whole number causes. */
export const ROUNDING = 1 / 12;

/**
 * Returns the variance of the noise in a number that was measured in the sample of people. The number is not yet scaled
 * up to all people. The unit of the noise is people, impressions, seconds, or registers.
 */
export function noiseOf({ planned, answer }: Row, which: 'reach' | 'frequency' = 'reach'): number {
  const { noise } = answer.methodology;
  if (noise === undefined || noise.mechanism === 'NONE') return ROUNDING;
  const params = which === 'frequency' ? (noise.frequencyParams ?? noise.params) : noise.params;
  try {
    return statedVariance(planned.need, answer, noise.mechanism, params, which);
  } catch (error) {
    // The stated parameters do not match the mechanism, so treat the result as if it stated no noise.
    if (error instanceof RangeError) return ROUNDING;
    throw error;
  }
}

function statedVariance(
  { type, maximumPerPerson = 1 }: Row['planned']['need'],
  { methodology }: Answer,
  mechanism: NonNullable<Answer['methodology']['noise']>['mechanism'],
  params: PrivacyParams | undefined,
  which: 'reach' | 'frequency',
): number {
  switch (methodology.protocol) {
    case 'direct': {
      // Noise is added to durations in milliseconds, so convert its variance from ms² to s².
      if (type === 'DURATION') return noiseVariance(mechanism, params, capMillis(maximumPerPerson)) / 1e6;
      return noiseVariance(mechanism, params, type === 'IMPRESSION' ? maximumPerPerson : 1);
    }
    case 'honestMajorityShareShuffle':
      return mpcNoise(mechanism as MpcNoiseMechanism, params).variance;
    default:
      // The noise in the result does not depend on the number of data providers, so pass 1.
      return mpcNoise(
        mechanism as MpcNoiseMechanism,
        params,
        legionsNoiseShapes(1, methodology.duchies)[which],
      ).variance;
  }
}

/**
 * Returns the covariance of the noise in two rows of one answer: the numbers of people at two frequencies. A reach or a
 * count is a single row, for which the function returns the variance of the noise. The answer must come from a single
 * data provider or from the share shuffle protocol.
 */
export function noiseCovariance(a: Row, b: Row): number {
  const { width, protocol } = a.answer.methodology;
  const reach = noiseOf(a) / width ** 2;
  if (a.frequency === undefined || b.frequency === undefined) return reach;
  const each = noiseOf(a, 'frequency') / width ** 2;
  const last = a.planned.need.maximumFrequency!;
  const same = a.frequency === b.frequency ? 1 : 0;
  if (protocol === 'honestMajorityShareShuffle') {
    // The number of people at the last frequency is the reach minus the counts at all other frequencies. It therefore
    // contains the noise of the reach and of these counts.
    if (a.frequency < last && b.frequency < last) return same * each;
    return same ? reach + (last - 1) * each : -each;
  }
  // Each frequency's count is divided by the sum of the counts at all frequencies, and then multiplied by the reach.
  const shares = sharesOf(a.planned, a.answer);
  const [p, q] = [shares[a.frequency - 1]!, shares[b.frequency - 1]!];
  return reach * p * q + each * (same - p - q + last * p * q);
}
