/** Computes a corrected report's numbers for pages and exported files. The computation costs no privacy budget. */
import {
  averageFrequency,
  type Block,
  type Expression,
  expressionOf,
  impressionsBeyond,
  overlapOf,
  type PlannedNeed,
  periodsOf,
  type RehearsedCharge,
  type Report,
  type ReportDefinition,
  type ReportedFigure,
  reachOf,
} from '@measurement-exchange/reports';
import { chargeViews } from './charges.ts';
import { segmentsOf } from './segments.ts';
import type { Added, FigureView, MeasurementView, NeedView, ReportView } from './types.ts';

/**
 * With at most this many segments, the view contains the people that each segment adds to every combination of the
 * other segments. With more segments, the view contains only two numbers for each segment: the people that it adds to
 * all earlier segments together, and the people that it adds to all other segments together.
 */
const ALL_ORDERS_UP_TO = 6;

/**
 * `measured` contains the measurement of each need, with its state and, if it failed, the reason. `charges` contains
 * the charges of these measurements.
 */
export function reportView(
  report: Report,
  measured: ReadonlyMap<string, Pick<NeedView, 'measurement' | 'state' | 'reason'>> = new Map(),
  charges: readonly RehearsedCharge[] = [],
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
    charges: chargeViews(plan, charges),
  };
}

/** Returns one byte per atom (combination of segments): 1 if the atom contains more than one segment, else 0. */
function severalOf(segments: number): Uint8Array {
  return Uint8Array.from({ length: 1 << segments }, (_, atom) => ((atom & (atom - 1)) === 0 ? 0 : 1));
}

/**
 * Returns the names of the sets and segments that contain everybody who was reached: unions of all segments, or the
 * only segment.
 */
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
  const average = counted && averageFrequency(counted, reported as Required<ReportedFigure>);
  return {
    metric: request.metric,
    ...{ of, period, group, periods: request.periods ?? 'total', isCumulative: request.cumulative ?? false },
    ...rest,
    ...(frequencies && { frequencies: frequencies.map(({ people, orMore }) => ({ people, orMore })) }),
    ...(frequencies &&
      counted &&
      average && {
        average,
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

function needView(
  { key, need, union, dataProviders, computed, answered }: PlannedNeed,
  { correction }: Pick<Report, 'correction'>,
  measured: Pick<NeedView, 'measurement' | 'state' | 'reason'> = {},
): NeedView {
  const corrected = correction.needs.get(key);
  return {
    ...{ key, type: need.type, period: need.period, group: need.group, dataProviders },
    segments: membersOf(union),
    protocol: computed?.protocol ?? 'direct',
    isReused: answered,
    ...(corrected && numbersOf(corrected)),
    ...measured,
  };
}

/** Describes the measurement that answers these needs. The needs differ only in their data providers and segments. */
export function measurementView(
  needs: readonly [PlannedNeed, ...PlannedNeed[]],
  now: Pick<MeasurementView, 'measurement' | 'state'>,
): MeasurementView {
  const { key, need } = needs[0];
  return {
    ...{ key, type: need.type, period: need.period, group: need.group, ...now },
    segments: membersOf(needs.reduce((all, { union }) => all | union, 0)),
    dataProviders: [...new Set(needs.flatMap(({ dataProviders }) => dataProviders))],
  };
}

/** Returns the indexes of the bits that are set. */
function membersOf(union: number): number[] {
  return Array.from({ length: 32 }, (_, i) => i).filter((i) => union & (1 << i));
}

type Corrected = NonNullable<ReturnType<Report['correction']['needs']['get']>>;

/**
 * Returns a need's measured number, corrected number, and pull (see `NeedView`). For a frequency distribution, the
 * first two numbers are the reach.
 */
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
