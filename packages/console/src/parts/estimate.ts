/** Estimates with their 95 % interval, in words. */
import type { MeasurementResult } from '@measurement-exchange/sdk';
import { count } from './format.ts';

export type Estimate = NonNullable<MeasurementResult['dataProviders'][number]['reach']>;

/** JSON has no infinity: an estimate whose error is unknown has no numbers in its interval. */
export function isBounded({ interval }: Estimate): boolean {
  return interval.every((bound) => typeof bound === 'number' && Number.isFinite(bound));
}

/** The larger distance from the figure to an end of its interval. */
export function marginOf({ value, interval: [low, high] }: Estimate): number {
  return Math.max(high - value, value - low);
}

export interface MainFigure {
  estimate: Estimate;
  show: (value: number) => string;
}

export function hours(seconds: number): string {
  return seconds < 7200 ? `${count(seconds)} s` : `${count(seconds / 3600)} h`;
}

/** The figure of a result that a list shows, or the bounds of a reach that nobody counted together. */
export function mainFigure({
  dataProviders,
  total,
}: MeasurementResult): MainFigure | [number, number] | undefined {
  const figures = total.deduplicated ?? (dataProviders.length === 1 ? dataProviders[0]! : undefined);
  if (figures?.reach) return { estimate: figures.reach, show: count };
  const impressions = total.impressions ?? figures?.impressions;
  if (impressions) return { estimate: impressions, show: count };
  const seconds = total.watchDurationSeconds ?? figures?.watchDurationSeconds;
  if (seconds) return { estimate: seconds, show: hours };
  const population = dataProviders[0]?.population;
  if (population) return { estimate: population, show: count };
  return total.reach?.bounds;
}
