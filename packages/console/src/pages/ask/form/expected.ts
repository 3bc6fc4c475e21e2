/** Formats the expected error of a measurement. */
import type { ExpectedFigure } from '@measurement-exchange/sdk';
import { count, percent } from '../../../format.ts';

/** Formats a margin, such as `129` for people or `2.1 s` for watch time. */
export function marginText({ figure, margin }: ExpectedFigure): string {
  if (margin === undefined) return 'unknown';
  if (figure === 'frequencyShare') return percent(margin, 2);
  const text = margin > 0 && margin < 10 ? String(Number(margin.toPrecision(2))) : count(margin);
  return figure === 'watchDurationSeconds' ? `${text} s` : text;
}

export const FIGURE_WORDS: Record<ExpectedFigure['figure'], { title: string; assumed: string }> = {
  reach: { title: 'People', assumed: 'people are reached' },
  frequencyShare: { title: 'Share', assumed: 'people are reached' },
  impressions: { title: 'Impressions', assumed: 'impressions are counted' },
  watchDurationSeconds: { title: 'Seconds', assumed: 'seconds are watched' },
  population: { title: 'People', assumed: 'people are counted' },
};

export function relative(margin: number, value: number): string {
  const share = margin / value;
  return share > 0 && share < 0.0001 ? '< 0.01 %' : percent(share, 2);
}

/**
 * Returns half the length of the preview's axis. Returns `current`, the previous half length, while the margin is
 * between 1/12 of `current` and `current`. If the axis always changed with the margin, the curve would look almost the
 * same at every slider position.
 */
export function axisFor(margin: number, current: number | undefined): number {
  if (current !== undefined && margin <= current && margin >= current / 12) return current;
  const wanted = margin * 3;
  const size = 10 ** Math.floor(Math.log10(wanted));
  return [1, 2, 5, 10].map((step) => step * size).find((limit) => limit >= wanted)!;
}

/** The range and the step of the slider. A position on the slider is the decimal logarithm of epsilon. */
export const SLIDER = { min: -2, max: 1, step: 0.02 };
export const toEpsilon = (position: number) => Number((10 ** position).toPrecision(2));
export const toPosition = (epsilon: number) =>
  Math.min(SLIDER.max, Math.max(SLIDER.min, Math.log10(epsilon)));
