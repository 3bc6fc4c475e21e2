/** What a release by the workers of a multi-party computation costs the people of one data provider. */
import {
  legionsNoiseShapes,
  type MpcNoiseShape,
  NOISE_WORKERS,
  type PrivacyParams,
  SHARE_SHUFFLE_NOISE,
} from '@measurement-exchange/contract';
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
  const countCost = (params: PrivacyParams) =>
    costOfCount(noiseMechanism, params, SHARE_SHUFFLE_NOISE, NOISE_WORKERS);
  const reach = countCost(release.reachPrivacyParams);
  let { spent, delta } = reach;
  if (release.measurementType === 'REACH_AND_FREQUENCY') {
    const frequency = countCost(release.frequencyPrivacyParams);
    spent = frequency.spent + Math.max(reach.spent, frequency.spent);
    delta = frequency.delta + Math.max(reach.delta, frequency.delta);
  }
  return chargeOf(noiseMechanism, { spent, delta });
}

/** What is released by a Liquid Legions protocol, and what hides the rest from its aggregator. */
export type LegionsRelease = MpcRelease & {
  dataProviders: number;
  /** The aggregator included: each of them adds noise. */
  duchies: number;
  histogramPrivacyParams: PrivacyParams;
  publisherPrivacyParams: PrivacyParams;
};

/**
 * What the aggregator of a Liquid Legions protocol sees, which is more than the consumer, costs one unit of privacy
 * (docs/privacy.md). A unit changes one register of one provider, and with it the number of empty ones. Where no other
 * provider has the register, it changes the number of registers in use, and one frequency; else it moves a register
 * between two numbers of providers, and between two frequencies. The aggregator knows its own noise, so only that of the
 * others counts. Throws a RangeError where the parameters cannot be met.
 */
export function legionsCharge(release: LegionsRelease): Charge {
  const { noiseMechanism, duchies, dataProviders } = release;
  const shapes = legionsNoiseShapes(dataProviders, duchies);
  const costOf = (count: keyof typeof shapes, params: PrivacyParams) =>
    costOfCount(noiseMechanism, params, shapes[count], duchies - 1);
  const reach = costOf('reach', release.reachPrivacyParams);
  const publisher = costOf('publisher', release.publisherPrivacyParams);
  const histogram = costOf('histogram', release.histogramPrivacyParams);
  const frequency =
    release.measurementType === 'REACH' ? FREE : costOf('frequency', release.frequencyPrivacyParams);
  const total = (measure: keyof Cost) =>
    publisher[measure] +
    frequency[measure] +
    Math.max(reach[measure], frequency[measure] + 2 * histogram[measure]);
  return chargeOf(noiseMechanism, { spent: total('spent'), delta: total('delta') });
}

/** `spent` is in epsilon for geometric noise, in rho for Gaussian noise. */
type Cost = Record<'spent' | 'delta', number>;
const FREE: Cost = { spent: 0, delta: 0 };

function chargeOf(mechanism: NoiseMechanism, { spent, delta }: Cost): Charge {
  return mechanism === 'GEOMETRIC' ? { epsilon: spent, delta } : { rho: spent, delta };
}

/** Of one count that a unit changes by 1. `unknown` is of how many workers the one who sees it does not know the noise. */
function costOfCount(
  mechanism: NoiseMechanism,
  params: PrivacyParams,
  shape: MpcNoiseShape,
  unknown: number,
): Cost {
  const noise = mpcNoise(mechanism, params, shape);
  const logOnePlusExp = params.epsilon + Math.log1p(Math.exp(-params.epsilon));
  // θ, the chance that a draw is cut off, changes what two neighbors show by (1 + e^ε) θ at most.
  const delta = (logTheta: number) => Math.exp(logTheta + logOnePlusExp) * ROUNDED_UP;
  switch (noise.mechanism) {
    case 'GEOMETRIC': {
      const { scale, offset } = noise;
      // Each part is the difference of two draws.
      return {
        spent: params.epsilon / shape.sensitivity,
        delta: delta(Math.log(2 * unknown) - (offset + 1) / scale),
      };
    }
    case 'DISCRETE_GAUSSIAN': {
      const { workerSigma, offset } = noise;
      return {
        spent: sumRho(workerSigma, unknown) * ROUNDED_UP,
        delta: delta(Math.log(unknown) - (offset / workerSigma) ** 2 / 2),
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
function sumRho(workerSigma: number, workers: number): number {
  if (workerSigma < 0.5) return 1 / (2 * workerSigma ** 2);
  const sigma = workerSigma * Math.sqrt(workers);
  let distance = 0;
  for (let k = 1; k < workers; k++) {
    distance += Math.exp(-2 * Math.PI ** 2 * workerSigma ** 2 * (k / (k + 1)));
  }
  const epsilon = Math.min(Math.sqrt(1 / sigma ** 2 + 5 * distance), 1 / sigma + 10 * distance);
  return epsilon ** 2 / 2;
}
