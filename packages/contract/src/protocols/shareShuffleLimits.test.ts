import { expect, it } from 'vitest';
import { mpcGaussianSigma, mpcNoiseOffset, noiseRegisterCount } from './shareShuffleLimits.ts';

it.each([
  [1, 1e-5, 4.986, 19],
  [0.1, 1e-9, 65.79, 315],
  [0.0033, 1e-12, 2290, 12_482],
])('Gaussian noise for ε %d and δ %d has sigma %d and the offset %d', (epsilon, delta, sigma, offset) => {
  expect(mpcGaussianSigma({ epsilon, delta }) / sigma).toBeCloseTo(1, 3);
  expect(mpcNoiseOffset('DISCRETE_GAUSSIAN', { epsilon, delta })).toBe(offset);
});

it('mpcNoiseOffset returns 49 and 471 for geometric noise, and 0 without noise', () => {
  expect(mpcNoiseOffset('GEOMETRIC', { epsilon: 1, delta: 1e-9 })).toBe(49);
  expect(mpcNoiseOffset('GEOMETRIC', { epsilon: 0.1, delta: 1e-9 })).toBe(471);
  expect(mpcNoiseOffset('NONE', { epsilon: 0, delta: 0 })).toBe(0);
});

it('mpcNoiseOffset stays below 10 for an epsilon of 1,000,000', () => {
  for (const mechanism of ['DISCRETE_GAUSSIAN', 'GEOMETRIC'] as const) {
    expect(mpcNoiseOffset(mechanism, { epsilon: 1e6, delta: 0.5 })).toBeLessThan(10);
  }
});

it('noiseRegisterCount counts noise for the reach and for all other ring values but the last', () => {
  const offset = (epsilon: number) => mpcNoiseOffset('DISCRETE_GAUSSIAN', { epsilon, delta: 1e-12 });
  expect(noiseRegisterCount(127, offset(0.0033), offset(0.115))).toBe(2 * 12_482 + 125 * 2 * 359);
  expect(noiseRegisterCount(32, offset(0.0033), offset(0.115))).toBe(2 * 12_482 + 30 * 2 * 359);
  expect(noiseRegisterCount(127, 7, 0)).toBe(14);
});
