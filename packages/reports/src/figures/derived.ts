/** Figures that are computed from a report's existing answers, at no additional privacy cost. */
import type { Group } from '../needs/need.ts';
import { groupId } from '../needs/need.ts';
import { type Estimate, estimateOf } from './estimate.ts';
import { type Block, reachOf } from './reach.ts';
import type { Report, ReportedFigure } from './report.ts';

/** The people reached by all of these segments and by no others. An UpSet plot shows these numbers. */
export interface Overlap {
  segments: string[];
  people: Estimate;
}

/** Returns every overlap that the answers determine, with the largest overlap first. */
export function overlapOf(report: Report, block: Block): Overlap[] {
  const { segments, atoms } = report.plan;
  return atoms
    .flatMap((atom) => {
      const set = new Uint8Array(1 << segments.length);
      set[atom] = 1;
      const people = reachOf(report, set, block);
      return people ? [{ segments: segments.filter((_, i) => atom & (1 << i)), people }] : [];
    })
    .sort((a, b) => b.people.value - a.people.value);
}

/** Returns, for each segment in `order`, the number of people reached by this segment, but by no earlier segment. */
export function incrementalReach(
  report: Report,
  order: readonly string[],
  block: Block,
): (Estimate | undefined)[] {
  return order.map((name, i) => {
    const before = order.slice(0, i).join(' | ');
    return reachOf(report, before === '' ? name : `${name} - (${before})`, block);
  });
}

/** Returns the number of people that only this segment reached. */
export function exclusiveReach(report: Report, name: string, block: Block): Estimate | undefined {
  const others = report.plan.segments.filter((other) => other !== name).join(' | ');
  return reachOf(report, others === '' ? name : `${name} - (${others})`, block);
}

/** The cumulative reach at the end of a period, and the people who were reached for the first time in this period. */
export interface CurvePoint {
  end: string;
  reach: ReportedFigure;
  /** Absent if an answer that this number needs is missing. */
  added?: Estimate;
}

/** Returns the cumulative reach of a set over time. This reach never falls. */
export function reachCurve(report: Report, of: string, group: Group = {}): CurvePoint[] {
  const points = report.figures
    .filter(({ figure }) => figure.request.metric === 'reach' && figure.request.cumulative === true)
    .filter(({ figure }) => figure.of === of && groupId(figure.group) === groupId(group))
    .map((reach) => ({ end: reach.figure.period.end, reach }))
    .sort((a, b) => Date.parse(a.end) - Date.parse(b.end));
  return points.map(({ end, reach }, i) => {
    const before = (points[i - 1]?.reach.figure.terms ?? []).map(({ key, weight }) => ({
      key,
      weight: -weight,
    }));
    const added = estimateOf(report.correction, [...reach.figure.terms, ...before], report.plan.population);
    return { end, reach, ...(added && { added }) };
  });
}

/** A quotient with its interval. The interval is valid even if the numerator and the denominator are correlated. */
export interface Ratio {
  value: number;
  interval: [low: number, high: number];
}

type Measured = Pick<Estimate, 'value' | 'interval'>;

/** Returns undefined if the reach may be 0, because the average then has no upper bound. */
export function averageFrequency(impressions: Measured, reach: Measured): Ratio | undefined {
  return reach.interval[0] > 0 && reach.value > 0 ? ratio(impressions, reach) : undefined;
}

/** Returns the gross rating points: the impressions per 100 people in the population. */
export function grossRatingPoints(impressions: Measured, population: number): Ratio {
  const points = (value: number) => (100 * value) / population;
  return {
    value: points(impressions.value),
    interval: [points(impressions.interval[0]), points(impressions.interval[1])],
  };
}

/**
 * Returns the number of impressions after the first `cap` impressions of each person. A frequency cap would have saved
 * these impressions.
 */
export function impressionsBeyond(
  cap: number,
  impressions: Measured,
  frequencies: NonNullable<ReportedFigure['frequencies']>,
): Ratio {
  if (!(cap >= 1 && cap <= frequencies.length)) {
    throw new RangeError(
      `cap must be from 1 to ${frequencies.length}, the highest frequency of the distribution`,
    );
  }
  // The impressions within the cap are the sum of the numbers of people with at least 1, 2, and so on up to `cap`
  // impressions.
  const upTo = (which: (estimate: Estimate) => number) =>
    frequencies.slice(0, cap).reduce((sum, { orMore }) => sum + which(orMore), 0);
  const least = (value: number) => Math.max(0, value);
  return {
    value: least(impressions.value - upTo(({ value }) => value)),
    interval: [
      least(impressions.interval[0] - upTo(({ interval }) => interval[1])),
      least(impressions.interval[1] - upTo(({ interval }) => interval[0])),
    ],
  };
}

function ratio(a: Measured, b: Measured): Ratio {
  return {
    value: a.value / b.value,
    interval: [a.interval[0] / b.interval[1], a.interval[1] / b.interval[0]],
  };
}
