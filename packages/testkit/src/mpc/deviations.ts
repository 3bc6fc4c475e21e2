/** Figures with noise, compared with the truth: each deviation is divided by the standard deviation that is stated of it. */

import { expect } from 'vitest';
import { isStress } from '../rounds.ts';

/** For a standardized figure: the variance of its square, and how often it is beyond five standard deviations. */
const SHAPES = {
  DISCRETE_GAUSSIAN: { squareVariance: 2, tail: 0 },
  GEOMETRIC: { squareVariance: 5, tail: 0.0012 },
} as const;

/**
 * They are unbiased, no more often beyond five standard deviations than their noise is, and have the stated variance within
 * 5 %. Where they are too few to tell, the variance is within 3.5 of its standard errors. Stress runs print how far off
 * they are.
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
