/** Combines the results of several data providers. */
import { type Estimate, estimate } from '@measurement-exchange/mpc';
import type { DeduplicatedFigures } from './deduplicated.ts';
import type { Figures } from './figures.ts';

/** The combined figures of all data providers. */
export interface Total {
  impressions?: Estimate;
  watchDurationSeconds?: Estimate;
  /**
   * Bounds on the combined reach. The exact value is unknown, because several data providers may reach the same person.
   */
  reach?: ReachBounds;
  /** Figures that duchies computed, with each person counted once. */
  deduplicated?: DeduplicatedFigures;
}

/** Bounds on the combined reach of all data providers. `note` explains the meaning of the bounds. */
export interface ReachBounds {
  /**
   * The lower bound is the largest reach of one data provider. The upper bound is the sum of all reaches. Because of
   * noise, the true reach can be outside of these bounds.
   */
  bounds: [max: number, sum: number];
  note: string;
}

const ONE_PROVIDER = 'One data provider: its reach is the whole reach.';
const SEVERAL_PROVIDERS =
  'Each data provider counted its own people, and how many of them are the same is unknown. The reach ' +
  'of all together lies between the largest of the reaches (everybody else was reached there too) and ' +
  'their sum (nobody was reached twice).';

/**
 * Combines the figures of all data providers. `width` is the width of the VID sampling interval. Populations are not
 * added up, because all providers count the same people.
 */
export function totalOf(figures: Figures[], width: number): Total {
  const impressions = sum(
    figures.map((each) => each.impressions),
    width,
  );
  const watchDurationSeconds = sum(
    figures.map((each) => each.watchDurationSeconds),
    width,
  );
  const reach = boundsOf(figures.map((each) => each.reach));
  return {
    ...(impressions && { impressions }),
    ...(watchDurationSeconds && { watchDurationSeconds }),
    ...(reach && { reach }),
  };
}

/**
 * Adds up the providers' estimates. Without sampling, their errors are independent, so the variances add up. With
 * sampling, each person is in every provider's sample or in none, so the errors can be correlated. In that case, we use
 * the upper bound on the standard deviation, which is the sum of the standard deviations.
 */
function sum(parts: (Estimate | undefined)[], width: number): Estimate | undefined {
  const given = parts.filter((part) => part !== undefined);
  if (given.length === 0) return undefined;
  const value = total(given.map((part) => part.value));
  const variance =
    width < 1
      ? total(given.map((part) => part.standardDeviation)) ** 2
      : total(given.map((part) => part.variance));
  return estimate(value, variance);
}

function boundsOf(reaches: (Estimate | undefined)[]): ReachBounds | undefined {
  const values = reaches.filter((reach) => reach !== undefined).map((reach) => reach.value);
  if (values.length === 0) return undefined;
  const note = values.length === 1 ? ONE_PROVIDER : SEVERAL_PROVIDERS;
  return { bounds: [Math.max(...values), total(values)], note };
}

function total(values: number[]): number {
  return values.reduce((a, b) => a + b, 0);
}
