/** Formats the labels and values of a report's figures. */
import {
  type DerivedName,
  type DocumentFigure,
  type DocumentPlace,
  type DocumentValue,
  digitsFor,
  groupText,
} from '@measurement-exchange/reports';
import { count } from '../terminal/numbers.ts';
import { visible } from '../terminal/output.ts';

const METRICS: Record<DocumentFigure['metric'], string> = {
  reach: 'reach',
  frequency: 'reach, with frequencies',
  impressions: 'impressions',
  watchDuration: 'seconds watched',
};

type Labeled = Pick<DocumentFigure, 'metric' | 'cumulative'> & DocumentPlace;

export function metricWord(metric: DocumentFigure['metric']): string {
  return METRICS[metric];
}

/**
 * Returns a figure's label with the metric, period, and group, such as `reach of all, 2026-10-01 to 2026-10-08, sex F`.
 */
export function figureLabel({ metric, cumulative, of, period, group }: Labeled): string {
  const what = `${cumulative ? 'cumulative ' : ''}${METRICS[metric]} of ${of}`;
  return visible([what, periodText(period), groupText(group)].filter((part) => part !== '').join(', '));
}

export function periodText({ start, end }: DocumentPlace['period']): string {
  return `${dayText(start)} to ${dayText(end)}`;
}

/** Returns the day if the time is midnight in UTC. Otherwise, returns the time unchanged. */
export function dayText(time: string): string {
  return time.endsWith('T00:00:00Z') ? time.slice(0, 10) : time;
}

/**
 * Returns the function that formats a derived figure and its interval. Ratios get two decimals, or more if the ends of
 * a narrow interval would otherwise look the same.
 */
export function textFor(name: DerivedName, { low, high }: DocumentValue): (value: number) => string {
  const isRatio = ['average frequency', 'gross rating points', 'percent of population'].includes(name);
  return isRatio ? (value) => value.toFixed(digitsFor(low, high, 2)) : count;
}
