/** Series in a chart, such as publishers. Each series has a color and a shape. */
import { across, type Node, node } from './node.ts';

const SHAPES = ['circle', 'square', 'triangle', 'diamond'] as const;

export interface Series {
  /** The number of the color in the style sheet. 0 is a neutral color for several series together. */
  hue: 0 | 1 | 2 | 3 | 4;
  shape: (typeof SHAPES)[number];
}

export const NEUTRAL: Series = { hue: 0, shape: 'circle' };

/** Returns the series at an index. The first 16 series are all different. */
export function seriesAt(index: number): Series {
  const shape = (index + Math.floor(index / 4)) % 4;
  return { hue: ((index % 4) + 1) as Series['hue'], shape: SHAPES[shape]! };
}

/** Draws the shape of a series in a drawing of fixed size. `x` and `y` are the center, in pixels. */
export function shapeAt({ hue, shape }: Series, x: number, y: number, r: number, extra = ''): Node {
  const style = `${extra}f${hue}`;
  switch (shape) {
    case 'circle':
      return node('circle', { class: style, cx: x, cy: y, r });
    case 'square':
      return node('rect', {
        class: style,
        x: x - r * 0.88,
        y: y - r * 0.88,
        width: r * 1.76,
        height: r * 1.76,
      });
    case 'triangle':
      return node('path', { class: style, d: `M${x} ${y - r * 1.1}l${r * 1.15} ${r * 2}h${-r * 2.3}z` });
    case 'diamond':
      return node('path', {
        class: style,
        d: `M${x} ${y - r * 1.25}l${r * 1.25} ${r * 1.25}-${r * 1.25} ${r * 1.25}-${r * 1.25}-${r * 1.25}z`,
      });
  }
}

/** Draws the shape of a series in a plot of any width. `percent` is the horizontal position, and `y` is in pixels. */
export function dotAt(series: Series, percent: number, y: number, r: number, hasHalo = true): Node {
  const style = hasHalo ? 'pt ' : 'pt flat ';
  if (series.shape === 'circle') {
    return node('circle', { class: `${style}f${series.hue}`, cx: across(percent), cy: y, r });
  }
  return node(
    'svg',
    { x: across(percent), y, width: 1, height: 1, overflow: 'visible' },
    shapeAt(series, 0, 0, r, style),
  );
}

export function swatch(series: Series): Node {
  return node(
    'svg',
    { class: 'sw', viewBox: '0 0 11 11', 'aria-hidden': 'true' },
    shapeAt(series, 5.5, 5.5, 5),
  );
}
