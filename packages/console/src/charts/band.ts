/** A figure that grows over time, such as cumulative reach: line, 95 % band, and a dot with a whisker for each time. */
import { around, spread } from '../parts/format.ts';
import { type Chart, cellsOf, FIGURE_COLUMNS, type Figure, picture, plot } from './chart.ts';
import { across, type Node, node, round } from './node.ts';
import { scaleFromZero } from './scale.ts';
import type { Unit } from './units.ts';

const HEIGHT = 260;

export interface Point extends Figure {
  label: string;
}

/** Nothing is smoothed: what lies between two points was not measured. */
export function bandChart(title: string, unit: Unit, points: readonly Point[]): Chart {
  const scale = scaleFromZero(
    points.flatMap(({ value, interval = [] }) => [value, ...interval]),
    unit,
  );
  const y = (value: number) => round(HEIGHT - (scale.at(value) / 100) * HEIGHT);
  const x = (i: number) => (points.length === 1 ? 50 : 4 + (92 * i) / (points.length - 1));
  const [first, last] = [points[0], points.at(-1)];
  const finding =
    first && last
      ? `${title}: from ${spread(first.value, first.interval, unit)} (${first.label}) to ${spread(last.value, last.interval, unit)} (${last.label})`
      : `${title}: no figures`;
  const levels = scale.ticks.flatMap((tick, i) => [
    node('line', { class: i === 0 ? 'ax0' : 'ax', x1: 0, x2: '100%', y1: y(tick), y2: y(tick) }),
    node('text', { x: -8, y: y(tick) + 4, 'text-anchor': 'end' }, unit.tick(tick, scale.step)),
  ]);
  return {
    title,
    finding,
    drawing: picture(
      finding,
      { class: 'ch fig pl pb pr' },
      plot(
        HEIGHT,
        levels,
        area(points, x, y),
        points.flatMap((point, i) => pointMarks(point, x(i), y)),
        dates(points, x),
        labels(points, x, y, unit),
      ),
    ),
    table: {
      columns: ['', ...FIGURE_COLUMNS(unit)],
      rows: points.map((point) => [point.label, ...cellsOf(point)]),
      text: unit.text,
    },
  };
}

type Place = (value: number) => number;

const intervalOf = ({ value, interval }: Figure) => interval ?? ([value, value] as const);

/** Draws the band and the line in a plot that is stretched to the width of the page. */
function area(points: readonly Point[], x: Place, y: Place): Node {
  const path = (values: number[]) => values.map((value, i) => `${round(x(i) * 10)} ${y(value)}`);
  const upper = path(points.map((point) => intervalOf(point)[1]));
  const lower = path(points.map((point) => intervalOf(point)[0])).reverse();
  const line = path(points.map(({ value }) => value));
  return node(
    'svg',
    { viewBox: `0 0 1000 ${HEIGHT}`, preserveAspectRatio: 'none', width: '100%', height: HEIGHT },
    points.length > 0 && node('path', { class: 'band', d: `M${[...upper, ...lower].join('L')}z` }),
    points.length > 0 && node('path', { class: 'ln s1', d: `M${line.join('L')}` }),
  );
}

function pointMarks(point: Point, x: number, y: Place): Node[] {
  const [low, high] = intervalOf(point);
  return [
    node('line', { class: 'wh s1', x1: across(x), x2: across(x), y1: y(low), y2: y(high) }),
    node('circle', { class: 'pt f1', cx: across(x), cy: y(point.value), r: 4 }),
  ];
}

/** Writes the label of each point below the plot, or of every n-th point if there are many. */
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

/** Writes the first, the middle and the last figure beside their dots. */
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
