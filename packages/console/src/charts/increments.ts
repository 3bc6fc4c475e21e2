/** A chart of the number of people that each publisher adds to the reach of the publishers above it. */
import { around, spread } from '../format.ts';
import { type Chart, cellsOf, FIGURE_COLUMNS, type Figure, picture, plot, rowsOnAxis } from './chart.ts';
import { across, type Node, node } from './node.ts';
import { type Scale, scaleFromZero } from './scale.ts';
import { type Series, seriesAt, swatch } from './series.ts';
import { PEOPLE } from './units.ts';
import { whisker } from './whisker.ts';

export interface Increment extends Figure {
  label: string;
  series?: Series;
}

/** Each bar starts where the bar above it ends. */
export function incrementChart(title: string, increments: readonly Increment[]): Chart {
  const rows = increments.map((increment, i) => ({
    ...increment,
    before: increments.slice(0, i).reduce((sum, { value }) => sum + value, 0),
    verb: i === 0 ? 'starts with' : 'adds',
  }));
  const scale = scaleFromZero(
    rows.flatMap(({ before, value, interval = [] }) => [value, ...interval].map((end) => before + end)),
    PEOPLE,
  );
  const each = rows.map(
    ({ label, verb, value, interval }) => `${label} ${verb} ${spread(value, interval, PEOPLE)}`,
  );
  const finding = `${title}. ${each.join('. ')}`;
  return {
    title,
    finding,
    drawing: picture(
      finding,
      { class: 'ch' },
      rowsOnAxis(
        rows.flatMap((row, i) => rowOf(row, row.series ?? seriesAt(i), scale)),
        scale,
        PEOPLE,
      ),
    ),
    table: {
      columns: ['', 'Reached before', ...FIGURE_COLUMNS(PEOPLE)],
      rows: rows.map((row) => [row.label, row.before, ...cellsOf(row)]),
      text: PEOPLE.text,
    },
  };
}

type Row = Increment & { before: number; verb: string };

function rowOf({ label, value, interval, before, verb }: Row, series: Series, scale: Scale): Node[] {
  const [start, end] = [scale.at(before), scale.at(before + value)];
  const shifted = {
    value: before + value,
    ...(interval && { interval: [before + interval[0], before + interval[1]] as const }),
  };
  return [
    node(
      'span',
      { class: 'dl sm' },
      swatch(series),
      node('bdi', {}, label),
      node('span', { class: 'sub room' }, verb),
    ),
    plot(
      22,
      node('rect', { class: 'soft0', x: 0, y: 4, width: across(start), height: 14, rx: 2 }),
      node('rect', {
        class: `f${series.hue}`,
        x: across(start),
        y: 4,
        width: across(Math.max(0, end - start)),
        height: 14,
        rx: 2,
      }),
      interval && whisker(scale, 11, shifted, { isOnBar: true }),
    ),
    node(
      'span',
      { class: 'num' },
      `${before > 0 ? '+' : ''}${PEOPLE.text(value)}`,
      interval && node('span', { class: 'xs muted' }, ` ${around(value, interval, PEOPLE)}`),
    ),
  ];
}
