/** The parts that all charts have. */
import type { Interval } from '../parts/format.ts';
import { type Node, node } from './node.ts';
import type { Unit } from './units.ts';

export interface Table {
  columns: readonly string[];
  rows: readonly (readonly (string | number)[])[];
  /** Writes the numbers for people. Files have them as they are. */
  text?: (value: number) => string;
}

export interface Chart {
  /** The name of the chart, with its unit. */
  title: string;
  /** The finding in a sentence. Screen readers read it instead of the drawing. */
  finding: string;
  drawing: Node;
  /** The same figures as numbers. */
  table: Table;
}

/** A figure with its 95 % interval. An unknown upper end is Infinity. An exact figure has no interval. */
export interface Figure {
  value: number;
  interval?: Interval;
}

/** Makes a drawing that screen readers see as one picture. */
export function picture(
  finding: string,
  attributes: { class: string },
  ...children: Parameters<typeof node>[2][]
): Node {
  return node('div', { ...attributes, role: 'img', 'aria-label': finding }, ...children);
}

/** Makes a plot, which is as wide as its place and has a fixed height. */
export function plot(height: number, ...children: Parameters<typeof node>[2][]): Node {
  return node('svg', { class: 'plot', height, 'aria-hidden': 'true' }, ...children);
}

/** Returns the cells of a figure for a table: value, and both ends of the interval. */
export function cellsOf({ value, interval }: Figure): (string | number)[] {
  const [low, high] = interval ?? [value, value];
  return [value, low, Number.isFinite(high) ? high : ''];
}

export const FIGURE_COLUMNS = (unit: Unit) => [unit.name, 'Low (95 %)', 'High (95 %)'];
