import { describe, expect, test } from 'vitest';
import { convolved, divergence, neighbors, workerPart } from '../../test/exactNoise.ts';
import { mpcCharge } from '../protocols/honestMajorityShareShuffle/charge.ts';
import { type LegionsRelease, legionsCharge } from '../protocols/liquidLegions/charge.ts';
import type { MpcRelease } from './countCost.ts';
import { type MpcNoise, mpcNoise } from './mpcNoise.ts';
import type { NoiseMechanism } from './noise.ts';

const A = { epsilon: 0.1, delta: 1e-9 };
const B = { epsilon: 0.4, delta: 1e-12 };

const ofReach = (noiseMechanism: NoiseMechanism, reachPrivacyParams = A) =>
  mpcCharge({ measurementType: 'REACH', noiseMechanism, reachPrivacyParams });
const ofFrequency = (noiseMechanism: NoiseMechanism, reach = A, frequency = A) =>
  mpcCharge({
    measurementType: 'REACH_AND_FREQUENCY',
    noiseMechanism,
    reachPrivacyParams: reach,
    frequencyPrivacyParams: frequency,
  });
const amounts = (charge: ReturnType<typeof mpcCharge>) => ({ epsilon: 0, rho: 0, delta: 0, ...charge });

describe('the charge of a reach with two workers', () => {
  test('is 1 / (2σ²) with Gaussian noise, and half the epsilon with geometric noise', () => {
    const noise = mpcNoise('DISCRETE_GAUSSIAN', A);
    const { sigma } = noise as Extract<MpcNoise, { sigma: number }>;
    expect(amounts(ofReach('DISCRETE_GAUSSIAN')).rho / (1 / (2 * sigma ** 2))).toBeCloseTo(1, 12);
    expect(ofReach('GEOMETRIC')).toMatchObject({ epsilon: 0.05 });
  });

  test('has at most half of the requested delta', () => {
    for (const mechanism of ['DISCRETE_GAUSSIAN', 'GEOMETRIC'] as const) {
      for (const epsilon of [0.001, 0.1, 1, 10, 1000]) {
        for (const delta of [1e-15, 1e-9, 0.5]) {
          const charged = amounts(ofReach(mechanism, { epsilon, delta })).delta;
          expect(charged).toBeGreaterThanOrEqual(0);
          expect(charged).toBeLessThanOrEqual(delta / 2);
        }
      }
    }
  });

  test('is that of one worker alone if the sigma of a worker is below 0.5', () => {
    const params = { epsilon: 12, delta: 1e-9 };
    const noise = mpcNoise('DISCRETE_GAUSSIAN', params);
    const { workerSigma } = noise as Extract<MpcNoise, { sigma: number }>;
    expect(workerSigma).toBeLessThan(0.5);
    expect(amounts(ofReach('DISCRETE_GAUSSIAN', params)).rho).toBeCloseTo(1 / (2 * workerSigma ** 2), 9);
  });
});

describe('the charge of a frequency histogram with two workers', () => {
  test('is that of the reach and one frequency, or of two frequencies if these cost more', () => {
    for (const mechanism of ['DISCRETE_GAUSSIAN', 'GEOMETRIC'] as const) {
      const [a, b] = [amounts(ofReach(mechanism, A)), amounts(ofReach(mechanism, B))];
      for (const measure of ['epsilon', 'rho'] as const) {
        expect(amounts(ofFrequency(mechanism, B, A))[measure]).toBeCloseTo(a[measure] + b[measure], 15);
        expect(amounts(ofFrequency(mechanism, A, B))[measure]).toBeCloseTo(2 * b[measure], 15);
      }
    }
  });

  test('has the sum of the deltas of the two most expensive counts', () => {
    const [a, b] = [A, B].map((params) => amounts(ofReach('DISCRETE_GAUSSIAN', params)).delta);
    expect(amounts(ofFrequency('DISCRETE_GAUSSIAN', A, B)).delta).toBe(b! + a!);
    expect(amounts(ofFrequency('DISCRETE_GAUSSIAN', B, A)).delta).toBe(2 * a!);
  });
});

