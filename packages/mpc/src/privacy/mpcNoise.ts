/**
 * The noise of a multi-party computation. Several workers add a part each, so that none of them knows the sum; a part is
 * bounded and shifted to be at least 0, because it is a number of registers that are added. An aggregator may add a part of
 * its own to the counts that it releases.
 */
import type { MpcNoiseMechanism, PrivacyParams } from '@measurement-exchange/contract';
import {
  MIN_MPC_EPSILON,
  type MpcNoiseShape,
  mpcGaussianSigma,
  mpcNoiseOffset,
  SHARE_SHUFFLE_NOISE,
} from '@measurement-exchange/contract/shareShuffle';
import type { RandomSource } from './random.ts';
import { exactRational, roundedUp, toNumber } from './rational.ts';
import { sampleDiscreteGaussian, sampleDiscreteLaplace, samplePolya } from './sampler.ts';
import { checkGaussian, discreteGaussianVariance, discreteLaplaceVariance, laplaceScale } from './sigma.ts';

/** How noise is distributed. */
export type MpcNoise = {
  /** The part of each worker is within ±offset, and is shifted by it. */
  offset: number;
  /** The variance of the sum of all parts, including the aggregator's where it adds one. */
  variance: number;
} & (
  | {
      mechanism: 'DISCRETE_GAUSSIAN';
      /** σ of the workers' sum, and of the aggregator's part. */
      sigma: number;
      /** σ of one worker's part. */
      workerSigma: number;
    }
  | {
      mechanism: 'GEOMETRIC';
      /** The workers' sum has P[x] proportional to exp(−|x| / scale), as has the aggregator's part. */
      scale: number;
      /** How many parts that sum has. */
      workers: number;
    }
  | { mechanism: 'NONE' }
);

/** The noise for (ε, δ), by default in the shape of share shuffle. Without noise, `params` may be missing. */
export function mpcNoise(
  mechanism: MpcNoiseMechanism,
  params: PrivacyParams | undefined,
  shape: MpcNoiseShape = SHARE_SHUFFLE_NOISE,
): MpcNoise {
  if (mechanism === 'NONE') return { mechanism, offset: 0, variance: 0 };
  if (params === undefined) throw new RangeError(`privacyParams are required with ${mechanism} noise`);
  checkGaussian(params);
  if (params.epsilon < MIN_MPC_EPSILON) {
    throw new RangeError(`privacyParams.epsilon must be at least ${MIN_MPC_EPSILON}`);
  }
  const { workers, sensitivity, aggregatorAdds } = shape;
  const offset = mpcNoiseOffset(mechanism, params, shape);
  switch (mechanism) {
    case 'DISCRETE_GAUSSIAN': {
      const sigma = mpcGaussianSigma(params);
      const workerSigma = sigma / Math.sqrt(workers);
      return {
        mechanism,
        sigma,
        workerSigma,
        offset,
        variance:
          workers * discreteGaussianVariance(workerSigma) +
          (aggregatorAdds ? discreteGaussianVariance(sigma) : 0),
      };
    }
    case 'GEOMETRIC': {
      const scale = toNumber(laplaceScale(params, sensitivity));
      return {
        mechanism,
        scale,
        workers,
        offset,
        variance: (aggregatorAdds ? 2 : 1) * discreteLaplaceVariance(scale),
      };
    }
  }
}

/**
 * One worker's part, between 0 and twice the offset: an exact draw, again until it is within ±offset, plus the offset.
 * The difference of two Pólya draws of shape 1/n is an n-th of a two-sided geometric draw.
 */
export function drawMpcNoise(noise: MpcNoise, random: RandomSource): number {
  switch (noise.mechanism) {
    case 'DISCRETE_GAUSSIAN': {
      const variance = roundedUp(exactRational(noise.workerSigma ** 2));
      for (;;) {
        const draw = Number(sampleDiscreteGaussian(variance, random));
        if (Math.abs(draw) <= noise.offset) return noise.offset + draw;
      }
    }
    case 'GEOMETRIC': {
      const scale = roundedUp(exactRational(noise.scale));
      const part = () => {
        for (;;) {
          const draw = samplePolya(scale, random, noise.workers);
          if (draw <= noise.offset) return draw;
        }
      };
      return noise.offset + part() - part();
    }
    case 'NONE':
      return 0;
  }
}

/**
 * The aggregator's part, an exact draw around 0. It alone is worth the whole charge, because a lying worker that
 * works with the consumer can take out the parts of both workers. It is not a number of registers, so nothing is cut
 * off.
 */
export function drawAggregatorNoise(noise: MpcNoise, random: RandomSource): number {
  switch (noise.mechanism) {
    case 'DISCRETE_GAUSSIAN':
      return Number(sampleDiscreteGaussian(roundedUp(exactRational(noise.sigma ** 2)), random));
    case 'GEOMETRIC':
      return Number(sampleDiscreteLaplace(roundedUp(exactRational(noise.scale)), random));
    case 'NONE':
      return 0;
  }
}
