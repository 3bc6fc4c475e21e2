/** Units: how a chart writes its values, its margins, and the numbers on its axis. */
import { count, percent, points } from '../parts/format.ts';

export interface Unit {
  /** The heading of the values in the table behind a chart, such as `People`. */
  name: string;
  text(value: number): string;
  /** The text of a margin, such as `129` in `420,731 ± 129`. */
  margin(value: number): string;
  /** The text on an axis whose numbers are `step` apart. */
  tick(value: number, step: number): string;
  /** The smallest distance between two numbers on the axis. */
  smallest: number;
}

/** A unit of things that are counted, such as people or impressions. */
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

/** A share from 0 to 1, written in percent. */
export const SHARE: Unit = {
  name: 'Share',
  text: (value) => percent(value),
  margin: points,
  tick: (value, step) => percent(value, step < 0.001 ? 2 : step < 0.01 ? 1 : 0),
  smallest: 0.0001,
};

/** The size of each short form, and the smallest distance between two numbers of an axis that has it. */
const SHORT = [
  [1e9, 'B', 250e6],
  [1e6, 'M', 250e3],
  [1e3, 'k', 1000],
] as const;

/** Writes thousands as `150k` and millions as `1.5M`, but all digits if the numbers of the axis are close together. */
function compact(value: number, step: number): string {
  const [size, sign] = SHORT.find(([size, , least]) => Math.abs(value) >= size && step >= least) ?? [1, ''];
  return sign === '' ? count(value) : `${Number((value / size).toFixed(2))}${sign}`;
}
