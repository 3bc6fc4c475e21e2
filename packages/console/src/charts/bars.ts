/** A chart of horizontal bars with whiskers, on an axis from 0. */
import { around, spread } from '../format.ts';
import { type Chart, cellsOf, FIGURE_COLUMNS, type Figure, picture, plot, rowsOnAxis } from './chart.ts';
import { across, type Node, node } from './node.ts';
import { type Scale, scaleFromZero } from './scale.ts';
import { type Series, seriesAt, swatch } from './series.ts';
import type { Unit } from './units.ts';
import { whisker } from './whisker.ts';

export interface Bar extends Figure {
  label: string;
  sub?: string;
  /** The series that the bar stands for. It determines the bar's color and the mark beside the label. */
  series?: Series;
  /** `striped` for a value that was not measured, such as a sum that counts people twice. `soft` for a pale bar. */
  look?: 'striped' | 'soft';
  /** The true value, which only the demo knows. */
  truth?: number;
  /**
   * The sum of the publishers' figures, which counts people several times. Drawn as a thin striped bar below the main
   * bar.
   */
  claimed?: number;
  /** The text after the value. Defaults to the interval. */
  note?: string;
}

const HEIGHT = 22;

export function barChart(title: string, unit: Unit, bars: readonly Bar[]): Chart {
  const scale = scaleFromZero(
    bars.flatMap(({ value, interval = [], truth = 0, claimed = 0 }) => [value, ...interval, truth, claimed]),
    unit,
  );
  const each = bars.map((bar) => `${bar.label}: ${spread(bar.value, bar.interval, unit)}`);
  const finding = `${title}. ${each.join('. ')}`;
  return {
    title,
    finding,
    drawing: picture(
      finding,
      { class: 'ch' },
      rowsOnAxis(
        bars.flatMap((bar) => row(bar, scale, unit)),
        scale,
        unit,
      ),
    ),
    table: tableOf(bars, unit),
  };
}

function row(bar: Bar, scale: Scale, unit: Unit): Node[] {
  const { label, sub, series, value, interval, note } = bar;
  const margin = note ?? (interval && around(value, interval, unit));
  return [
    node(
      'span',
      { class: 'dl sm' },
      series && swatch(series),
      node('bdi', {}, label),
      sub !== undefined && node('span', { class: 'sub' }, sub),
    ),
    plot(bar.claimed === undefined ? HEIGHT : HEIGHT + 4, ...marks(bar, scale)),
    node(
      'span',
      { class: 'num' },
      unit.text(value),
      margin && node('span', { class: 'xs muted' }, ` ${margin}`),
    ),
  ];
}

function marks(bar: Bar, scale: Scale): Node[] {
  const { value, interval, series = seriesAt(0), look, truth, claimed } = bar;
  const width = scale.at(value);
  return [
    ...(look === 'striped'
      ? stripes(width, 4, 14)
      : [barMark(look === 'soft' ? 'soft0' : `f${series.hue}`, width, 4, 14)]),
    ...(claimed === undefined ? [] : stripes(scale.at(claimed), 20, 4)),
    ...(truth === undefined
      ? []
      : [
          node('line', {
            class: 'truth',
            x1: across(scale.at(truth)),
            x2: across(scale.at(truth)),
            y1: 1,
            y2: 21,
          }),
        ]),
    ...(interval === undefined ? [] : whisker(scale, 11, bar, { cap: 9, isOnBar: true })),
  ];
}

function barMark(style: string, width: number, y: number, height: number): Node {
  return node('rect', { class: style, x: 0, y, width: across(width), height, rx: 2 });
}

export function stripes(width: number, y: number, height: number): Node[] {
  return [
    barMark('soft0', width, y, height),
    node('line', {
      class: 'stripes',
      x1: 0,
      x2: across(width),
      y1: y + height / 2,
      y2: y + height / 2,
      'stroke-width': height,
    }),
  ];
}

function tableOf(bars: readonly Bar[], unit: Unit): Chart['table'] {
  const hasTruth = bars.some(({ truth }) => truth !== undefined);
  const hasClaimed = bars.some(({ claimed }) => claimed !== undefined);
  return {
    columns: [
      '',
      ...FIGURE_COLUMNS(unit),
      ...(hasTruth ? ['Truth'] : []),
      ...(hasClaimed ? ['Added up'] : []),
    ],
    rows: bars.map((bar) => [
      bar.label,
      ...cellsOf(bar),
      ...(hasTruth ? [bar.truth ?? ''] : []),
      ...(hasClaimed ? [bar.claimed ?? ''] : []),
    ]),
    text: unit.text,
  };
}
