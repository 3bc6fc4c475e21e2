/**
 * Entry point for differential privacy. Computes the noise that a result needs, draws the noise, and computes the
 * privacy cost and the error of a result.
 */

export type { MpcRelease } from './privacy/countCost.ts';
export * from './privacy/liquidLegions.ts';
export {
  type LiquidLegionsIntervalParams,
  liquidLegionsReachInterval,
} from './privacy/liquidLegionsReach.ts';
export { drawAggregatorNoise, drawMpcNoise, type MpcNoise, mpcNoise } from './privacy/mpcNoise.ts';
export {
  type Charge,
  charge,
  drawNoise,
  type NoiseMechanism,
  noiseVariance,
  type ReportedNoiseMechanism,
} from './privacy/noise.ts';
export { type RandomSource, secureRandom } from './privacy/random.ts';
export type { Rational } from './privacy/rational.ts';
export { sampleDiscreteGaussian, sampleDiscreteLaplace } from './privacy/sampler.ts';
export {
  discreteGaussianSigma,
  discreteGaussianVariance,
  discreteLaplaceVariance,
  gaussianSigma,
} from './privacy/sigma.ts';
export * from './privacy/variance.ts';
export {
  type BucketRange,
  bucketRange,
  isSampled,
  sampleBucket,
  type VidSamplingInterval,
} from './privacy/vidSampling.ts';
export { mpcCharge } from './protocols/honestMajorityShareShuffle/charge.ts';
export * from './protocols/honestMajorityShareShuffle/variance.ts';
export { type LegionsRelease, legionsCharge } from './protocols/liquidLegions/charge.ts';
