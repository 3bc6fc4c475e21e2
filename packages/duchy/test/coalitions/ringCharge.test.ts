/**
 * Computes exactly what coalitions of parties can learn from a ring of duchies. Covers the coalitions for which
 * docs/privacy.md makes a promise. The formulas are independent of the product's code. They compute the divergence
 * between two neighboring inputs from the distribution of the noise that the coalition does not know. The divergence
 * must not exceed the privacy charge.
 */

import { frequencyParameters } from '@measurement-exchange/mpc/protocols/liquidLegionsV2/limits';
import { reachOnlyParameters } from '@measurement-exchange/mpc/protocols/reachOnlyLiquidLegionsV2/limits';
import { legionsCharge } from '@measurement-exchange/sdk';
import { describe, expect, test } from 'vitest';
import { type Noise, type PlainRegister, viewOf } from './ringModel.ts';

const PRIVACY = {
  reach: { epsilon: 1, delta: 1e-3 },
  frequency: { epsilon: 1.5, delta: 1e-4 },
  histogram: { epsilon: 0.9, delta: 1e-5 },
  publisher: { epsilon: 0.7, delta: 1e-5 },
};
type Count = keyof typeof PRIVACY;
const [PROVIDERS, DUCHIES, MAXIMUM] = [3, 3, 3];

const SPEC = {
  ...({ noiseMechanism: 'DISCRETE_GAUSSIAN', decayRate: 3, maxSize: 20 } as const),
  ...{ dataProviderCount: PROVIDERS, duchyCount: DUCHIES, maximumFrequency: MAXIMUM },
  privacyParams: PRIVACY.reach,
  frequencyPrivacyParams: PRIVACY.frequency,
  histogramPrivacyParams: PRIVACY.histogram,
  publisherPrivacyParams: PRIVACY.publisher,
};
const FULL = frequencyParameters(SPEC);
const REACH_ONLY = reachOnlyParameters(SPEC);

/** Noise counts. After every shift, each count is still positive and below the maximum that the duchies can draw. */
const NOISE: Noise = {
  ...{ reach: 30, publisher: 30, several: 30, duchies: DUCHIES },
  histogram: Array(PROVIDERS).fill(30),
  frequency: Array(MAXIMUM).fill(30),
};

/** The change in each noise count that makes one of two neighboring inputs look like the other input. */
type Shift = {
  reach?: number;
  publisher?: number;
  several?: number;
  histogram?: number[];
  frequency?: number[];
};

const shifted = (noise: Noise, shift: Shift): Noise => ({
  ...noise,
  reach: noise.reach + (shift.reach ?? 0),
  publisher: noise.publisher + (shift.publisher ?? 0),
  several: noise.several + (shift.several ?? 0),
  histogram: noise.histogram.map((count, i) => count + (shift.histogram?.[i] ?? 0)),
  frequency: noise.frequency.map((count, i) => count + (shift.frequency?.[i] ?? 0)),
});

const register = (index: string, key = 'a', count = 1): PlainRegister => ({ index, key, count });
const OTHERS = [register('1'), register('2', 'b', 2)];

/**
 * Two neighboring inputs: the registers of three providers, with and without the register `added` of the first
 * provider. `others` has the registers of the second and the third provider. `full` and `reachOnly` change the numbers
 * of noise registers so that both inputs look alike: `full` in Liquid Legions v2, and `reachOnly` in its reach-only
 * version.
 */
interface Neighbors {
  what: string;
  others: PlainRegister[][];
  added: PlainRegister;
  full: Shift;
  reachOnly: Shift;
}

