/**
 * The noise of a multi-party computation. Each worker adds a part of the noise, so that no worker knows the sum. A
 * worker's part is bounded and shifted to be at least 0, because the part is a number of registers to add. In some
 * protocols, the aggregator adds another part to the counts that it releases.
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

/** The distribution of the noise. */
export type MpcNoise = {
  /**
   * Each worker draws its part of the noise between −offset and +offset, and then adds `offset`, so that the part is
   * not negative.
   */
  offset: number;
  /** The variance of the sum of all parts, including the aggregator's part if the aggregator adds noise. */
  variance: number;
} & (
  | {
      mechanism: 'DISCRETE_GAUSSIAN';
      /** The σ of the sum of all workers' noise. The aggregator's noise has the same σ. */
      sigma: number;
      workerSigma: number;
    }
  | {
      mechanism: 'GEOMETRIC';
      /**
       * The scale of the sum of all workers' noise, and of the aggregator's noise. The probability of x is proportional
       * to exp(−|x|/scale).
       */
      scale: number;
      workers: number;
    }
  | { mechanism: 'NONE' }
);

/**
 * Returns the noise that provides (ε, δ)-differential privacy. The default `shape` is for Honest Majority Share
 * Shuffle. `NONE` needs no `params`.
 */
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
      const added = aggregatorAdds ? discreteGaussianVariance(sigma) : 0;
      const variance = workers * discreteGaussianVariance(workerSigma) + added;
      return { mechanism, sigma, workerSigma, offset, variance };
    }
    case 'GEOMETRIC': {
      const scale = toNumber(laplaceScale(params, sensitivity));
      const variance = (aggregatorAdds ? 2 : 1) * discreteLaplaceVariance(scale);
      return { mechanism, scale, workers, offset, variance };
    }
  }
}

/**
 * Draws one worker's part: repeats an exact draw until it is within the bounds, and then adds the offset. For geometric
 * noise, a part is the difference of two Pólya draws of shape 1/n (n is the number of workers), each bounded by the
 * offset. The unbounded parts of all workers would add up to two-sided geometric noise.
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
 * Draws the aggregator's part, an exact draw centered at 0. This part alone must provide the privacy that the charge
 * assumes, because a dishonest worker that colludes with the consumer can leave out its own noise and cancel the other
 * worker's noise. The part needs no bound, because it is not a number of registers.
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
