/** Draws noise, and computes its variance and the privacy charge for a release with this noise. */
import type { PrivacyParams, specs } from '@measurement-exchange/contract';
import type { RandomSource } from './random.ts';
import { toNumber } from './rational.ts';
import { sampleDiscreteGaussian, sampleDiscreteLaplace } from './sampler.ts';
import {
  discreteGaussianSigma,
  discreteGaussianSigmaSquared,
  discreteGaussianVariance,
  discreteLaplaceVariance,
  gaussianSigma,
  laplaceScale,
} from './sigma.ts';

/** Every mechanism that a released result can report. */
export type ReportedNoiseMechanism = Exclude<
  keyof typeof specs.ProtocolConfig_NoiseMechanism,
  'NOISE_MECHANISM_UNSPECIFIED'
>;

/** The mechanisms that `drawNoise` supports. `GEOMETRIC` is two-sided geometric noise (Laplace on the integers). */
export type NoiseMechanism = Extract<ReportedNoiseMechanism, 'GEOMETRIC' | 'DISCRETE_GAUSSIAN'>;

/**
 * Draws integer noise for a whole number with this sensitivity. Adding the noise makes the number (ε, δ)-differentially
 * private.
 */
export function drawNoise(
  mechanism: NoiseMechanism,
  params: PrivacyParams,
  sensitivity: bigint,
  random: RandomSource,
): bigint {
  switch (mechanism) {
    case 'GEOMETRIC':
      return sampleDiscreteLaplace(laplaceScale(params, sensitivity), random);
    case 'DISCRETE_GAUSSIAN':
      return sampleDiscreteGaussian(discreteGaussianSigmaSquared(params, sensitivity), random);
  }
}

/**
 * The variance of deterministic truncated Laplace noise at sensitivity 1. This mechanism always uses ε = 1 and δ =
 * 1e-3. The variance does not include rounding to whole numbers, which would add about 1/12.
 */
const TRUNCATED_LAPLACE_VARIANCE = 1.931;

/**
 * Returns the variance of the noise in a result that a provider computes without duchies. `params` can be undefined
 * only if the mechanism has no parameters. For results that duchies compute, see `mpcNoise`.
 */
export function noiseVariance(
  mechanism: ReportedNoiseMechanism,
  params: PrivacyParams | undefined,
  sensitivity: number | bigint = 1,
): number {
  const required = () => {
    if (params === undefined) throw new RangeError(`privacyParams are required with ${mechanism} noise`);
    return params;
  };
  const size = Number(sensitivity);
  switch (mechanism) {
    case 'GEOMETRIC':
      return discreteLaplaceVariance(toNumber(laplaceScale(required(), sensitivity)));
    case 'DISCRETE_GAUSSIAN':
      return discreteGaussianVariance(discreteGaussianSigma(required(), sensitivity));
    case 'CONTINUOUS_LAPLACE':
      return 2 * (size / required().epsilon) ** 2;
    case 'CONTINUOUS_GAUSSIAN':
      return gaussianSigma(required(), size) ** 2;
    case 'DETERMINISTIC_TRUNCATED_LAPLACE':
      return TRUNCATED_LAPLACE_VARIANCE * size ** 2;
    case 'NONE':
      return 0;
  }
}

/**
 * The privacy cost of a release: either (ε, δ), or the ρ of zero-concentrated differential privacy. A release with ρ
 * can also have a `delta`, which is the additional δ that arises because the noise is limited to a range.
 */
export type Charge = { epsilon: number; delta: number } | { rho: number; delta?: number };

/**
 * A factor that makes up for any rounding error of ρ or δ, so that the charge is never less than the privacy that was
 * spent.
 */
export const ROUNDED_UP = 1 + 8 * Number.EPSILON;

/**
 * Returns the charge for one release of several figures. Each figure has separate noise, calibrated to `sensitivity`.
 * One privacy unit can change `changed` figures. Each changed figure costs ε with geometric noise, or ρ = sensitivity²
 * / (2σ²) with Gaussian noise.
 */
export function charge(
  mechanism: NoiseMechanism,
  params: PrivacyParams,
  sensitivity = 1n,
  changed = 1,
): Charge {
  switch (mechanism) {
    case 'GEOMETRIC':
      return { epsilon: changed * params.epsilon, delta: 0 };
    case 'DISCRETE_GAUSSIAN': {
      const sigmaSquared = toNumber(discreteGaussianSigmaSquared(params, sensitivity));
      return { rho: ((changed * Number(sensitivity) ** 2) / (2 * sigmaSquared)) * ROUNDED_UP };
    }
  }
}
