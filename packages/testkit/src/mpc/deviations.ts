/**
 * Compares noisy figures with the true values. Each deviation is divided by the standard deviation that the product
 * states for the figure.
 */

import { expect } from 'vitest';
import { isStress } from '../rounds.ts';

/**
 * Properties of each kind of noise after division by the noise's standard deviation: the variance of the squared value,
 * and the probability that the absolute value is above 5. That probability is below one in a million for Gaussian
 * noise, and counts as 0 here.
 */
const SHAPES = {
  DISCRETE_GAUSSIAN: { squareVariance: 2, tail: 0 },
  GEOMETRIC: { squareVariance: 5, tail: 0.0012 },
} as const;

/**
 * Expects that the deviations are unbiased, that outliers beyond five standard deviations are no more frequent than the
 * noise allows, and that the variance is within 5 % of the stated variance. With few deviations, the variance may be
 * off by up to 3.5 standard errors instead. Stress runs print the measured values.
 */
export function expectStated(deviations: number[], noise: keyof typeof SHAPES): void {
  const { squareVariance, tail } = SHAPES[noise];
  const { length } = deviations;
  const mean = deviations.reduce((sum, z) => sum + z, 0) / length;
  const variance = deviations.reduce((sum, z) => sum + z * z, 0) / length;
  const standardError = Math.sqrt(squareVariance / length);
  const far = deviations.filter((z) => Math.abs(z) > 5).length;
  if (isStress) {
    const percent = (share: number) => `${(100 * share).toFixed(2)} %`;
    console.log(
      `${length} figures: mean ${mean.toFixed(4)} sigma, variance ${percent(variance - 1)} off ` +
        `(standard error ${percent(standardError)}), ${far} beyond 5 sigma`,
    );
  }
  expect(Math.abs(mean)).toBeLessThan(5 / Math.sqrt(length));
  expect(Math.abs(variance - 1)).toBeLessThan(Math.max(0.05, 3.5 * standardError));
  expect(far).toBeLessThanOrEqual(tail * length + 5 * Math.sqrt(tail * length));
}
