/** Limits of HonestMajorityShareShuffle: the exchange chooses the protocol only within them, and duchies reject more. */
import type { PrivacyParams } from '../specs/measurementSpec.ts';
import type { MpcNoiseMechanism } from '../values/states.ts';

/** How many workers add noise. */
export const NOISE_WORKERS = 2;
/** With a smaller epsilon, the noise alone would fill the memory of a worker. */
export const MIN_MPC_EPSILON = 1e-6;
/** One person changes two bins of a histogram by one each: the one it leaves and the one it enters. */
export const GEOMETRIC_SENSITIVITY = 2;
/** Noise registers of one worker: more would fill its memory. */
export const MAX_NOISE_REGISTERS = 2 ** 24;
/** Registers of the sample and of both workers' noise. A worker has a byte for each in memory; below 2^30 sums are exact. */
export const MAX_SHUFFLED = 500_000_000;

/** The standard deviation of all workers' Gaussian noise together. */
export function mpcGaussianSigma({ epsilon, delta }: PrivacyParams): number {
  return Math.sqrt(2 * Math.log(1.25 / (delta / 2))) / epsilon;
}

/** The workers that add noise to a count, and how much one person can change that count. */
export interface MpcNoiseShape {
  /** The number of workers. Each draws a part of the noise, and the parts together are the noise that is charged. */
  workers: number;
  /** How much one person can change the count; only GEOMETRIC noise uses it. */
  sensitivity: number;
  /** Whether the aggregator adds a part of its own to what it releases, as large as those of the workers together. */
  aggregatorAdds?: boolean;
}

export const SHARE_SHUFFLE_NOISE: MpcNoiseShape = {
  workers: NOISE_WORKERS,
  sensitivity: GEOMETRIC_SENSITIVITY,
  aggregatorAdds: true,
};

/** The noise of a worker is within ±offset. It adds noise + offset registers, because their number cannot be negative. */
export function mpcNoiseOffset(
  mechanism: MpcNoiseMechanism,
  params: PrivacyParams,
  { workers, sensitivity }: MpcNoiseShape = SHARE_SHUFFLE_NOISE,
): number {
  if (mechanism === 'NONE') return 0;
  const { epsilon, delta } = params;
  // ln(1 + e^ε), without the overflow of e^ε.
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
 * How many registers each worker appends for its noise, whatever the noise is. A reach has one draw, and a frequency offset of
 * 0. A frequency histogram has a draw for every value of the ring but the last, because a provider that lies can move a person
 * to any of them; the last value marks the registers that are left over.
 */
export function noiseRegisterCount(
  ringModulus: number,
  reachOffset: number,
  frequencyOffset: number,
): number {
  return 2 * (reachOffset + (ringModulus - 2) * frequencyOffset);
}
