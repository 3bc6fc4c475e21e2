/** The noise mechanisms: drawing noise, the variance a reader must expect, and the charge for a release. */
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

/** Every mechanism a released result can name. */
export type ReportedNoiseMechanism = Exclude<
  keyof typeof specs.ProtocolConfig_NoiseMechanism,
  'NOISE_MECHANISM_UNSPECIFIED'
>;

/**
 * The mechanisms this SDK draws from, by the name the released result carries. Laplace noise on the integers
 * is the two-sided geometric mechanism, and is called that.
 */
export type NoiseMechanism = Extract<ReportedNoiseMechanism, 'GEOMETRIC' | 'DISCRETE_GAUSSIAN'>;

/** One draw of integer noise that gives (ε, δ) to a whole-number figure of the given sensitivity. */
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
 * The deterministic truncated Laplace noise has fixed parameters (ε = 1, δ = 1e-3). This is the variance of
 * the truncated distribution at sensitivity 1; rounding to whole numbers adds about 1/12 to it.
 */
const TRUNCATED_LAPLACE_VARIANCE = 1.931;

/**
 * Variance of the noise a result of this mechanism carries, for the mechanisms this SDK draws from with the
 * very calibration it draws with. `params` may be missing where the mechanism takes none. It is about direct
 * results: the workers of a multi-party computation share their noise and calibrate it in their own way.
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
 * The amount that a release takes from a budget: (ε, δ) for basic composition, or ρ of zero-concentrated privacy,
 * with a δ where the noise is cut off.
 */
export type Charge = { epsilon: number; delta: number } | { rho: number; delta?: number };

/** More than the rounding errors of ρ together, so that what is charged is never below what was spent. */
export const ROUNDED_UP = 1 + 8 * Number.EPSILON;

/**
 * The charge for one release of figures with noise of their own, each calibrated to `sensitivity`. The events of one
 * unit of privacy change `changed` of them at once. For each of these, geometric noise costs ε, and Gaussian noise
 * costs ρ = sensitivity² / (2σ²).
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
