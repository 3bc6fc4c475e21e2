/** Combines the results of several data providers. */
import { type Estimate, estimate } from '@measurement-exchange/mpc';
import type { DeduplicatedFigures } from './deduplicated.ts';
import type { Figures } from './figures.ts';

/** The combined figures of all data providers. */
export interface Total {
  impressions?: Estimate;
  watchDurationSeconds?: Estimate;
  /** Reaches do not add up: the same person may be reached by several data providers. */
  reach?: ReachBounds;
  /** Where duchies computed it: everybody counted once, and no reach of a single data provider. */
  deduplicated?: DeduplicatedFigures;
}

/** Bounds of the combined reach of all data providers; `note` explains why there is no exact figure. */
export interface ReachBounds {
  /**
   * The largest of the reaches, and the sum of all. They are bounds of estimates: noise may push the true reach outside.
   */
  bounds: [max: number, sum: number];
  note: string;
}

const ONE_PROVIDER = 'One data provider: its reach is the whole reach.';
const SEVERAL_PROVIDERS =
  'Each data provider counted its own people, and how many of them are the same is unknown. The reach ' +
  'of all together lies between the largest of the reaches (everybody else was reached there too) and ' +
  'their sum (nobody was reached twice).';

/** `width` is that of the VID sampling interval. A population is the same everywhere, and is not added. */
export function totalOf(figures: Figures[], width: number): Total {
  const sumOf = (member: 'impressions' | 'watchDurationSeconds') => {
    const parts = figures.map((each) => each[member]);
    return sum(parts, width);
  };
  const [impressions, watchDurationSeconds] = [sumOf('impressions'), sumOf('watchDurationSeconds')];
  const reach = boundsOf(figures.map((f) => f.reach));
  return {
    ...(impressions && { impressions }),
    ...(watchDurationSeconds && { watchDurationSeconds }),
    ...(reach && { reach }),
  };
}

/**
 * Noise is independent from provider to provider, so variances add up. The sample is not: a person is in it
 * at every provider or at none, and where audiences overlap its errors are correlated. The overlap is unknown, so
 * the sum of the standard deviations is used, which is the upper bound.
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
