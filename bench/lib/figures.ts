/** Figures of several rounds: the median, the minimum and the maximum. */

export interface Figure {
  median: number;
  min: number;
  max: number;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function figure(values: readonly number[]): Figure {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** Divides `own` by `yardstick` in each round, because a slow phase of the machine affects both values of a round. */
export function ratio(own: readonly number[], yardstick: readonly number[]): Figure {
  return figure(own.map((value, round) => value / yardstick[round]!));
}

/** Returns the percentile of sorted values by the nearest-rank method. */
export function percentile(sorted: ArrayLike<number>, p: number): number {
  return sorted[Math.max(0, Math.ceil((sorted.length * p) / 100) - 1)] ?? Number.NaN;
}

/** Formats a number with three significant digits, or as an integer if its absolute value is at least 100. */
export function digits(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toPrecision(3);
}

export function show({ median, min, max }: Figure): string {
  return `${digits(median)} (${digits(min)}–${digits(max)})`;
}
