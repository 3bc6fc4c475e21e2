/** Computes how much privacy the people of one data provider lose when workers release a count with noise. */
import type { MpcNoiseShape, PrivacyParams } from '@measurement-exchange/contract';
import { mpcNoise } from './mpcNoise.ts';
import { type Charge, type NoiseMechanism, ROUNDED_UP } from './noise.ts';

/**
 * Figures that duchies release with noise. The type excludes releases without noise, because they have no privacy
 * guarantee from which to compute a cost. A data provider is allowed to refuse such releases.
 */
export type MpcRelease = { noiseMechanism: NoiseMechanism; reachPrivacyParams: PrivacyParams } & (
  | { measurementType: 'REACH' }
  | { measurementType: 'REACH_AND_FREQUENCY'; frequencyPrivacyParams: PrivacyParams }
);

/**
 * The cost of a release. `spent` is ε for geometric noise, and ρ (zero-concentrated differential privacy) for Gaussian
 * noise.
 */
export type Cost = Record<'spent' | 'delta', number>;
export const FREE: Cost = { spent: 0, delta: 0 };

export function asCharge(mechanism: NoiseMechanism, { spent, delta }: Cost): Charge {
  return mechanism === 'GEOMETRIC' ? { epsilon: spent, delta } : { rho: spent, delta };
}

/**
 * Returns the cost of releasing a count that one privacy unit can change by 1. `unknown` is the number of workers whose
 * noise is unknown to the party that sees the count.
 */
export function costOfCount(
  mechanism: NoiseMechanism,
  params: PrivacyParams,
  shape: MpcNoiseShape,
  unknown: number,
): Cost {
  const noise = mpcNoise(mechanism, params, shape);
  const logOnePlusExp = params.epsilon + Math.log1p(Math.exp(-params.epsilon));
  // θ is the probability that a draw is out of bounds. Bounding the draws adds at most (1 + e^ε) θ to the δ of the
  // release.
  const delta = (logTheta: number) => Math.exp(logTheta + logOnePlusExp) * ROUNDED_UP;
  switch (noise.mechanism) {
    case 'GEOMETRIC': {
      const { scale, offset } = noise;
      // The δ covers two draws per worker, because each worker's noise is the difference of two draws.
      return {
        spent: params.epsilon / shape.sensitivity,
        delta: delta(Math.log(2 * unknown) - (offset + 1) / scale),
      };
    }
    case 'DISCRETE_GAUSSIAN': {
      const { workerSigma, offset } = noise;
      return {
        spent: sumRho(workerSigma, unknown) * ROUNDED_UP,
        delta: delta(Math.log(unknown) - (offset / workerSigma) ** 2 / 2),
      };
    }
    case 'NONE':
      throw new RangeError('a release without noise has no price');
  }
}

/**
 * Returns the ρ of the sum of the workers' discrete Gaussians. The sum is only approximately a discrete Gaussian
 * (Kairouz, Liu, and Steinke 2021, theorem 1). The theorem requires σ ≥ 1/2, so for a smaller σ, this function returns
 * the ρ of one worker's noise, which is an upper bound.
 */
function sumRho(workerSigma: number, workers: number): number {
  if (workerSigma < 0.5) return 1 / (2 * workerSigma ** 2);
  const sigma = workerSigma * Math.sqrt(workers);
  let distance = 0;
  for (let k = 1; k < workers; k++) {
    distance += Math.exp(-2 * Math.PI ** 2 * workerSigma ** 2 * (k / (k + 1)));
  }
  const epsilon = Math.min(Math.sqrt(1 / sigma ** 2 + 5 * distance), 1 / sigma + 10 * distance);
  return epsilon ** 2 / 2;
}
