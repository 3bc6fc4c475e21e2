/** The demo's results as plain data, for the table, the JSON output, and the report. */
import type { Timeline } from '@measurement-exchange/contract';
import type { ReportDocument } from '@measurement-exchange/reports';
import type { Estimate } from '@measurement-exchange/sdk';
import { count, percent } from '../terminal/numbers.ts';

export interface Figure {
  /** The name of a data provider, or TOGETHER. */
  of: string;
  what: 'reach' | 'impressions' | 'watch seconds' | 'people' | `frequency ${number}${'' | '+'}`;
  truth: number;
  result: Estimate;
  inside95: boolean;
  /**
   * Whether the result is within five standard deviations of the true value. For a count, a further difference of 1 is
   * allowed, because counts are rounded.
   */
  within5Sigma: boolean;
  /**
   * The figure that the providers' own figures would give if no two providers had reached the same person. Set only for
   * figures of all providers together.
   */
  claimed?: number;
}

/** The value of `of` in figures for all providers together. These figures count each person once. */
export const TOGETHER = 'together';

export const shortName = (of: string) => of.split('/').at(-1)!;

/** Returns the function that formats a figure's values: as percentages for frequencies, otherwise as whole numbers. */
export function textOf({ what }: Figure): (value: number) => string {
  return what.startsWith('frequency') ? percent : count;
}

/**
 * Returns whether the true value is inside the 95% interval, outside it, or more than five standard deviations away.
 */
export function truthIs({ inside95, within5Sigma }: Figure): 'inside' | 'outside' | 'beyond 5σ' {
  if (inside95) return 'inside';
  return within5Sigma ? 'outside' : 'beyond 5σ';
}

export function rangeText(
  [low, high]: Estimate['interval'],
  show: (value: number) => string,
  until = 'to',
): string {
  return Number.isFinite(high) ? `${show(low)} ${until} ${show(high)}` : `${show(low)} or more`;
}

export function signedPercent(share: number): string {
  return `${share < 0 ? '−' : '+'}${Math.round(Math.abs(share) * 100)} %`;
}

export interface DemoMeasurement {
  title: string;
  /** An explanation of the figures, if they need one. */
  about?: string;
  name: string;
  state: string;
  figures: Figure[];
  /** The protocol, if duchies computed the measurement. */
  protocol?: string;
  /** Why the measurement failed, if the demo expects it to fail. */
  failure?: string;
  timeline: Timeline;
}

export interface DemoReport {
  exchange: string;
  seed: number;
  seconds: number;
  impressions: { dataProvider: string; impressions: number }[];
  measurements: DemoMeasurement[];
  /** A report of the whole campaign. Its figures are corrected so that they agree with each other. */
  campaign: ReportDocument;
}

export const figuresOf = (report: DemoReport) => report.measurements.flatMap(({ figures }) => figures);

type ReachTogether = Figure & { claimed: number; protocol: string };

/** Returns the reach of all providers together, as measured with each protocol. */
export function reachesTogether({ measurements }: DemoReport): ReachTogether[] {
  return measurements.flatMap(({ figures, protocol }) =>
    figures
      .filter(({ of, what }) => of === TOGETHER && what === 'reach')
      .map((figure) => ({ ...figure, protocol }) as ReachTogether),
  );
}

export function figureOf(of: string, what: Figure['what'], truth: number, result: Estimate): Figure {
  // Released counts are rounded down. Frequencies are released as shares of the reach, which are not rounded.
  const rounding = what.startsWith('frequency') ? 0 : 1;
  const [low, high] = result.interval;
  const distance = Math.abs(result.value - truth);
  return {
    of,
    what,
    truth,
    result,
    inside95: low <= truth && truth <= high,
    // A count without noise has a standard deviation of 0, and may differ from the true value only by rounding.
    within5Sigma: distance <= 5 * result.standardDeviation + rounding,
  };
}
