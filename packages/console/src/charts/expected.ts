/** A chart of the expected errors of figures, before anything is measured. All rows share one axis. */
import { type Chart, picture, plot, rowsOnAxis } from './chart.ts';
import { type Node, node } from './node.ts';
import { gridLines, type Scale, scaleBetween } from './scale.ts';
import type { Unit } from './units.ts';
import { whisker } from './whisker.ts';

export interface Expected {
  label: string;
  sub?: string;
  /** Half the width of the expected 95 % interval. Undefined if the figure is already known. */
  margin: number | undefined;
}

export function expectedChart(title: string, unit: Unit, rows: readonly Expected[]): Chart {
  const margins = rows.flatMap(({ margin = 0 }) => (Number.isFinite(margin) ? [Math.abs(margin)] : []));
  const most = Math.max(...margins, unit.smallest);
  const scale = scaleBetween(-most, most, unit);
  const words = ({ margin }: Expected) =>
    margin === undefined ? 'answered already' : `± ${unit.margin(margin)}`;
  const finding = `${title}. ${rows.map((row) => `${row.label}: ${words(row)}`).join('. ')}`;
  const signed: Unit = {
    ...unit,
    tick: (value, step) =>
      value === 0 ? 'truth' : `${value < 0 ? '−' : '+'}${unit.tick(Math.abs(value), step)}`,
  };
  return {
    title,
    finding,
    drawing: picture(
      finding,
      { class: 'ch' },
      rowsOnAxis(
        rows.flatMap((row) => rowOf(row, scale, words(row))),
        scale,
        signed,
      ),
    ),
    table: {
      columns: ['', `${unit.name}, ± (95 %)`],
      rows: rows.map(({ label, margin }) => [label, margin ?? '']),
      text: unit.margin,
    },
  };
}

function rowOf({ label, sub, margin }: Expected, scale: Scale, words: string): Node[] {
  return [
    node(
      'span',
      { class: 'dl sm' },
      node('bdi', {}, label),
      sub !== undefined && node('span', { class: 'sub room' }, sub),
    ),
    plot(
      22,
      gridLines(scale, 22),
      margin !== undefined && whisker(scale, 11, { value: 0, interval: [-margin, margin] }),
    ),
    node('span', { class: 'num' }, words),
  ];
}
