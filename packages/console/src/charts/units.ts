/** Units of measure. A unit formats a chart's values, margins, and axis numbers. */
import { count, percent, points } from '../format.ts';

export interface Unit {
  /** The column heading in the chart's table, such as `People`. */
  name: string;
  text(value: number): string;
  /** Formats a margin, such as `129` in `420,731 ± 129`. */
  margin(value: number): string;
  /** Formats a number on an axis. `step` is the distance between neighboring numbers. */
  tick(value: number, step: number): string;
  /** The minimum distance between neighboring numbers on the axis. */
  smallest: number;
}

export const counts = (name: string): Unit => ({
  name,
  text: count,
  margin: count,
  tick: compact,
  smallest: 1,
});

export const PEOPLE = counts('People');
export const IMPRESSIONS = counts('Impressions');
export const HOURS = counts('Hours');

/** A unit for numbers with a fixed number of decimals, such as an average frequency of 3.91. */
export function decimals(name: string, digits: number): Unit {
  const text = (value: number) =>
    value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return { name, text, margin: text, tick: text, smallest: 10 ** -digits };
}

export const SHARE: Unit = {
  name: 'Share',
  text: (value) => percent(value),
  margin: points,
  tick: (value, step) => percent(value, step < 0.001 ? 2 : step < 0.01 ? 1 : 0),
  smallest: 0.0001,
};

/** The divisor, the suffix, and the minimum step of an axis that uses the suffix. */
const SHORT = [
  [1e9, 'B', 250e6],
  [1e6, 'M', 250e3],
  [1e3, 'k', 1000],
] as const;

/**
 * Formats thousands as `150k` and millions as `1.5M`. Uses all digits if the numbers on the axis are close together.
 */
function compact(value: number, step: number): string {
  const [size, sign] = SHORT.find(([size, , least]) => Math.abs(value) >= size && step >= least) ?? [1, ''];
  return sign === '' ? count(value) : `${Number((value / size).toFixed(2))}${sign}`;
}
