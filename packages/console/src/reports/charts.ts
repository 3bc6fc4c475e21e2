/** The charts of a report. They need no browser, so that exported files have the same charts as the page. */
import { digitsFor } from '@measurement-exchange/reports';
import {
  addingUpChart,
  type Chart,
  type Curve,
  counts,
  curveChart,
  decimals,
  groupChart,
  HOURS,
  IMPRESSIONS,
  incrementChart,
  kPlusChart,
  PEOPLE,
  residualChart,
  SHARE,
  seriesAt,
  type Unit,
  upsetChart,
} from '../charts/index.ts';
import { type Interval, percent } from '../format.ts';
import type { FigureView, ReportView } from './types.ts';
import { dayWords, type Label, needWords, setWords } from './words.ts';

export interface Stat {
  label: string;
  value: number;
  interval: Interval;
  unit: Unit;
}

/**
 * `frequency`, `points` and `share` take the interval of a ratio, and return a unit for the ratio. The unit has enough
 * decimals to show the ends of the interval as different numbers.
 */
const frequency = ([low, high]: Interval) => decimals('Average frequency', digitsFor(low, high, 2));
const points = ([low, high]: Interval) => decimals('Gross rating points', digitsFor(low, high, 1));
const share = ([low, high]: Interval): Unit => {
  const digits = digitsFor(100 * low, 100 * high, 1);
  return { ...SHARE, text: (value) => percent(value, digits) };
};

/**
 * Draws the reach of all segments together beside the sum of the segments' reaches. Returns undefined if there is only
 * one segment, or if one of these reaches is unknown.
 */
export function onceChart({ everyone, alone, population }: ReportView): Chart | undefined {
  if (everyone === undefined || alone.length < 2 || alone.includes(null)) return undefined;
  const addedUp = alone.reduce((sum, of) => sum + of!.value, 0);
  return addingUpChart('Each person once: people', {
    once: everyone,
    addedUp,
    ...(population !== undefined && { population }),
  });
}

const isWhole = ({ everything, period }: ReportView, figure: FigureView) =>
  everything.includes(figure.of) &&
  Object.keys(figure.group).length === 0 &&
  figure.period.start === period.start &&
  figure.period.end === period.end &&
  figure.value !== undefined;

/**
 * Returns numbers about the whole report: percent of the population, average frequency, impressions, watch time, rating
 * points.
 */
export function statsOf(view: ReportView): Stat[] {
  const whole = view.figures.filter((figure) => isWhole(view, figure));
  const impressions = whole.find(({ metric }) => metric === 'impressions');
  const watched = whole.find(({ metric }) => metric === 'watchDuration');
  const { everyone, population } = view;
  const stat = (
    label: string,
    unit: Unit | ((interval: Interval) => Unit),
    of: { value: number; interval: Interval },
    factor = 1,
  ): Stat => {
    const interval: Interval = [of.interval[0] * factor, of.interval[1] * factor];
    return {
      label,
      interval,
      value: of.value * factor,
      unit: typeof unit === 'function' ? unit(interval) : unit,
    };
  };
  const estimate = (figure: FigureView) => figure as Required<FigureView>;
  return [
    ...(everyone && population ? [stat('Of the population', share, everyone, 1 / population)] : []),
    ...(everyone && impressions
      ? [stat('Average frequency', frequency, ratioOf(estimate(impressions), everyone))]
      : []),
    ...(impressions ? [stat('Impressions', IMPRESSIONS, estimate(impressions))] : []),
    ...(impressions && population
      ? [stat('Gross rating points', points, estimate(impressions), 100 / population)]
      : []),
    ...(watched ? [stat('Watch time, hours', HOURS, estimate(watched), 1 / 3600)] : []),
  ];
}

/** Divides two figures. The resulting interval is valid even if the errors of the two figures are correlated. */
export function ratioOf(
  a: { value: number; interval: Interval },
  b: { value: number; interval: Interval },
): { value: number; interval: Interval } {
  const divided = (x: number, y: number) => (y > 0 ? x / y : x > 0 ? Number.POSITIVE_INFINITY : 0);
  return {
    value: divided(a.value, b.value),
    interval: [divided(a.interval[0], b.interval[1]), divided(a.interval[1], b.interval[0])],
  };
}

export function overlapChart(
  { overlap, everyone }: ReportView,
  labels: readonly Label[],
  asShare = false,
): Chart {
  const isShare = asShare && everyone !== undefined;
  return upsetChart(
    isShare ? 'Who saw it where: share of all reached' : 'Who saw it where: people',
    labels.map(({ label }) => label),
    overlap.map(({ members, people }) => ({ members, ...(isShare ? ratioOf(people, everyone) : people) })),
    { unit: isShare ? SHARE : PEOPLE, places: labels.map(({ place }) => place) },
  );
}

/**
 * Draws the number of people that each segment adds to the segments before it in `order`. Returns undefined if the view
 * does not contain all of these numbers.
 */
export function addedChart(
  { added }: ReportView,
  labels: readonly Label[],
  order: readonly number[],
): Chart | undefined {
  const steps = order.map((segment, i) => {
    const after = order.slice(0, i).reduce((mask, before) => mask | (1 << before), 0);
    return added.find((of) => of.segment === segment && of.after === after);
  });
  if (steps.includes(undefined)) return undefined;
  return incrementChart(
    'What each adds: people',
    steps.map((step) => ({
      ...step!.people,
      label: labels[step!.segment]!.label,
      series: seriesAt(labels[step!.segment]!.place),
    })),
  );
}

