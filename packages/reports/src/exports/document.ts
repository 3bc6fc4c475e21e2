/** Converts a report to plain JSON: figures with their intervals, derived figures, and why figures are missing. */
import type { Fit } from '../correction/fit.ts';
import type { LocalInterval, Period } from '../definition/calendar.ts';
import type { Metric } from '../definition/definition.ts';
import {
  averageFrequency,
  exclusiveReach,
  grossRatingPoints,
  incrementalReach,
  overlapOf,
  type Ratio,
} from '../figures/derived.ts';
import type { Estimate } from '../figures/estimate.ts';
import type { Block } from '../figures/reach.ts';
import type { Report, ReportedFigure } from '../figures/report.ts';
import { type Group, groupId, periodId } from '../needs/need.ts';

/** A number with its 95 % interval. */
export interface DocumentValue {
  value: number;
  low: number;
  high: number;
}

export interface DocumentEstimate extends DocumentValue {
  /** The number as measured, before the correction. */
  raw: number;
  standardDeviation: number;
  noiseDominated: boolean;
}

/** The set, period, and group that a number is about. An empty group stands for everybody. */
export interface DocumentPlace {
  of: string;
  period: Period;
  group: Group;
}

/** The reason that a need (a quantity that the report must measure) has no answer. */
export interface MissingAnswer {
  measurement?: string;
  state: string;
  reason?: string;
}

export interface DocumentFigure extends DocumentPlace {
  metric: Metric;
  cumulative: boolean;
  /** Absent if an answer that the figure needs is missing. */
  estimate?: DocumentEstimate;
  /** The people at each frequency, and at that frequency or above. */
  frequencies?: { frequency: number; people: DocumentEstimate; orMore: DocumentEstimate }[];
  missing: MissingAnswer[];
}

export type DerivedName =
  /** The people reached by all segments in `of`, but by no other segment. */
  | 'overlap'
  /** The people reached by this segment, but by no earlier segment of the definition. */
  | 'incremental reach'
  /** The people that only this segment reached. */
  | 'exclusive reach'
  | 'average frequency'
  | 'gross rating points'
  | 'percent of population';

export interface DerivedFigure extends DocumentPlace {
  name: DerivedName;
  value: DocumentValue;
  noiseDominated?: boolean;
}

export interface ReportDocument {
  title: string;
  interval: LocalInterval;
  state: Report['state'];
  segments: string[];
  population?: number;
  figures: DocumentFigure[];
  derived: DerivedFigure[];
  /** One fit for each set of answers that was corrected separately, with the worst fit first. */
  fits: Fit[];
}

/** Returns the report as JSON. `whyMissing` takes a need's key and returns the reason that the need has no answer. */
export function documentOf(report: Report, whyMissing: (key: string) => MissingAnswer): ReportDocument {
  const { definition, segments, population } = report.plan;
  return {
    title: definition.title,
    interval: definition.interval,
    state: report.state,
    segments,
    ...(population !== undefined && { population }),
    figures: report.figures.map((figure) => figureOf(figure, whyMissing)),
    derived: [...blocksOf(report).flatMap((block) => derivedReaches(report, block)), ...ratios(report)],
    fits: report.fits,
  };
}

function figureOf(reported: ReportedFigure, whyMissing: (key: string) => MissingAnswer): DocumentFigure {
  const { figure, missing, frequencies } = reported;
  return {
    metric: figure.request.metric,
    cumulative: figure.request.cumulative ?? false,
    ...placeOf(reported),
    ...(isMeasured(reported) && { estimate: estimateIn(reported) }),
    ...(frequencies && {
      frequencies: frequencies.map(({ frequency, people, orMore }) => ({
        ...{ frequency, people: estimateIn(people), orMore: estimateIn(orMore) },
      })),
    }),
    missing: missing.map(whyMissing),
  };
}

function placeOf({ figure: { of, period, group } }: ReportedFigure): DocumentPlace {
  return { of, period, group };
}

function isMeasured(reported: ReportedFigure): reported is ReportedFigure & Estimate {
  return reported.missing.length === 0;
}

function estimateIn(estimate: Estimate): DocumentEstimate {
  const { raw, standardDeviation, isNoiseDominated: noiseDominated } = estimate;
  return { ...valueIn(estimate), raw, standardDeviation, noiseDominated };
}

function valueIn({ value, interval: [low, high] }: Ratio): DocumentValue {
  return { value, low, high };
}

/**
 * Returns each combination of a period and a group for which the report has figures about people, in the order of the
 * figures.
 */
function blocksOf({ figures }: Report): Required<Block>[] {
  const blocks = figures
    .filter(({ figure }) => isPeople(figure.request.metric))
    .map(({ figure: { period, group } }) => ({ period, group }));
  return [...Map.groupBy(blocks, blockId).values()].map(([block]) => block!);
}

const isPeople = (metric: Metric) => metric === 'reach' || metric === 'frequency';
const blockId = ({ period, group }: Required<Block>) => `${periodId(period)} ${groupId(group)}`;

function derivedReaches(report: Report, block: Required<Block>): DerivedFigure[] {
  const { segments } = report.plan;
  const derived = (name: DerivedName, of: string, estimate: Estimate | undefined): DerivedFigure[] =>
    estimate === undefined
      ? []
      : [{ name, of, ...block, value: valueIn(estimate), noiseDominated: estimate.isNoiseDominated }];
  if (segments.length < 2) return [];
  return [
    ...overlapOf(report, block).flatMap(({ segments: of, people }) =>
      derived('overlap', of.join(' & '), people),
    ),
    ...incrementalReach(report, segments, block).flatMap((people, i) =>
      derived('incremental reach', segments[i]!, people),
    ),
    ...segments.flatMap((name) => derived('exclusive reach', name, exclusiveReach(report, name, block))),
  ];
}

/**
 * For each set, period, and group, returns the average frequency, the gross rating points, and the percent of the
 * population. Omits each of these that the figures of the report do not determine.
 */
function ratios(report: Report): DerivedFigure[] {
  const { population } = report.plan;
  const measured = report.figures.filter(isMeasured);
  const id = (reported: ReportedFigure) => `${reported.figure.of} ${blockId(placeOf(reported))}`;
  return [...Map.groupBy(measured, id).values()].flatMap((figures) => {
    const place = placeOf(figures[0]!);
    const people = figures.find(({ figure }) => isPeople(figure.request.metric));
    const impressions = figures.find(({ figure }) => figure.request.metric === 'impressions');
    const ratio = (name: DerivedName, value: Ratio): DerivedFigure => ({
      ...{ name, ...place, value: valueIn(value) },
    });
    // Compute percentages only for everybody, because the size of a group in the population is not known here.
    const isEverybody = groupId(place.group) === '';
    const average = people && impressions && averageFrequency(impressions, people);
    return [
      ...(average ? [ratio('average frequency', average)] : []),
      ...(impressions && population && isEverybody
        ? [ratio('gross rating points', grossRatingPoints(impressions, population))]
        : []),
      ...(people && population && isEverybody
        ? [ratio('percent of population', grossRatingPoints(people, population))]
        : []),
    ];
  });
}
