/** Charts of how often people were reached: exactly k times, or at least k times. */
import { type Bar, barChart } from './bars.ts';
import type { Chart, Figure } from './chart.ts';
import { PEOPLE, SHARE } from './units.ts';

/**
 * Draws one bar for each k from 1 to the number of shares. A bar shows the share of the reached people who were reached
 * exactly k times. The last bar instead shows the share who were reached at least k times.
 */
export function frequencyChart(
  title: string,
  shares: readonly (Figure & Pick<Bar, 'truth' | 'claimed'>)[],
): Chart {
  const last = shares.length;
  return barChart(
    title,
    SHARE,
    shares.map((share, i) => ({ ...share, label: times(i + 1, i + 1 === last) })),
  );
}

/**
 * Draws the number of people who were reached at least k times, for each k. `cap` is a frequency cap. Bars for a k
 * above the cap are striped, because with the cap nobody would be reached k times.
 */
export function kPlusChart(title: string, atLeast: readonly Figure[], cap = Number.POSITIVE_INFINITY): Chart {
  return barChart(
    title,
    PEOPLE,
    atLeast.map((figure, i) => ({
      ...figure,
      label: times(i + 1, true),
      ...(i + 1 > cap && { look: 'striped' }),
    })),
  );
}

const times = (k: number, orMore: boolean) => (orMore ? `${k}+ times` : k === 1 ? '1 time' : `${k} times`);
