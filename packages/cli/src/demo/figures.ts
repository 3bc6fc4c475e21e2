/** What the demo found out, as plain data: printed as a table, written as JSON, drawn in the report. */
import type { Timeline } from '@measurement-exchange/contract';
import type { Estimate } from '@measurement-exchange/sdk';

export interface Figure {
  dataProvider: string;
  what: 'reach' | 'impressions' | 'watch seconds' | 'people' | `frequency ${number}${'' | '+'}`;
  truth: number;
  result: Estimate;
  inside95: boolean;
  /** The rule of acceptance: five standard deviations, and the rounding down of a released figure. */
  within5Sigma: boolean;
}

export interface DemoMeasurement {
  title: string;
  name: string;
  state: string;
  figures: Figure[];
  /** Reach over several providers: what can be said without computing across them, and the truth. */
  union?: { bounds: [low: number, high: number]; truth: number };
  /** Why it failed, where that was the point. */
  failure?: string;
  timeline: Timeline;
}

export interface DemoReport {
  exchange: string;
  seed: number;
  seconds: number;
  impressions: { dataProvider: string; impressions: number }[];
  measurements: DemoMeasurement[];
}

export function figureOf(
  dataProvider: string,
  what: Figure['what'],
  truth: number,
  result: Estimate,
): Figure {
  // Counts are released rounded down; shares are not.
  const rounding = what.startsWith('frequency') ? 0 : 1;
  const [low, high] = result.interval;
  const distance = Math.abs(result.value - truth);
  return {
    dataProvider,
    what,
    truth,
    result,
    inside95: low <= truth && truth <= high,
    // A count without noise has no deviation, and must be the truth itself.
    within5Sigma: distance <= 5 * result.standardDeviation + rounding,
  };
}
