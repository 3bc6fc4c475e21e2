/**
 * A chart of the possible results of a measurement that has not been sent yet. It shows a normal distribution around
 * the true value, and the 95 % interval.
 */
import { type Chart, picture, plot } from './chart.ts';
import { across, type Node, node, round } from './node.ts';
import { axisTexts, scaleBetween } from './scale.ts';
import type { Unit } from './units.ts';
import { whisker } from './whisker.ts';

/**
 * The curve extends 3.2 standard deviations to each side. ENDS is that length divided by the margin, which is 1.96
 * standard deviations.
 */
const ENDS = 3.2 / 1.96;
const CURVE = curve();

/**
 * `margin` is half the width of the 95 % interval, and `limit` is half the length of the axis. While the user moves a
 * slider, pass the same `limit` on every call, so that the axis does not change.
 */
export function previewChart(
  title: string,
  { margin, limit, unit }: { margin: number; limit: number; unit: Unit },
): Chart {
  const end = Math.max(limit, unit.smallest);
  const scale = scaleBetween(-end, end, unit);
  const signed: Unit = {
    ...unit,
    tick: (value, step) =>
      value === 0 ? 'truth' : `${value < 0 ? '−' : '+'}${unit.tick(Math.abs(value), step)}`,
  };
  const half = (margin * ENDS * 100) / (scale.high - scale.low);
  const finding = `${title}: 19 of 20 results are within ± ${unit.margin(margin)} of the truth`;
  return {
    title,
    finding,
    drawing: picture(
      finding,
      { class: 'ch bounded' },
      plot(
        128,
        node('line', { class: 'ax', x1: '50%', x2: '50%', y1: 4, y2: 92 }),
        node(
          'svg',
          {
            x: across(50 - half),
            width: across(half * 2),
            y: 6,
            height: 74,
            viewBox: '0 0 1000 100',
            preserveAspectRatio: 'none',
          },
          node('path', { class: 'band', d: CURVE }),
          node('path', { class: 'ln s1', d: CURVE }),
        ),
        node('line', { class: 'ax0', x1: 0, x2: '100%', y1: 80, y2: 80 }),
        whisker(scale, 94, { value: 0, interval: [-margin, margin] }, { cap: 6, radius: 5 }),
        margin > scale.high ? beyond() : [],
        axisTexts(scale, signed, 122),
      ),
    ),
    table: { columns: ['', unit.name], rows: [['Margin (95 %)', margin]] },
  };
}

function beyond(): Node[] {
  return [node('text', { class: 'k', x: '100%', y: 14, 'text-anchor': 'end' }, 'wider than this axis')];
}

/** Returns the SVG path of the normal distribution, for a view box that is 1000 wide and 100 high. */
function curve(): string {
  const points = Array.from({ length: 61 }, (_, i) => {
    const z = (i / 60 - 0.5) * 6.4;
    return `${round((i * 1000) / 60)} ${round(100 - 96 * Math.exp((-z * z) / 2))}`;
  });
  return `M0 100L${points.join('L')}L1000 100z`;
}
