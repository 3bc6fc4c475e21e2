/**
 * A chart of dots and whiskers by group, such as the percentage of each age group that was reached. The axis may start
 * above 0.
 */
import { around, spread } from '../format.ts';
import { type Chart, cellsOf, FIGURE_COLUMNS, type Figure, picture, plot, rowsOnAxis } from './chart.ts';
import { type Node, node } from './node.ts';
import { gridLines, type Scale, scaleAround } from './scale.ts';
import { seriesAt, swatch } from './series.ts';
import type { Unit } from './units.ts';
import { whisker } from './whisker.ts';

export interface Group {
  label: string;
  sub?: string;
  /**
   * One figure for each series, in the order of the series names. Undefined for a series without a figure in this
   * group.
   */
  figures: readonly (Figure | undefined)[];
}

export function groupChart(
  title: string,
  unit: Unit,
  names: readonly string[],
  groups: readonly Group[],
): Chart {
  const all = groups.flatMap(({ figures }) => figures.filter((figure) => figure !== undefined));
  const scale = scaleAround(
    all.flatMap(({ value, interval = [] }) => [value, ...interval]),
    unit,
  );
  const each = groups.flatMap(({ label, figures }) =>
    figures.flatMap((figure, i) =>
      figure ? `${label}, ${names[i]}: ${spread(figure.value, figure.interval, unit)}` : [],
    ),
  );
  const finding = `${title}. ${each.join('. ')}`;
  return {
    title,
    finding,
    drawing: picture(
      finding,
      { class: 'ch' },
      legend(names, (i) => groups.some(({ figures }) => figures[i] !== undefined)),
      rowsOnAxis(
        groups.flatMap((group) => row(group, scale, unit)),
        scale,
        unit,
      ),
    ),
    table: {
      columns: ['Group', 'Series', ...FIGURE_COLUMNS(unit)],
      rows: groups.flatMap(({ label, figures }) =>
        figures.flatMap((figure, i) => (figure ? [[label, names[i]!, ...cellsOf(figure)]] : [])),
      ),
      text: unit.text,
    },
  };
}

export function legend(
  names: readonly string[],
  isShown: (index: number) => boolean = () => true,
  places: readonly number[] = [...names.keys()],
): Node {
  return node(
    'div',
    { class: 'legend' },
    names.map(
      (name, i) => isShown(i) && node('span', {}, swatch(seriesAt(places[i]!)), node('bdi', {}, name)),
    ),
  );
}

function row({ label, sub, figures }: Group, scale: Scale, unit: Unit): Node[] {
  const height = 10 + figures.length * 18;
  return [
    node(
      'span',
      { class: 'dl' },
      node('b', {}, node('bdi', {}, label)),
      sub !== undefined && node('span', { class: 'sub room' }, sub),
    ),
    plot(
      height,
      gridLines(scale, height),
      figures.flatMap((figure, i) =>
        figure ? whisker(scale, 14 + i * 18, figure, { series: seriesAt(i), cap: 4, radius: 4.5 }) : [],
      ),
    ),
    node(
      'span',
      { class: 'num sm' },
      figures.flatMap((figure, i) =>
        figure
          ? [
              node(
                'span',
                { class: 'ln1' },
                swatch(seriesAt(i)),
                ` ${unit.text(figure.value)}`,
                figure.interval &&
                  node('span', { class: 'xs muted' }, ` ${around(figure.value, figure.interval, unit)}`),
              ),
            ]
          : [],
      ),
    ),
  ];
}
