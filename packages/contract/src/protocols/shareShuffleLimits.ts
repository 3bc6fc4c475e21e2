/** Limits of HonestMajorityShareShuffle. The exchange chooses the protocol only within them, and duchies reject larger values. */
import type { PrivacyParams } from '../specs/measurementSpec.ts';
import type { MpcNoiseMechanism } from '../values/states.ts';

/** The number of workers that add noise. */
export const NOISE_WORKERS = 2;
/** With a smaller epsilon, the noise alone would fill the memory of a worker. */
export const MIN_MPC_EPSILON = 1e-6;
/** The maximum number of noise registers of one worker: more would fill its memory. */
export const MAX_NOISE_REGISTERS = 2 ** 24;
/**
 * The maximum number of registers of the sample and of both workers' noise. A worker has one byte of memory for each, and
 * sums are exact below 2^30.
 */
export const MAX_SHUFFLED = 500_000_000;

/** The standard deviation of the sum of all workers' Gaussian noise. */
export function mpcGaussianSigma({ epsilon, delta }: PrivacyParams): number {
  return Math.sqrt(2 * Math.log(1.25 / (delta / 2))) / epsilon;
}

/** The workers that add noise to a count, and how much one person can change that count. */
export interface MpcNoiseShape {
  /** The number of workers. Each worker draws a part of the noise, and the sum of the parts is charged. */
  workers: number;
  /** How much one person can change the count; only GEOMETRIC noise uses it. */
  sensitivity: number;
  /** Whether the aggregator adds noise to its result too, as much as all workers together. */
  aggregatorAdds?: boolean;
}

export const SHARE_SHUFFLE_NOISE: MpcNoiseShape = {
  workers: NOISE_WORKERS,
  // One person changes two bins of a histogram by one each: the bin it leaves and the bin it enters.
  sensitivity: 2,
  aggregatorAdds: true,
};

/** The noise of a worker is within ±offset. A worker adds noise + offset registers, because their number cannot be negative. */
export function mpcNoiseOffset(
  mechanism: MpcNoiseMechanism,
  params: PrivacyParams,
  { workers, sensitivity }: MpcNoiseShape = SHARE_SHUFFLE_NOISE,
): number {
  if (mechanism === 'NONE') return 0;
  const { epsilon, delta } = params;
  // This is ln(1 + e^ε), computed without the overflow of e^ε.
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
 * The number of registers that each worker appends for its noise; it does not depend on the noise that is drawn. A reach has
 * one draw and a frequency offset of 0. A histogram has a draw for every value of the ring except the last, because a lying
 * provider can move a person to any of these values; the last value marks unused registers.
 */
export function noiseRegisterCount(ringModulus: number, reachOffset: number, frequencyOffset: number) {
  return 2 * (reachOffset + (ringModulus - 2) * frequencyOffset);
}
