/** A chart of errors, in standard deviations. About 95 of 100 dots should be in the highlighted zone. */
import { type Chart, picture, plot, rowsOnAxis } from './chart.ts';
import { across, node } from './node.ts';
import { gridLines, scaleBetween } from './scale.ts';
import type { Unit } from './units.ts';

export interface Residual {
  row: string;
  label: string;
  sigmas: number;
}

const FARTHEST = 4;
const SIGMAS: Unit = {
  name: 'Standard deviations',
  text: (value) => `${value.toFixed(2)} σ`,
  margin: (value) => value.toFixed(2),
  tick: (value) => (value === 0 ? '0' : `${value < 0 ? '−' : '+'}${Math.abs(value)} σ`),
  smallest: 1,
};

export function residualChart(title: string, residuals: readonly Residual[]): Chart {
  const scale = scaleBetween(-FARTHEST, FARTHEST, SIGMAS);
  const rows = Map.groupBy(residuals, ({ row }) => row);
  const within = residuals.filter(({ sigmas }) => Math.abs(sigmas) <= 1.96).length;
  const finding = `${title}: ${within} of ${residuals.length} are within two standard deviations`;
  const [left, right] = [scale.at(-1.96), scale.at(1.96)];
  return {
    title,
    finding,
    drawing: picture(
      finding,
      { class: 'ch' },
      rowsOnAxis(
        [...rows].flatMap(([row, dots]) => [
          node('span', { class: 'dl sm' }, node('bdi', {}, row)),
          plot(
            24,
            node('rect', { class: 'band0', x: across(left), y: 0, width: across(right - left), height: 24 }),
            gridLines(scale, 24),
            dots.map(({ sigmas, label }) =>
              node(
                'circle',
                { class: 'pt f1', cx: across(scale.at(sigmas)), cy: 12, r: 4.5 },
                node('title', {}, `${label}: ${SIGMAS.text(sigmas)}`),
              ),
            ),
          ),
          node('span', { class: 'num' }),
        ]),
        scale,
        SIGMAS,
      ),
    ),
    table: {
      columns: ['', 'Figure', SIGMAS.name],
      rows: residuals.map(({ row, label, sigmas }) => [row, label, sigmas]),
      text: SIGMAS.text,
    },
  };
}
