/**
 * A chart of figures over time, such as cumulative reach. Each curve has a line, a 95 % band, and a dot with a whisker
 * for each time.
 */
import { around, spread } from '../format.ts';
import { type Chart, cellsOf, FIGURE_COLUMNS, type Figure, picture, plot } from './chart.ts';
import { across, type Node, node, round } from './node.ts';
import { scaleFromZero } from './scale.ts';
import { dotAt, type Series, seriesAt, swatch } from './series.ts';
import type { Unit } from './units.ts';

const HEIGHT = 260;

export interface Point extends Figure {
  label: string;
}

export interface Curve {
  label: string;
  series?: Series;
  points: readonly Point[];
}

export function bandChart(title: string, unit: Unit, points: readonly Point[]): Chart {
  return curveChart(title, unit, [{ label: '', points }]);
}

/**
 * Draws straight lines between the points, without smoothing, because nothing was measured between the points. All
 * curves must have points at the same times.
 */
export function curveChart(title: string, unit: Unit, curves: readonly Curve[]): Chart {
  const all = curves.flatMap(({ points }) => points);
  const scale = scaleFromZero(
    all.flatMap(({ value, interval = [] }) => [value, ...interval]),
    unit,
  );
  const y = (value: number) => round(HEIGHT - (scale.at(value) / 100) * HEIGHT);
  const times = curves[0]?.points ?? [];
  const x = (i: number) => (times.length === 1 ? 50 : 4 + (92 * i) / (times.length - 1));
  const isAlone = curves.length === 1;
  const finding = `${title}${all.length === 0 ? ': no figures' : curves.map((curve) => findingOf(curve, isAlone, unit)).join('')}`;
  const levels = scale.ticks.flatMap((tick, i) => [
    node('line', { class: i === 0 ? 'ax0' : 'ax', x1: 0, x2: '100%', y1: y(tick), y2: y(tick) }),
    node('text', { x: -8, y: y(tick) + 4, 'text-anchor': 'end' }, unit.tick(tick, scale.step)),
  ]);
  const lines = curves.map(({ points, series }, i) => ({ points, series: series ?? seriesAt(i) }));
  return {
    title,
    finding,
    drawing: picture(
      finding,
      { class: 'ch' },
      !isAlone && legendOf(curves, unit),
      node(
        'div',
        { class: 'fig pl pb pr' },
        plot(
          HEIGHT,
          levels,
          lines.map(({ points, series }) => area(points, series, x, y)),
          lines.flatMap(({ points, series }) =>
            points.flatMap((point, i) => pointMarks(point, series, x(i), y)),
          ),
          dates(times, x),
          isAlone && labels(times, x, y, unit),
        ),
      ),
    ),
    table: {
      columns: [...(isAlone ? [] : ['Curve']), '', ...FIGURE_COLUMNS(unit)],
      rows: curves.flatMap(({ label, points }) =>
        points.map((point) => [...(isAlone ? [] : [label]), point.label, ...cellsOf(point)]),
      ),
      text: unit.text,
    },
  };
}

function findingOf({ label, points }: Curve, isAlone: boolean, unit: Unit): string {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return '';
  const ends = [first, last].map((at) => `${spread(at.value, at.interval, unit)} (${at.label})`);
  return `${isAlone ? ': ' : `. ${label}: `}from ${ends[0]} to ${ends[1]}`;
}

/**
 * Returns a legend with the last figure of each curve, because figures drawn at the ends of the curves would overlap.
 */
function legendOf(curves: readonly Curve[], unit: Unit): Node {
  return node(
    'div',
    { class: 'legend' },
    curves.map(({ label, series, points }, i) => {
      const last = points.at(-1);
      return node(
        'span',
        {},
        swatch(series ?? seriesAt(i)),
        node('bdi', {}, label),
        last && node('b', {}, unit.text(last.value)),
        last?.interval && node('span', { class: 'muted' }, around(last.value, last.interval, unit)),
      );
    }),
  );
}

type Place = (value: number) => number;

const intervalOf = ({ value, interval }: Figure) => interval ?? ([value, value] as const);

function area(points: readonly Point[], { hue }: Series, x: Place, y: Place): Node {
  const path = (values: number[]) => values.map((value, i) => `${round(x(i) * 10)} ${y(value)}`);
  const upper = path(points.map((point) => intervalOf(point)[1]));
  const lower = path(points.map((point) => intervalOf(point)[0])).reverse();
  const line = path(points.map(({ value }) => value));
  return node(
    'svg',
    { viewBox: `0 0 1000 ${HEIGHT}`, preserveAspectRatio: 'none', width: '100%', height: HEIGHT },
    points.length > 0 && node('path', { class: `band b${hue}`, d: `M${[...upper, ...lower].join('L')}z` }),
    points.length > 0 && node('path', { class: `ln s${hue}`, d: `M${line.join('L')}` }),
  );
}

function pointMarks(point: Point, series: Series, x: number, y: Place): Node[] {
  const [low, high] = intervalOf(point);
  return [
    node('line', { class: `wh s${series.hue}`, x1: across(x), x2: across(x), y1: y(low), y2: y(high) }),
    dotAt(series, x, y(point.value), 4),
  ];
}

function dates(points: readonly Point[], x: Place): Node[] {
  const every = Math.ceil(points.length / 8);
  return points
    .map((point, i) => ({ point, i }))
    .filter(({ i }) => i % every === 0)
    .map(({ point, i }, at) =>
      node(
        'text',
        {
          x: across(x(i)),
          y: HEIGHT + 18,
          'text-anchor': 'middle',
          class: at % 2 === 1 ? 'room' : undefined,
        },
        point.label,
      ),
    );
}

function labels(points: readonly Point[], x: Place, y: Place, unit: Unit): Node[] {
  const last = points.length - 1;
  const chosen = new Set([0, Math.floor(last / 2), last]);
  return [...chosen]
    .filter((i) => points[i] !== undefined)
    .map((i) => {
      const { value, interval } = points[i]!;
      const isLast = i === last && last > 0;
      return node(
        'text',
        {
          class: 'k',
          x: across(x(i) + (isLast ? 2 : 1.5)),
          y: isLast ? Math.max(11, y(value) - 14) : Math.min(HEIGHT - 6, y(value) + 24),
          'text-anchor': isLast ? 'end' : 'start',
        },
        unit.text(value),
        interval && node('tspan', { class: 'room' }, ` ${around(value, interval, unit)}`),
      );
    });
}