const NEIGHBORS: Neighbors[] = [
  {
    what: 'a register that no other provider has, at frequency 1',
    others: [OTHERS, []],
    added: register('x', 'c', 1),
    full: { reach: -1, publisher: 1, frequency: [-1, 0, 0] },
    reachOnly: { reach: -1, publisher: 1 },
  },
  {
    what: 'a register that no other provider has, at the highest frequency',
    others: [OTHERS, []],
    added: register('x', 'c', 9),
    full: { reach: -1, publisher: 1, frequency: [0, 0, -1] },
    reachOnly: { reach: -1, publisher: 1 },
  },
  {
    what: 'a register with several people of one provider',
    others: [OTHERS, []],
    added: register('x', 'destroyed'),
    full: { reach: -1, publisher: 1 },
    reachOnly: { reach: -1, publisher: 1 },
  },
  {
    what: 'a register that one other provider has, with the same person',
    others: [[...OTHERS, register('x', 'c', 1)], []],
    added: register('x', 'c', 1),
    full: { publisher: 1, histogram: [1, -1, 0], frequency: [1, -1, 0] },
    reachOnly: { publisher: 1, histogram: [1, -1, 0] },
  },
  {
    what: 'a register that all other providers have, with the same person',
    others: [[...OTHERS, register('x', 'c', 1)], [register('x', 'c', 1)]],
    added: register('x', 'c', 9),
    full: { publisher: 1, histogram: [0, 1, -1], frequency: [0, 1, -1] },
    reachOnly: { publisher: 1, histogram: [0, 1, -1] },
  },
  {
    what: 'a register that one other provider has, with another person',
    others: [[...OTHERS, register('x', 'd', 1)], []],
    added: register('x', 'c', 1),
    full: { publisher: 1, histogram: [1, -1, 0], frequency: [1, 0, 0], several: -1 },
    reachOnly: { publisher: 1, histogram: [1, -1, 0] },
  },
];

/**
 * For each coalition: its name, the number of duchies whose noise it does not know, and whether it sees every count or
 * only those that affect the consumer's figures.
 */
const COALITIONS = [
  ['the aggregator, alone or with the consumer', DUCHIES - 1, 'everything'],
  ['a worker with the consumer, which subtracts or leaves out its own noise', DUCHIES - 1, 'figures'],
  ['the consumer, alone or with a provider', DUCHIES, 'figures'],
] as const;

describe.each(NEIGHBORS)('$what', ({ others, added, full, reachOnly }) => {
  const cases = [
    ['liquidLegionsV2', FULL, full],
    ['reachOnlyLiquidLegionsV2', REACH_ONLY, reachOnly],
  ] as const;

  test.each(cases)('gives the same view in %s if the noise is shifted', (protocol, parameters, shift) => {
    const noise = protocol === 'liquidLegionsV2' ? NOISE : { ...NOISE, frequency: [] };
    const without = [[register('own', 'e')], ...others];
    const withIt = [[register('own', 'e'), added], ...others];
    const seen = (sketches: PlainRegister[][], some: Noise) => {
      const { several, destroyed, ...view } = viewOf(parameters, sketches, some);
      // In a computation of reach alone, registers have no keys, so no party sees whether registers with the same index
      // belong to different people.
      return protocol === 'liquidLegionsV2' ? { ...view, several, destroyed } : view;
    };
    expect(seen(withIt, shifted(noise, shift))).toEqual(seen(without, noise));
    expect(seen(withIt, noise)).not.toEqual(seen(without, noise));
  });

  test.each(cases.flatMap((one) => COALITIONS.map((two) => [...two, ...one] as const)))(
    'leaks to %s no more than the charge (noise of %d duchies, %s, %s)',
    (_who, unknown, sees, protocol, _parameters, shift) => {
      const charged = chargeOf(protocol) as { rho: number; delta: number };
      const costs = costsOf(shift, unknown, sees);
      for (const order of [1.01, 2, 5, 20]) {
        const divergence = costs.reduce((sum, cost) => sum + cost.divergence(order), 0);
        expect(divergence).toBeLessThanOrEqual(order * charged.rho * (1 + 1e-9));
      }
      expect(costs.reduce((sum, { lost }) => sum + lost, 0)).toBeLessThanOrEqual(charged.delta);
    },
  );
});

