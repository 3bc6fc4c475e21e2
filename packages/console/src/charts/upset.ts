/**
 * A chart of people by the publishers that reached them. Each row is a combination of publishers, and each person is
 * counted in exactly one row.
 */
import { around, intervalText, spread } from '../format.ts';
import { stripes } from './bars.ts';
import { type Chart, cellsOf, FIGURE_COLUMNS, type Figure, picture, plot } from './chart.ts';
import { legend } from './groups.ts';
import { across, type Node, node } from './node.ts';
import { axisTexts, type Scale, scaleFromZero } from './scale.ts';
import { NEUTRAL, seriesAt, shapeAt } from './series.ts';
import { PEOPLE, type Unit } from './units.ts';
import { whisker } from './whisker.ts';

export interface Combination extends Figure {
  /** The indexes of the publishers that reached the counted people. Empty if several combinations were merged. */
  members: readonly number[];
}

type Row = Combination & { label: string };

const MOST_ROWS = 15;

export interface UpsetStyle {
  unit?: Unit;
  /** For each publisher, the index of its color and shape. By default, the index of the publisher itself. */
  places?: readonly number[];
}

export function upsetChart(
  title: string,
  publishers: readonly string[],
  combinations: readonly Combination[],
  { unit = PEOPLE, places = [...publishers.keys()] }: UpsetStyle = {},
): Chart {
  const rows = folded(combinations).map((row) => ({
    ...row,
    label: labelOf(row, publishers, combinations.length),
  }));
  const scale = scaleFromZero(
    rows.flatMap(({ value, interval = [] }) => [value, ...interval]),
    unit,
  );
  const finding = `${title}. ${rows.map(({ label, value, interval }) => `${label}: ${spread(value, interval, unit)}`).join('. ')}`;
  const noisy = rows.filter(isNoise);
  return {
    title,
    finding,
    drawing: picture(
      finding,
      { class: 'ch' },
      legend(publishers, undefined, places),
      node(
        'div',
        { class: 'up' },
        rows.map((row) => rowOf(row, places, scale, unit)),
        node('div', { class: 'ur' }, node('span'), plot(18, axisTexts(scale, unit, 13)), node('span')),
      ),
      noisy.length > 0 &&
        node(
          'p',
          { class: 'xs muted' },
          `Too small to tell from noise: ${noisy.map(({ label, interval }) => `${label} (${intervalText(interval!, unit)})`).join('; ')}.`,
        ),
    ),
    table: {
      columns: ['Seen on', ...FIGURE_COLUMNS(unit)],
      rows: rows.map((row) => [row.label, ...cellsOf(row)]),
      text: unit.text,
    },
  };
}

/** Sorts the rows, largest first. Merges the smallest rows into one if there are more than `MOST_ROWS`. */
function folded(combinations: readonly Combination[]): Combination[] {
  const sorted = combinations.toSorted((a, b) => b.value - a.value);
  if (sorted.length <= MOST_ROWS) return sorted;
  const rest = sorted.slice(MOST_ROWS - 1);
  const sum = (pick: (row: Combination) => number) => rest.reduce((all, row) => all + pick(row), 0);
  const end = (i: 0 | 1) => sum(({ value, interval }) => interval?.[i] ?? value);
  return [
    ...sorted.slice(0, MOST_ROWS - 1),
    { members: [], value: sum(({ value }) => value), interval: [end(0), end(1)] },
  ];
}

function labelOf({ members }: Combination, publishers: readonly string[], count: number): string {
  if (members.length === 0) return `${count - MOST_ROWS + 1} other combinations`;
  return `Only ${members.map((i) => publishers[i]).join(', ')}`;
}

const isNoise = ({ interval }: Figure) => interval !== undefined && interval[0] <= 0 && interval[1] > 0;

function rowOf(row: Row, places: readonly number[], scale: Scale, unit: Unit): Node {
  const { members, value, interval } = row;
  const width = scale.at(value);
  const series = members.length === 1 ? seriesAt(places[members[0]!]!) : NEUTRAL;
  const bar = isNoise(row)
    ? stripes(width, 6, 14)
    : [node('rect', { class: `f${series.hue}`, x: 0, y: 6, width: across(width), height: 14, rx: 2 })];
  return node(
    'div',
    { class: 'ur' },
    members.length === 0 ? node('span', {}, row.label) : matrix(members, places),
    plot(26, bar, interval === undefined ? [] : whisker(scale, 13, row, { isOnBar: true, cap: 4 })),
    node(
      'span',
      { class: 'num' },
      unit.text(value),
      interval && node('small', {}, ` ${around(value, interval, unit)}`),
    ),
  );
}

/** Draws the shape of each publisher in the combination, and an empty dot for every other publisher. */
function matrix(members: readonly number[], places: readonly number[]): Node {
  const step = 124 / Math.max(places.length, 4);
  const x = (i: number) => step * (i + 0.5);
  const ends = [Math.min(...members), Math.max(...members)].map(x);
  return node(
    'svg',
    { class: 'mx', viewBox: '0 0 124 26', 'aria-hidden': 'true' },
    members.length > 1 && node('line', { class: 'jn', x1: ends[0], x2: ends[1], y1: 13, y2: 13 }),
    places.map((place, i) =>
      members.includes(i)
        ? shapeAt(seriesAt(place), x(i), 13, Math.min(6, step / 2.4))
        : node('circle', { class: 'off', cx: x(i), cy: 13, r: Math.min(3, step / 4) }),
    ),
  );
}
