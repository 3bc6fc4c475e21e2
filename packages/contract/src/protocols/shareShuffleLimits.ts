/**
 * Limits of the HonestMajorityShareShuffle protocol. The exchange chooses the protocol only within these limits, and
 * duchies reject values outside them.
 */
import type { PrivacyParams } from '../specs/measurementSpec.ts';
import type { MpcNoiseMechanism } from '../values/states.ts';

/** The number of workers that add noise. */
export const NOISE_WORKERS = 2;
/** The minimum epsilon. With a smaller epsilon, the noise alone would fill a worker's memory. */
export const MIN_MPC_EPSILON = 1e-6;
/** The maximum number of noise registers per worker. More would fill the worker's memory. */
export const MAX_NOISE_REGISTERS = 2 ** 24;
/**
 * The maximum number of registers in the sample and both workers' noise together. A worker needs one byte of memory per
 * register, and the shuffle's arithmetic is exact only below 2^30.
 */
export const MAX_SHUFFLED = 500_000_000;

/** Returns the standard deviation of the sum of all workers' Gaussian noise. */
export function mpcGaussianSigma({ epsilon, delta }: PrivacyParams): number {
  return Math.sqrt(2 * Math.log(1.25 / (delta / 2))) / epsilon;
}

/**
 * Parameters of the noise on a count: the number of workers that add noise, and the influence of one person on the
 * count.
 */
export interface MpcNoiseShape {
  /**
   * The number of workers. Each worker draws a part of the noise, and the privacy parameters apply to the sum of the
   * parts. In the Liquid Legions protocols, the aggregator counts as a worker here.
   */
  workers: number;
  /** The maximum amount by which one person can change the count. Only GEOMETRIC noise uses it. */
  sensitivity: number;
  /**
   * Whether the aggregator also adds noise to its result. The aggregator's noise is as large as the noise of all
   * workers together.
   */
  aggregatorAdds?: boolean;
}

export const SHARE_SHUFFLE_NOISE: MpcNoiseShape = {
  workers: NOISE_WORKERS,
  // One person changes two histogram bins by one each: the bin they leave and the bin they enter.
  sensitivity: 2,
  aggregatorAdds: true,
};

/**
 * Returns the noise offset, which is the maximum absolute value of a worker's noise. A worker adds (noise + offset)
 * registers, so the number of registers is never negative.
 */
export function mpcNoiseOffset(
  mechanism: MpcNoiseMechanism,
  params: PrivacyParams,
  { workers, sensitivity }: MpcNoiseShape = SHARE_SHUFFLE_NOISE,
): number {
  if (mechanism === 'NONE') return 0;
  const { epsilon, delta } = params;
  // ln(1 + e^epsilon), computed so that e^epsilon does not overflow.
  const logOnePlusExp = epsilon + Math.log1p(Math.exp(-epsilon));
  if (mechanism === 'GEOMETRIC') {
    const logTail = Math.log((2 * workers * sensitivity) / delta) + logOnePlusExp;
    return Math.ceil((logTail * sensitivity) / epsilon);
  }
  const logTail = Math.log(workers / (delta / 2)) + logOnePlusExp;
  const workerSigma = mpcGaussianSigma(params) / Math.sqrt(workers);
  return Math.ceil(workerSigma * Math.sqrt(2 * logTail));
}

/**
 * Returns the number of registers that each worker appends as noise. A noise draw with an offset of n takes at most 2n
 * registers. Each worker also appends the registers that its draws leave unused, so the number does not depend on the
 * draws. A reach measurement needs one draw of reach noise, and its `frequencyOffset` is 0. A frequency measurement
 * needs a draw for every ring value except the last, because a lying provider can move a person to any of these values.
 * Value 0 gets reach noise, and the other values get frequency noise. The last value marks unused registers.
 */
export function noiseRegisterCount(ringModulus: number, reachOffset: number, frequencyOffset: number) {
  return 2 * (reachOffset + (ringModulus - 2) * frequencyOffset);
}
