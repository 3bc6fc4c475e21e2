/** Computes what pages and files show of a corrected report. None of it costs privacy budget. */
import {
  averageFrequency,
  type Block,
  type Expression,
  expressionOf,
  impressionsBeyond,
  overlapOf,
  type Plan,
  type PlannedNeed,
  periodsOf,
  type Report,
  type ReportDefinition,
  type ReportedFigure,
  reachOf,
} from '@measurement-exchange/reports';
import type { Added, FigureView, NeedView, ReportView, SegmentView } from './types.ts';

/**
 * The maximum number of segments for which the view has the people that each segment adds to every combination of the
 * others.
 */
const ALL_ORDERS_UP_TO = 6;

/** `measured` has the measurement of each need, with its state and the reason if it failed. */
export function reportView(
  report: Report,
  measured: ReadonlyMap<string, Pick<NeedView, 'measurement' | 'state' | 'reason'>> = new Map(),
): ReportView {
  const { plan, state, fits } = report;
  const { definition, segments, population } = plan;
  const period = periodsOf(definition.interval)[0]!;
  const everyone = reachOf(report, segments.join(' | '), { period });
  const several = reachOf(report, severalOf(segments.length), { period });
  return {
    title: definition.title,
    interval: definition.interval,
    ...{ period, state, fits, segments: segmentsOf(definition), sets: definition.sets ?? {} },
    everything: everythingOf(definition),
    ...(population !== undefined && { population }),
    ...(everyone && { everyone }),
    ...(several && segments.length > 1 && { several }),
    alone: segments.map((name) => reachOf(report, name, { period }) ?? null),
    overlap: overlapOf(report, { period }).map(({ segments: of, people }) => ({
      members: of.map((name) => segments.indexOf(name)),
      people,
    })),
    added: addedOf(report, { period }),
    figures: report.figures.map((figure) => figureView(figure, report.figures)),
    needs: plan.needs.map((planned) => needView(planned, report, measured.get(planned.key))),
  };
}

/** Returns the set of all atoms that more than one segment reaches. */
function severalOf(segments: number): Uint8Array {
  return Uint8Array.from({ length: 1 << segments }, (_, atom) => ((atom & (atom - 1)) === 0 ? 0 : 1));
}

export function segmentsOf({ segments }: ReportDefinition): SegmentView[] {
  return Object.entries(segments).map(([name, { eventGroups, filter }]) => ({
    name,
    eventGroups,
    dataProviders: [...new Set(eventGroups.map((group) => group.split('/').slice(0, 2).join('/')))],
    ...(filter !== undefined && { filter }),
  }));
}

/** Returns the names of the sets that are the union of all segments. A single segment is everything, too. */
export function everythingOf(definition: ReportDefinition): string[] {
  const segments = Object.keys(definition.segments);
  const namesIn = (of: Expression): string[] =>
    'name' in of ? [of.name] : of.operator === '|' ? [...namesIn(of.left), ...namesIn(of.right)] : [];
  return [...segments, ...Object.keys(definition.sets ?? {})].filter((name) => {
    const names = namesIn(expressionOf(definition, name));
    return segments.every((segment) => names.includes(segment));
  });
}

function addedOf(report: Report, block: Block): Added[] {
  const { segments } = report.plan;
  const everyOther = (segment: number) => (1 << segments.length) - 1 - (1 << segment);
  const befores = (segment: number) =>
    segments.length <= ALL_ORDERS_UP_TO
      ? Array.from({ length: 1 << segments.length }, (_, mask) => mask).filter(
          (mask) => (mask & (1 << segment)) === 0,
        )
      : [...new Set([(1 << segment) - 1, everyOther(segment)])];
  return segments.flatMap((name, segment) =>
    befores(segment).flatMap((after) => {
      const others = segments.filter((_, i) => after & (1 << i)).join(' | ');
      const people = reachOf(report, others === '' ? name : `${name} - (${others})`, block);
      return people ? [{ segment, after, people }] : [];
    }),
  );
}

function figureView(reported: ReportedFigure, all: readonly ReportedFigure[]): FigureView {
  const { figure, frequencies, ...rest } = reported;
  const { request, of, period, group } = figure;
  const impressions = frequencies && all.find((other) => isImpressionsOf(other, reported));
  const counted = impressions?.value === undefined ? undefined : (impressions as Required<ReportedFigure>);
  return {
    metric: request.metric,
    ...{ of, period, group, periods: request.periods ?? 'total', isCumulative: request.cumulative ?? false },
    ...rest,
    ...(frequencies && { frequencies: frequencies.map(({ people, orMore }) => ({ people, orMore })) }),
    ...(frequencies &&
      counted && {
        average: averageFrequency(counted, reported as Required<ReportedFigure>),
        beyond: frequencies.map(({ frequency }) => impressionsBeyond(frequency, counted, frequencies)),
      }),
  };
}

function isImpressionsOf({ figure }: ReportedFigure, { figure: of }: ReportedFigure): boolean {
  return (
    figure.request.metric === 'impressions' &&
    figure.of === of.of &&
    figure.period.start === of.period.start &&
    figure.period.end === of.period.end &&
    JSON.stringify(figure.group) === JSON.stringify(of.group)
  );
}

export function needView(
  { key, need, union, dataProviders, computed }: PlannedNeed,
  { plan, correction }: { plan: Plan; correction?: Report['correction'] },
  measured: Pick<NeedView, 'measurement' | 'state' | 'reason'> = {},
): NeedView {
  const corrected = correction?.needs.get(key);
  return {
    ...{ key, type: need.type, period: need.period, group: need.group, dataProviders },
    segments: plan.segments.flatMap((_, i) => (union & (1 << i) ? [i] : [])),
    protocol: computed?.protocol ?? 'direct',
    ...(corrected && numbersOf(corrected)),
    ...measured,
  };
}

type Corrected = NonNullable<ReturnType<Report['correction']['needs']['get']>>;

/** Returns the measured and the corrected number. A distribution counts as the sum of its frequencies, the reach. */
function numbersOf({ value, rows, component }: Corrected): Pick<NeedView, 'measured' | 'corrected' | 'pull'> {
  const sum = (of: (row: number) => number) => rows.reduce((all, row) => all + of(row), 0);
  const measured = sum((row) => component.rows[row]!.value);
  const fitted = sum((row) => component.solution.fitted[row]!);
  const variance = sum((i) => sum((j) => component.covariance[i]![j]!));
  return {
    measured,
    corrected: value,
    pull: variance > 0 ? (measured - fitted) / Math.sqrt(variance) : 0,
  };
}
