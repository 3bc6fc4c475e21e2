import type { PlainSpec } from '@measurement-exchange/contract';
import { fromUnits } from '@measurement-exchange/mpc/charges';
import { describe, expect, test } from 'vitest';
import type { VerifiedRequisition } from '../verify.ts';
import { computationCharge } from './charge.ts';

const REACH = { epsilon: 1, delta: 1e-9 };
const FREQUENCY = { epsilon: 0.2, delta: 1e-6 };

type Asked = Pick<PlainSpec, 'measurementType'> & Record<string, unknown>;
const reach: Asked = { measurementType: 'REACH', reach: { privacyParams: REACH } };
const frequency = (reachPrivacyParams: typeof REACH, frequencyPrivacyParams: typeof REACH): Asked => ({
  measurementType: 'REACH_AND_FREQUENCY',
  reachAndFrequency: { reachPrivacyParams, frequencyPrivacyParams, maximumFrequency: 5 },
});

const charged = (spec: Asked, noiseMechanism: string) => {
  const requisition = { spec: { ...spec, nonceHashes: [] }, shareShuffle: { config: { noiseMechanism } } };
  return fromUnits(computationCharge(requisition as unknown as VerifiedRequisition));
};

/** The rho of one count, by an independent formula: 1 / (2σ²) with σ² = 2 ln(2.5 / δ) / ε². */
const rho = ({ epsilon, delta }: typeof REACH) => epsilon ** 2 / (4 * Math.log(2.5 / delta));

describe('the charge of a share shuffle', () => {
  test('with Gaussian noise is the rho of the counts that a unit changes', () => {
    const ofReach = charged(reach, 'DISCRETE_GAUSSIAN');
    expect(ofReach.rho / rho(REACH)).toBeCloseTo(1, 6);
    expect(ofReach.delta).toBeGreaterThan(0);
    expect(ofReach.delta).toBeLessThanOrEqual(REACH.delta / 2);
    // The charge is the rho of one frequency count, plus the rho of the reach count or of a second frequency count,
    // whichever is higher.
    const [r, f] = [rho(REACH), rho(FREQUENCY)];
    expect(charged(frequency(REACH, FREQUENCY), 'DISCRETE_GAUSSIAN').rho / (r + f)).toBeCloseTo(1, 6);
    expect(charged(frequency(FREQUENCY, REACH), 'DISCRETE_GAUSSIAN').rho / (2 * r)).toBeCloseTo(1, 6);
  });

  test('with geometric noise is half of the epsilon of each of these counts', () => {
    expect(charged(reach, 'GEOMETRIC').epsilon).toBeCloseTo(0.5, 12);
    expect(charged(frequency(REACH, FREQUENCY), 'GEOMETRIC').epsilon).toBeCloseTo(0.5 + 0.1, 12);
    expect(charged(frequency(FREQUENCY, REACH), 'GEOMETRIC').epsilon).toBeCloseTo(0.5 + 0.5, 12);
  });

  test('without noise is the full epsilon and delta of the request', () => {
    expect(charged(reach, 'NONE')).toEqual({ epsilon: 1, delta: 1e-9, rho: 0 });
    const { epsilon, delta } = charged(frequency(REACH, FREQUENCY), 'NONE');
    expect(epsilon).toBeCloseTo(1.2, 12);
    expect(delta).toBeCloseTo(1e-9 + 1e-6, 15);
  });

  test('throws if no noise can meet the parameters', () => {
    const spec = { ...reach, reach: { privacyParams: { epsilon: 1e-7, delta: 1e-9 } } };
    expect(() => charged(spec, 'DISCRETE_GAUSSIAN')).toThrow(/met by duchies/);
  });
});