test('the highest cost for the aggregator is between 97 % and 100 % of the charge', () => {
  for (const protocol of ['liquidLegionsV2', 'reachOnlyLiquidLegionsV2'] as const) {
    const { rho } = chargeOf(protocol) as { rho: number };
    const dearest = Math.max(
      ...NEIGHBORS.map(({ full, reachOnly }) =>
        costsOf(protocol === 'liquidLegionsV2' ? full : reachOnly, DUCHIES - 1, 'everything').reduce(
          (sum, cost) => sum + cost.divergence(2) / 2,
          0,
        ),
      ),
    );
    expect(dearest / rho).toBeGreaterThan(0.97);
    expect(dearest / rho).toBeLessThanOrEqual(1);
  }
});

function chargeOf(protocol: 'liquidLegionsV2' | 'reachOnlyLiquidLegionsV2') {
  const common = {
    ...({ noiseMechanism: 'DISCRETE_GAUSSIAN', reachPrivacyParams: PRIVACY.reach } as const),
    ...{ dataProviders: PROVIDERS, duchies: DUCHIES },
    histogramPrivacyParams: PRIVACY.histogram,
    publisherPrivacyParams: PRIVACY.publisher,
  };
  return protocol === 'liquidLegionsV2'
    ? legionsCharge({
        ...common,
        measurementType: 'REACH_AND_FREQUENCY',
        frequencyPrivacyParams: PRIVACY.frequency,
      })
    : legionsCharge({ ...common, measurementType: 'REACH' });
}

interface Cost {
  divergence(order: number): number;
  /**
   * The probability of outcomes that can occur for only one of the two neighboring inputs. The divergence ignores these
   * outcomes, so delta must cover them.
   */
  lost: number;
}

/** Returns the cost of each shifted count for a coalition that does not know the noise of `unknown` duchies. */
function costsOf(shift: Shift, unknown: number, sees: 'everything' | 'figures'): Cost[] {
  const counts: Count[] = [
    ...(shift.reach ? (['reach'] as const) : []),
    ...(shift.several && sees === 'everything' ? (['frequency'] as const) : []),
    ...(shift.publisher && sees === 'everything' ? (['publisher'] as const) : []),
    ...(shift.frequency ?? []).filter((by) => by !== 0).map(() => 'frequency' as const),
    ...(sees === 'everything' ? (shift.histogram ?? []).filter((by) => by !== 0) : []).map(
      () => 'histogram' as const,
    ),
  ];
  return counts.map((count) => costOf(count, unknown));
}

/**
 * Compares the distribution of the sum of the unknown noise with the same distribution shifted by 1. Computes both
 * exactly, from the weights of a discrete Gaussian. The product's code draws again if noise exceeds the offset. The
 * probability of a second draw counts toward `lost`: once for one of the neighboring inputs, and e^epsilon times for
 * the other.
 */
function costOf(count: Count, unknown: number): Cost {
  const { epsilon, delta } = PRIVACY[count];
  const part = Math.sqrt(2 * Math.log(2.5 / delta)) / epsilon / Math.sqrt(DUCHIES);
  const offset = Math.ceil(part * Math.sqrt(2 * Math.log((2 * DUCHIES * (1 + Math.exp(epsilon))) / delta)));
  const most = offset + Math.ceil(6 * part);
  const weights = Array.from({ length: 2 * most + 1 }, (_, i) => Math.exp(-(((i - most) / part) ** 2) / 2));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const one = weights.map((weight) => weight / total);
  const beyond = one.reduce((sum, p, i) => (Math.abs(i - most) > offset ? sum + p : sum), 0);
  let sum = one;
  for (let i = 1; i < unknown; i++) sum = convolved(sum, one);
  const pairs = sum.slice(1).map((p, i): [number, number] => [Math.log(p), Math.log(sum[i]!)]);
  return {
    divergence: (order) =>
      Math.log(pairs.reduce((mass, [p, q]) => mass + Math.exp(order * p + (1 - order) * q), 0)) / (order - 1),
    lost: (1 + Math.exp(epsilon)) * unknown * beyond,
  };
}

function convolved(a: readonly number[], b: readonly number[]): number[] {
  const sum: number[] = Array(a.length + b.length - 1).fill(0);
  a.forEach((p, i) => {
    b.forEach((q, j) => {
      sum[i + j]! += p * q;
    });
  });
  return sum;
}