describe('the charge of a Liquid Legions measurement', () => {
  const HIDING = { epsilon: 0.01, delta: 1e-9 };
  const legions = (changes: Partial<LegionsRelease> = {}) =>
    amounts(
      legionsCharge({
        ...{ measurementType: 'REACH', noiseMechanism: 'DISCRETE_GAUSSIAN', reachPrivacyParams: A },
        ...{ duchies: 3, dataProviders: 2, histogramPrivacyParams: HIDING, publisherPrivacyParams: HIDING },
        ...changes,
      } as LegionsRelease),
    );
  /** Computes rho from the noise of `unknown` duchies: those whose noise the aggregator does not know. */
  const rhoOf = (params: typeof A, unknown = 2, duchies = 3) => {
    const noise = mpcNoise('DISCRETE_GAUSSIAN', params, { workers: duchies, sensitivity: 1 });
    return duchies / unknown / (2 * (noise as Extract<MpcNoise, { sigma: number }>).sigma ** 2);
  };
  const frequencies = (reach: typeof A, frequency: typeof A) => ({
    ...({ measurementType: 'REACH_AND_FREQUENCY', reachPrivacyParams: reach } as const),
    frequencyPrivacyParams: frequency,
  });

  test('for a reach covers the reach and the register count of a provider', () => {
    expect(legions().rho / (rhoOf(A) + rhoOf(HIDING))).toBeCloseTo(1, 12);
    const two = legions({ duchies: 2 }).rho;
    expect(two / (rhoOf(A, 1, 2) + rhoOf(HIDING, 1, 2))).toBeCloseTo(1, 12);
  });

  test('for a reach covers two provider counts instead of the reach if these cost more', () => {
    const rho = legions({ histogramPrivacyParams: B }).rho;
    expect(rho / (2 * rhoOf(B) + rhoOf(HIDING))).toBeCloseTo(1, 12);
  });

  test('for frequencies covers the reach and a frequency, or two frequencies and two provider counts', () => {
    const [a, b, hidden] = [A, B, HIDING].map((params) => rhoOf(params)) as [number, number, number];
    expect(legions(frequencies(B, A)).rho / (b + a + hidden)).toBeCloseTo(1, 12);
    expect(legions(frequencies(A, B)).rho / (2 * b + 3 * hidden)).toBeCloseTo(1, 12);
  });

  test('with geometric noise charges each count in proportion to its calibration', () => {
    const geometric = { noiseMechanism: 'GEOMETRIC', dataProviders: 5 } as const;
    expect(legions(geometric)).toMatchObject({ epsilon: 0.1 + 0.01 / 5, rho: 0 });
    const { epsilon } = legions({ ...geometric, ...frequencies(A, B) });
    expect(epsilon).toBeCloseTo(0.4 / 2 + Math.max(0.1, 0.4 / 2 + 2 * (0.01 / 2)) + 0.01 / 5, 12);
  });

  test('has at most half of the sum of the requested deltas', () => {
    expect(legions().delta).toBeGreaterThan(0);
    expect(legions().delta).toBeLessThanOrEqual((A.delta + HIDING.delta) / 2);
    expect(legions(frequencies(A, A)).delta).toBeLessThanOrEqual((2 * A.delta + 3 * HIDING.delta) / 2);
  });

  test('is at least the exact privacy loss of a count with the noise of two of three duchies', () => {
    const params = { epsilon: 1, delta: 1e-6 };
    const { left, lost } = neighbors(mpcNoise('DISCRETE_GAUSSIAN', params, { workers: 3, sensitivity: 1 }));
    const charged = legions({ reachPrivacyParams: params });
    expect(lost).toBeLessThanOrEqual(charged.delta);
    for (const order of [1.01, 2, 5, 20]) {
      expect(divergence(left, order)).toBeLessThanOrEqual(order * charged.rho);
      expect(divergence(left, order)).toBeGreaterThan(order * charged.rho * 0.9);
    }
  });
});

/**
 * Compares the charge with the exact distributions of two neighboring counts, using the truncated noise of two workers.
 * Truncation removes outcomes with a total probability of at most delta. For the remaining outcomes with Gaussian
 * noise, the Rényi divergence of each order is at most the order times rho. With geometric noise, the two probabilities
 * of each remaining outcome differ by a factor of at most e^epsilon.
 */
describe('the exact noise of two workers', () => {
  const cases = [
    [0.5, 1e-6],
    [1, 1e-5],
    [1, 1e-9],
    [1, 0.3],
    [3, 1e-6],
    [5, 1e-9],
    [12, 1e-3],
  ] as const;
  const release = (noiseMechanism: NoiseMechanism, epsilon: number, delta: number): MpcRelease => ({
    measurementType: 'REACH',
    noiseMechanism,
    reachPrivacyParams: { epsilon, delta },
  });

  test.each(cases)('has at most the charged loss if Gaussian (epsilon %d, delta %d)', (epsilon, delta) => {
    const charged = amounts(mpcCharge(release('DISCRETE_GAUSSIAN', epsilon, delta)));
    const { left, lost } = neighbors(mpcNoise('DISCRETE_GAUSSIAN', { epsilon, delta }));
    expect(lost).toBeLessThanOrEqual(charged.delta);
    for (const order of [1.01, 2, 5, 20]) {
      expect(divergence(left, order)).toBeLessThanOrEqual(order * charged.rho * (1 + 1e-9));
    }
  });

  test.each(cases)('has at most the charged loss if geometric (epsilon %d, delta %d)', (epsilon, delta) => {
    const charged = amounts(mpcCharge(release('GEOMETRIC', epsilon, delta)));
    const { left, lost } = neighbors(mpcNoise('GEOMETRIC', { epsilon, delta }));
    expect(lost).toBeLessThanOrEqual(charged.delta);
    const ratios = left.filter(([p]) => p > 0).map(([p, q]) => Math.log(p / q));
    expect(Math.max(...ratios)).toBeLessThanOrEqual(charged.epsilon + 1e-9);
  });

  test.each(['DISCRETE_GAUSSIAN', 'GEOMETRIC'] as const)('has the stated variance if %s', (mechanism) => {
    const params = { epsilon: 1, delta: 1e-9 };
    const noise = mpcNoise(mechanism, params, { workers: 2, sensitivity: 2 });
    const sum = convolved(workerPart(noise, noise.offset), workerPart(noise, noise.offset));
    const centre = (sum.length - 1) / 2;
    const exact = sum.reduce((total, p, i) => total + p * (i - centre) ** 2, 0);
    expect(noise.variance / exact).toBeCloseTo(1, 6);
  });
});
