/** Differential privacy: calibrating and drawing noise, sampling people, and the uncertainty of a figure. */
export * from './liquidLegions.ts';
export { type LiquidLegionsIntervalParams, liquidLegionsReachInterval } from './liquidLegionsReach.ts';
export { type LegionsRelease, legionsCharge, type MpcRelease, mpcCharge } from './mpcCharge.ts';
export { drawAggregatorNoise, drawMpcNoise, type MpcNoise, mpcNoise } from './mpcNoise.ts';
export {
  type Charge,
  charge,
  drawNoise,
  type NoiseMechanism,
  noiseVariance,
  type ReportedNoiseMechanism,
} from './noise.ts';
export { type RandomSource, secureRandom } from './random.ts';
export type { Rational } from './rational.ts';
export { sampleDiscreteGaussian, sampleDiscreteLaplace } from './sampler.ts';
export * from './shareShuffleVariance.ts';
export {
  discreteGaussianSigma,
  discreteGaussianVariance,
  discreteLaplaceVariance,
  gaussianSigma,
} from './sigma.ts';
export * from './variance.ts';
export {
  type BucketRange,
  bucketRange,
  isSampled,
  sampleBucket,
  type VidSamplingInterval,
} from './vidSampling.ts';
