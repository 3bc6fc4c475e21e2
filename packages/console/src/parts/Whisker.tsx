/** A small interval for lists. All whiskers of a list share one relative scale, so that a wide one is worse at a glance. */
import type { Estimate } from './estimate.ts';

/** The share of the figure that half of the drawing stands for. */
export const WHISKER_SCALE = 0.03;

export function RelativeWhisker({ value, interval: [low, high] }: Estimate) {
  const at = (x: number) => 50 + ((x - value) / (value * WHISKER_SCALE)) * 50;
  const [left, right] = [Math.max(0, at(low)), Math.min(100, at(high))];
  const caps = [left, right].filter((x) => x > 0 && x < 100);
  return (
    <svg className="plot" height="12" aria-hidden="true">
      <line className="ax0" x1="0" x2="100%" y1="6" y2="6" />
      <line className="whb" x1={`${left}%`} x2={`${right}%`} y1="6" y2="6" />
      <line className="wh" x1={`${left}%`} x2={`${right}%`} y1="6" y2="6" />
      {caps.map((x) => (
        <line key={x} className="wh" x1={`${x}%`} x2={`${x}%`} y1="2.5" y2="9.5" />
      ))}
      <circle className="pt f0" cx="50%" cy="6" r="2.6" />
    </svg>
  );
}
