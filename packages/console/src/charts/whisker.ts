/** Draws whiskers: a figure's 95 % interval as a line with caps, and its value as a dot on the line. */
import { spread } from '../format.ts';
import { type Chart, cellsOf, FIGURE_COLUMNS, type Figure, picture, plot } from './chart.ts';
import { across, type Node, node } from './node.ts';
import { axisTexts, type Scale, scaleAround } from './scale.ts';
import { dotAt, NEUTRAL, type Series } from './series.ts';
import type { Unit } from './units.ts';

export interface WhiskerStyle {
  series?: Series;
  /** Half the height of a cap, in pixels. */
  cap?: number;
  radius?: number;
  /**
   * True if the whisker is drawn on a bar. The whisker then has no halo, because a halo would look like a notch in the
   * bar.
   */
  isOnBar?: boolean;
}

/** Draws a whisker at the height `y`. An interval without an upper end has an arrow instead of a cap. */
export function whisker(
  { at }: Pick<Scale, 'at'>,
  y: number,
  { value, interval = [value, value] }: Figure,
  { series = NEUTRAL, cap = 4.5, radius = 2.6, isOnBar = false }: WhiskerStyle = {},
): Node[] {
  const [low, high] = interval.map(at) as [number, number];
  const hue = series.hue === 0 ? 'wh' : `wh s${series.hue}`;
  const line = (style: string, x1: number, x2: number, half: number) =>
    node('line', { class: style, x1: across(x1), x2: across(x2), y1: y - half, y2: y + half });
  const isOpen = !Number.isFinite(interval[1]);
  return [
    ...(isOnBar ? [] : [line('whb', low, high, 0)]),
    line(hue, low, high, 0),
    line(hue, low, low, cap),
    isOpen ? arrow(y, cap, hue) : line(hue, high, high, cap),
    dotAt(series, at(value), y, radius, !isOnBar),
  ];
}

function arrow(y: number, cap: number, hue: string): Node {
  return node(
    'svg',
    { x: '100%', y, width: 1, height: 1, overflow: 'visible' },
    node('path', { class: hue, d: `M${-cap} ${-cap}L0 0 ${-cap} ${cap}` }),
  );
}

export function whiskerChart(title: string, figure: Figure, unit: Unit): Chart {
  const finding = `${title}: ${spread(figure.value, figure.interval, unit)}`;
  return {
    title,
    finding,
    drawing: picture(finding, { class: 'ch' }, plot(44, closeUp(figure, unit))),
    table: { columns: FIGURE_COLUMNS(unit), rows: [cellsOf(figure)], text: unit.text },
  };
}

/** Draws a figure with its interval, on an axis that fits the interval. The drawing is 44 pixels high. */
export function closeUp(figure: Figure, unit: Unit): Node[] {
  const { value, interval = [value, value] } = figure;
  const scale = scaleAround([value, ...interval], unit);
  return [
    node('line', { class: 'ax0', x1: 0, x2: '100%', y1: 14, y2: 14 }),
    ...scale.ticks.map((tick) =>
      node('line', { class: 'ax0', x1: across(scale.at(tick)), x2: across(scale.at(tick)), y1: 12, y2: 16 }),
    ),
    ...whisker(scale, 14, figure, { cap: 7, radius: 6 }),
    ...axisTexts(scale, unit, 38),
  ];
}

/** Returns true if the interval would be less than 3 pixels wide in a plot of 600 pixels. */
export function isTooNarrow({ at }: Scale, { interval }: Figure): boolean {
  return interval !== undefined && at(interval[1]) - at(interval[0]) < 0.5;
}

/** The range of whiskers in lists: ± 3 % of the value. */
export const MINI_RANGE = 0.03;

/** Draws a whisker for a list. The scale is relative to the value, so a wider whisker means a larger relative error. */
export function miniWhisker({ value, interval = [value, value] }: Figure): Node {
  const at = (x: number) => {
    const off = value === 0 ? Math.sign(x) : (x - value) / (Math.abs(value) * MINI_RANGE);
    return 50 + 50 * Math.min(1, Math.max(-1, off));
  };
  return plot(
    12,
    node('line', { class: 'ax0', x1: 0, x2: '100%', y1: 6, y2: 6 }),
    ...whisker({ at }, 6, { value, interval }, { cap: 4.5, radius: 2, isOnBar: true }),
  );
}
