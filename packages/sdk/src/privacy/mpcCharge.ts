/** What a release by the workers of a multi-party computation costs the people of one data provider. */
import { GEOMETRIC_SENSITIVITY, NOISE_WORKERS, type PrivacyParams } from '@measurement-exchange/contract';
import { mpcNoise } from './mpcNoise.ts';
import { type Charge, type NoiseMechanism, ROUNDED_UP } from './noise.ts';

/** What is released. Without noise there is no price: that is for the data provider to refuse. */
export type MpcRelease = { noiseMechanism: NoiseMechanism; reachPrivacyParams: PrivacyParams } & (
  | { measurementType: 'REACH' }
  | { measurementType: 'REACH_AND_FREQUENCY'; frequencyPrivacyParams: PrivacyParams }
);

/**
 * What the workers' counts cost one unit of privacy (docs/privacy.md). A reach is one count. A frequency histogram has a
 * count of the people at 0, with the noise of the reach, and one for each frequency, with the noise of the frequency; a
 * unit moves one person from one count to another, and pays for the two that cost the most. Throws a RangeError where
 * the parameters cannot be met.
 */
export function mpcCharge(release: MpcRelease): Charge {
  const { noiseMechanism } = release;
  const reach = countCost(noiseMechanism, release.reachPrivacyParams);
  let { spent, delta } = reach;
  if (release.measurementType === 'REACH_AND_FREQUENCY') {
    const frequency = countCost(noiseMechanism, release.frequencyPrivacyParams);
    spent = frequency.spent + Math.max(reach.spent, frequency.spent);
    delta = frequency.delta + Math.max(reach.delta, frequency.delta);
  }
  return noiseMechanism === 'GEOMETRIC' ? { epsilon: spent, delta } : { rho: spent, delta };
}

/** Of one count: `spent` is in epsilon for geometric noise, in rho for Gaussian noise. */
function countCost(mechanism: NoiseMechanism, params: PrivacyParams): Record<'spent' | 'delta', number> {
  const noise = mpcNoise(mechanism, params);
  const logOnePlusExp = params.epsilon + Math.log1p(Math.exp(-params.epsilon));
  // θ, the chance that a draw is cut off, changes what two neighbors show by (1 + e^ε) θ at most.
  const delta = (logTheta: number) => Math.exp(logTheta + logOnePlusExp) * ROUNDED_UP;
  switch (noise.mechanism) {
    case 'GEOMETRIC': {
      const { scale, offset } = noise;
      // Each part is the difference of two draws.
      return {
        spent: params.epsilon / GEOMETRIC_SENSITIVITY,
        delta: delta(Math.log(2 * NOISE_WORKERS) - (offset + 1) / scale),
      };
    }
    case 'DISCRETE_GAUSSIAN': {
      const { workerSigma, offset } = noise;
      return {
        spent: sumRho(workerSigma) * ROUNDED_UP,
        delta: delta(Math.log(NOISE_WORKERS) - (offset / workerSigma) ** 2 / 2),
      };
    }
    case 'NONE':
      throw new RangeError('a release without noise has no price');
  }
}

/**
 * rho of the sum of the workers' discrete Gaussians, which is not quite one itself (Kairouz, Liu and Steinke 2021,
 * theorem 1). Below σ = 1/2 that theorem is silent, and only one worker's noise counts.
 */
function sumRho(workerSigma: number): number {
  if (workerSigma < 0.5) return 1 / (2 * workerSigma ** 2);
  const sigma = workerSigma * Math.sqrt(NOISE_WORKERS);
  let distance = 0;
  for (let k = 1; k < NOISE_WORKERS; k++) {
    distance += Math.exp(-2 * Math.PI ** 2 * workerSigma ** 2 * (k / (k + 1)));
  }
  const epsilon = Math.min(Math.sqrt(1 / sigma ** 2 + 5 * distance), 1 / sigma + 10 * distance);
  return epsilon ** 2 / 2;
}
