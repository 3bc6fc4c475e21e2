/** Types and functions that all charts share. */
import type { Interval } from '../format.ts';
import { type Node, node } from './node.ts';
import { axisTexts, type Scale } from './scale.ts';
import type { Unit } from './units.ts';

export interface Table {
  columns: readonly string[];
  rows: readonly (readonly (string | number)[])[];
  /** Formats a number for display. Exported files contain the unformatted number. */
  text?: (value: number) => string;
}

export interface Chart {
  title: string;
  /** A summary of the chart in words. Screen readers read the summary instead of the drawing. */
  finding: string;
  drawing: Node;
  table: Table;
}

/** A figure with its 95 % interval. An unknown upper end is Infinity, and an exact figure has no interval. */
export interface Figure {
  value: number;
  interval?: Interval;
}

/** Creates a drawing that screen readers treat as one image. */
export function picture(
  finding: string,
  attributes: { class: string },
  ...children: Parameters<typeof node>[2][]
): Node {
  return node('div', { ...attributes, role: 'img', 'aria-label': finding }, ...children);
}

export function plot(height: number, ...children: Parameters<typeof node>[2][]): Node {
  return node('svg', { class: 'plot', height, 'aria-hidden': 'true' }, ...children);
}

/** Draws the rows with one shared axis below them. Each row has a label, a plot, and a number. */
export function rowsOnAxis(rows: readonly Node[], scale: Scale, unit: Unit): Node {
  const axis = node('span', { class: 'axis' }, plot(16, axisTexts(scale, unit, 12)));
  return node('div', { class: 'dw' }, [...rows, axis]);
}

export function cellsOf({ value, interval }: Figure): (string | number)[] {
  const [low, high] = interval ?? [value, value];
  return [value, low, Number.isFinite(high) ? high : ''];
}

export const FIGURE_COLUMNS = (unit: Unit) => [unit.name, 'Low (95 %)', 'High (95 %)'];