/**
 * Draws the reach over time: a chart for each type of period, such as daily, or weekly and cumulative. Each chart has
 * one curve for each set.
 */
export function overTimeCharts(
  view: ReportView,
  labels: readonly Label[],
): { chart: Chart; isCumulative: boolean; sets: string[] }[] {
  const figures = view.figures.filter(
    ({ metric, periods, group, value }) =>
      metric === 'reach' && periods !== 'total' && isEverybody(group) && value !== undefined,
  );
  const kinds = Map.groupBy(figures, ({ periods, isCumulative }) => `${periods} ${isCumulative}`);
  return [...kinds.values()].map((of) => {
    const { isCumulative } = of[0]!;
    const sets = [...Map.groupBy(of, (figure) => figure.of)];
    const curves = sets.map(([set, own], i): Curve => {
      const index = view.segments.findIndex(({ name }) => name === set);
      return {
        label: setWords(view, labels, set),
        series: seriesAt(sets.length === 1 ? 0 : (labels[index]?.place ?? view.segments.length + i)),
        points: own
          .toSorted((a, b) => Date.parse(a.period.end) - Date.parse(b.period.end))
          .map(({ value, interval, period }) => ({
            value: value!,
            interval: interval!,
            label: dayWords(isCumulative ? period.end : period.start, view.interval, isCumulative),
          })),
      };
    });
    const title = isCumulative ? 'Reach since the start: people' : 'Reach in each period: people';
    return {
      chart: curveChart(title, PEOPLE, curves),
      isCumulative,
      sets: curves.map(({ label }) => label),
    };
  });
}

const isEverybody = (group: FigureView['group']) => Object.keys(group).length === 0;

/** Returns the number of people in a group, or undefined if it is not known. */
export type SizeOf = (group: FigureView['group']) => number | undefined;

/**
 * Draws the reach by group: a chart for each set and breakdown. If a breakdown has several attributes, each value of
 * the last attribute has its own series. If the sizes of all groups are known, the chart shows the share of each group
 * that was reached.
 */
export function groupCharts(
  view: ReportView,
  labels: readonly Label[],
  sizeOf: SizeOf = () => undefined,
): { chart: Chart; of: string; attributes: string[]; isShare: boolean }[] {
  const figures = view.figures.filter(
    ({ metric, periods, group }) => metric === 'reach' && periods === 'total' && !isEverybody(group),
  );
  const kinds = Map.groupBy(figures, ({ of, group }) => JSON.stringify([of, Object.keys(group)]));
  return [...kinds.values()].map((own) => {
    const attributes = Object.keys(own[0]!.group);
    const [rowsBy, seriesBy] =
      attributes.length > 1 ? [attributes.slice(0, -1), attributes.at(-1)!] : [attributes];
    const rowOf = ({ group }: FigureView) => rowsBy.map((attribute) => group[attribute]).join(', ');
    const seriesOf = ({ group }: FigureView) => (seriesBy === undefined ? '' : group[seriesBy]!);
    const names = [...new Set(own.map(seriesOf))];
    const set = setWords(view, labels, own[0]!.of);
    const isShare = own.every(({ group }) => (sizeOf(group) ?? 0) > 0);
    const shownAs = ({ value, interval, group }: FigureView) => {
      if (value === undefined) return undefined;
      const size = isShare ? sizeOf(group)! : 1;
      return { value: value / size, interval: [interval![0] / size, interval![1] / size] as const };
    };
    const groups = [...Map.groupBy(own, rowOf)].map(([label, of]) => ({
      label,
      figures: names.map((name) => {
        const found = of.find((figure) => seriesOf(figure) === name);
        return found && shownAs(found);
      }),
    }));
    const shown = seriesBy === undefined ? [set] : names;
    const title = `Reach of ${set} by ${attributes.join(' and ')}: ${isShare ? 'share of each group' : 'people'}`;
    return {
      chart: groupChart(title, isShare ? SHARE : PEOPLE, shown, groups),
      of: set,
      ...{ attributes, isShare },
    };
  });
}

export const kChart = ({ frequencies = [] }: FigureView, cap?: number): Chart =>
  kPlusChart(
    'Reached at least this often: people',
    frequencies.map(({ orMore }) => orMore),
    cap,
  );

const TOGETHER = 'Duchies';

export function fitChart(
  view: ReportView,
  labels: readonly Label[],
  nameOf: (party: string) => string,
): Chart {
  const answered = view.needs.filter(({ pull }) => pull !== undefined);
  return residualChart(
    'How well the answers agree',
    answered.map((need) => ({
      row: need.protocol === 'direct' ? nameOf(need.dataProviders[0]!) : TOGETHER,
      label: needWords(view, labels, need),
      sigmas: need.pull!,
    })),
  );
}

export const UNITS: Record<FigureView['metric'], Unit> = {
  reach: PEOPLE,
  frequency: PEOPLE,
  impressions: IMPRESSIONS,
  watchDuration: counts('Seconds'),
};
