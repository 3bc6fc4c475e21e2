/**
 * Compares the exact privacy loss with the charge, for each coalition that docs/privacy.md names for the share shuffle
 * protocol. A coalition subtracts the noise that it knows, so only the other parts of the noise protect a count.
 */
import type { PrivacyParams } from '@measurement-exchange/contract';
import { describe, expect, test } from 'vitest';
import {
  aggregatorPart,
  convolved,
  divergence,
  neighbors,
  shiftedPairs,
  workerPart,
} from '../../../test/exactNoise.ts';
import { mpcNoise } from '../../privacy/mpcNoise.ts';
import type { NoiseMechanism } from '../../privacy/noise.ts';
import { mpcCharge } from './charge.ts';

/**
 * The privacy loss if one count changes by one. `spent` is in rho with Gaussian noise, in epsilon with geometric noise.
 */
interface Cost {
  spent: number;
  delta: number;
}

const ORDERS = [1.01, 2, 5, 20];
/**
 * The maximum distance from 0 at which probabilities are compared. At larger distances, all terms of the divergence are
 * below 10⁻¹⁵ for every order in ORDERS.
 */
const COMPARED = 100;

function costOf(mechanism: NoiseMechanism, pairs: [number, number][]): number {
  if (mechanism === 'DISCRETE_GAUSSIAN') {
    return Math.max(...ORDERS.map((order) => divergence(pairs, order) / order));
  }
  return Math.max(...pairs.filter(([p]) => p > 0).map(([p, q]) => Math.abs(Math.log(p / q))));
}

/**
 * The privacy loss of one count for each coalition. The workers' noise is truncated, so the loss includes a delta if
 * only the workers' noise protects the count. The aggregator's noise is not truncated, so the delta is 0 if the
 * aggregator's noise also protects the count.
 */
const COALITIONS: Record<string, (mechanism: NoiseMechanism, params: PrivacyParams) => Cost> = {
  'an aggregator that looks, alone or with providers (noise of both workers)': (mechanism, params) => {
    const { left, lost } = neighbors(mpcNoise(mechanism, params));
    return { spent: costOf(mechanism, left), delta: lost };
  },
  'a consumer with a worker that lies (noise of the aggregator)': (mechanism, params) => {
    const noise = aggregatorPart(mpcNoise(mechanism, params), COMPARED + 200);
    return { spent: costOf(mechanism, shiftedPairs(noise, COMPARED)), delta: 0 };
  },
  'a consumer with a worker that looks (noise of the other worker and the aggregator)': (
    mechanism,
    params,
  ) => {
    const noise = mpcNoise(mechanism, params);
    const sum = convolved(workerPart(noise, noise.offset), aggregatorPart(noise, COMPARED + 200));
    return { spent: costOf(mechanism, shiftedPairs(sum, COMPARED)), delta: 0 };
  },
  'a consumer, alone or with providers (noise of all duchies)': (mechanism, params) => {
    const noise = mpcNoise(mechanism, params);
    const worker = workerPart(noise, noise.offset);
    const sum = convolved(convolved(worker, worker), aggregatorPart(noise, COMPARED + 300));
    return { spent: costOf(mechanism, shiftedPairs(sum, COMPARED)), delta: 0 };
  },
};

const REACH = { epsilon: 1, delta: 1e-6 };
const FREQUENCIES = [
  { epsilon: 2, delta: 1e-9 },
  { epsilon: 0.7, delta: 1e-5 },
];

function charged(mechanism: NoiseMechanism, frequency?: PrivacyParams): Cost {
  const charge = mpcCharge({
    noiseMechanism: mechanism,
    reachPrivacyParams: REACH,
    ...(frequency
      ? { measurementType: 'REACH_AND_FREQUENCY', frequencyPrivacyParams: frequency }
      : { measurementType: 'REACH' }),
  });
  return { spent: 'rho' in charge ? charge.rho : charge.epsilon, delta: charge.delta ?? 0 };
}

const ROUNDING = 1 + 1e-9;

describe.each(['DISCRETE_GAUSSIAN', 'GEOMETRIC'] as const)('with %s noise', (mechanism) => {
  test.each(Object.entries(COALITIONS))('the charge is at least the exact privacy loss to %s', (_, cost) => {
    const reach = cost(mechanism, REACH);
    const ofReach = charged(mechanism);
    expect(reach.spent).toBeLessThanOrEqual(ofReach.spent * ROUNDING);
    expect(reach.delta).toBeLessThanOrEqual(ofReach.delta);
    for (const params of FREQUENCIES) {
      const frequency = cost(mechanism, params);
      const both = charged(mechanism, params);
      // A person moves between 0 and a frequency, or between two frequencies. The two counts have independent noise, so
      // the losses add up.
      for (const first of [reach, frequency]) {
        expect(first.spent + frequency.spent).toBeLessThanOrEqual(both.spent * ROUNDING);
        expect(first.delta + frequency.delta).toBeLessThanOrEqual(both.delta);
      }
    }
  });

  test('the charge is no more than the largest privacy loss to any coalition', () => {
    const weakest = (params: PrivacyParams) =>
      Math.max(...Object.values(COALITIONS).map((cost) => cost(mechanism, params).spent));
    expect(charged(mechanism).spent / weakest(REACH)).toBeCloseTo(1, 3);
    for (const params of FREQUENCIES) {
      const most = weakest(params) + Math.max(weakest(REACH), weakest(params));
      expect(charged(mechanism, params).spent / most).toBeCloseTo(1, 3);
    }
  });

  test('the privacy loss to a consumer with a lying worker equals that to the aggregator; others are lower', () => {
    const [aggregator, lying, looking, consumer] = Object.values(COALITIONS).map(
      (cost) => cost(mechanism, REACH).spent,
    ) as [number, number, number, number];
    expect(lying / aggregator).toBeCloseTo(1, 3);
    expect(looking).toBeLessThan(lying * ROUNDING);
    expect(consumer).toBeLessThan(looking * ROUNDING);
  });
});
