/** Axes. A scale maps values to positions in a plot. */
import { across, type Node, node } from './node.ts';
import type { Unit } from './units.ts';

export interface Scale {
  low: number;
  high: number;
  step: number;
  ticks: number[];
  /**
   * Returns the position in percent of the plot's width. A value outside the scale gets the position of the nearer end.
   */
  at(value: number): number;
}

/**
 * Creates a scale that starts at 0, for bars. If a value is positive infinity, the scale has room for the arrow of an
 * interval without an upper end.
 */
export function scaleFromZero(values: readonly number[], unit: Unit): Scale {
  const most = Math.max(...finite(values), 0);
  const room = values.some((value) => value === Number.POSITIVE_INFINITY) ? 1.25 : 1;
  return scaleBetween(0, most * room || unit.smallest * 4, unit);
}

/** Creates a scale that fits the values and does not have to start at 0, for charts without bars. */
export function scaleAround(values: readonly number[], unit: Unit): Scale {
  const [low, high] = [Math.min(...finite(values)), Math.max(...finite(values))];
  const isOpen = values.length > finite(values).length;
  const span = high - low || Math.max(Math.abs(high) * 0.02, unit.smallest * 4);
  return scaleBetween(
    low >= 0 ? Math.max(0, low - span * 0.3) : low - span * 0.3,
    high + span * (isOpen ? 1 : 0.3),
    unit,
  );
}

export function scaleBetween(low: number, high: number, unit: Unit): Scale {
  const step = stepOf((high - low) / 4, unit.smallest);
  const [first, last] = [Math.floor(low / step + 1e-9), Math.ceil(high / step - 1e-9)];
  const ticks = Array.from({ length: last - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  );
  const [start, end] = [ticks[0]!, ticks.at(-1)!];
  const at = (value: number) => Math.min(100, Math.max(0, ((value - start) / (end - start)) * 100));
  return { low: start, high: end, step, ticks, at };
}

/**
 * Returns the smallest step that is at least `least` and a multiple of `smallest`. A step is 1, 2, 2.5 or 5 times a
 * power of ten.
 */
function stepOf(least: number, smallest: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, smallest)));
  const steps = [1, 2, 2.5, 5, 10].map((times) => times * power);
  const isRound = (step: number) => Math.abs(step / smallest - Math.round(step / smallest)) < 1e-6;
  return steps.find((step) => step >= least * 0.999 && isRound(step)) ?? smallest;
}

function finite(values: readonly number[]): number[] {
  const found = values.filter((value) => Number.isFinite(value));
  return found.length > 0 ? found : [0];
}

/**
 * Draws the numbers of an axis. In a narrow plot, some of the numbers are hidden. If the count of numbers is odd, every
 * second number is hidden. If the count is even, only the first and the last number are shown.
 */
export function axisTexts({ ticks, step, at }: Scale, unit: Unit, y: number): Node[] {
  const last = ticks.length - 1;
  return ticks.map((tick, i) => {
    const anchor = i === 0 ? 'start' : i === last ? 'end' : 'middle';
    const isSecond = last % 2 === 0 ? i % 2 === 1 : i !== 0 && i !== last;
    return node(
      'text',
      { x: across(at(tick)), y, 'text-anchor': anchor, class: isSecond ? 'room' : undefined },
      unit.tick(tick, step),
    );
  });
}

export function gridLines({ ticks, at }: Scale, height: number): Node[] {
  return ticks.map((tick) =>
    node('line', { class: 'ax', x1: across(at(tick)), x2: across(at(tick)), y1: 0, y2: height }),
  );
}
