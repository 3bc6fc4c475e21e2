/** A chart of states over time. Each row shows the states of one resource, such as a measurement. */
import { type Chart, picture, plot } from './chart.ts';
import { across, type Node, node } from './node.ts';
import { axisTexts, type Scale, scaleFromZero } from './scale.ts';
import type { Unit } from './units.ts';

export interface Lane {
  label: string;
  /** `from` and `to` are in milliseconds since the start of the chart. */
  spans: readonly { state: string; from: number; to: number }[];
}

const SECONDS: Unit = {
  name: 'Seconds',
  text: (ms) => `${(ms / 1000).toFixed(1)} s`,
  margin: (ms) => `${(ms / 1000).toFixed(1)} s`,
  tick: (ms, step) => `${(ms / 1000).toFixed(step < 1000 ? 1 : 0)} s`,
  smallest: 100,
};

export function laneChart(title: string, lanes: readonly Lane[]): Chart {
  const last = Math.max(...lanes.flatMap(({ spans }) => spans.map(({ to }) => to)), 0);
  const scale = scaleFromZero([last], SECONDS);
  const finding = `${title}: ${lanes.length} in ${SECONDS.text(last)}`;
  return {
    title,
    finding,
    drawing: picture(
      finding,
      { class: 'ch' },
      lanes.map(({ label, spans }) =>
        node(
          'div',
          { class: 'sm' },
          node('bdi', {}, label),
          plot(
            16,
            spans.map((span) => spanMark(scale, span)),
          ),
        ),
      ),
      plot(16, axisTexts(scale, SECONDS, 12)),
    ),
    table: {
      columns: ['', 'State', 'From (ms)', 'To (ms)'],
      rows: lanes.flatMap(({ label, spans }) => spans.map(({ state, from, to }) => [label, state, from, to])),
    },
  };
}

/** Draws a state as a bar. If the state has no duration, as for the last state of a resource, draws a dot. */
function spanMark({ at }: Scale, { state, from, to }: Lane['spans'][number]): Node {
  const style = `st ${state.toLowerCase()}`;
  const tip = node('title', {}, `${state}, ${SECONDS.text(from)} to ${SECONDS.text(to)}`);
  if (to <= from)
    return node('circle', { class: style, cx: across(Math.min(99, at(from))), cy: 8, r: 5 }, tip);
  return node(
    'rect',
    { class: style, x: across(at(from)), y: 3, width: across(Math.max(at(to) - at(from), 0.4)), height: 10 },
    tip,
  );
}
