/** Shows every figure as measured and as corrected, and how well the answers agree. */
import { useState } from 'react';
import { around, count, counted } from '../../../format.ts';
import { Chart } from '../../../parts/Chart.tsx';
import { Chip } from '../../../parts/Chip.tsx';
import { fitChart, UNITS } from '../../../reports/charts.ts';
import type { FigureView, ReportView } from '../../../reports/types.ts';
import { figureWords } from '../../../reports/words.ts';
import { Card } from './Card.tsx';
import type { Labeled, Shown } from './shown.ts';

const FIRST = 12;

export function Corrected({ view, labels }: Labeled) {
  const [isWhole, setWhole] = useState(false);
  const sorted = view.figures.toSorted((a, b) => moved(b) - moved(a));
  const shown = isWhole ? sorted : sorted.slice(0, FIRST);
  return (
    <Card
      title="Measured and corrected"
      hint="Measured figures carry noise and can contradict each other. The corrected ones never do: parts add up, weeks never fall. The largest corrections come first."
      actions={<StateChip state={view.state} />}
    >
      <table className="dense fold">
        <thead>
          <tr>
            <th scope="col">Figure</th>
            <th scope="col" className="num">
              Measured
            </th>
            <th scope="col" className="num">
              Corrected
            </th>
            <th scope="col" className="num">
              95 %
            </th>
            <th scope="col" className="num">
              Moved by
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((figure) => (
            <Row key={view.figures.indexOf(figure)} {...{ view, labels, figure }} />
          ))}
        </tbody>
      </table>
      {sorted.length > FIRST && (
        <div>
          <button type="button" className="btn sm" onClick={() => setWhole(!isWhole)}>
            {isWhole ? `Show the first ${FIRST}` : `Show all ${count(sorted.length)} figures`}
          </button>
        </div>
      )}
    </Card>
  );
}

/**
 * Returns how far the correction moved a figure, in standard deviations. Returns Infinity for a figure without a value.
 */
function moved({ value, raw, standardDeviation }: FigureView): number {
  if (value === undefined) return Number.POSITIVE_INFINITY;
  return standardDeviation! > 0 ? Math.abs(raw! - value) / standardDeviation! : 0;
}

function Row({ view, labels, figure }: Labeled & { figure: FigureView }) {
  const { metric, value, raw, interval, isNoiseDominated } = figure;
  const unit = UNITS[metric];
  return (
    <tr>
      <td>
        {figureWords(view, labels, figure)}
        {isNoiseDominated && <span className="sub">Too small to tell from noise</span>}
      </td>
      {value === undefined ? (
        <td colSpan={4} data-l="State" className="num">
          <Chip tone="warn" icon="clock">
            No answer
          </Chip>
        </td>
      ) : (
        <>
          <td className="num muted" data-l="Measured">
            {unit.text(raw!)}
          </td>
          <td className="num" data-l="Corrected">
            <b>{unit.text(value)}</b>
          </td>
          <td className="num" data-l="95 %">
            {around(value, interval!, unit)}
          </td>
          <td className="num" data-l="Moved by">
            {moved(figure).toFixed(1)} σ
          </td>
        </>
      )}
    </tr>
  );
}

const STATES = {
  COMPLETE: { word: 'Consistent', icon: 'check', tone: 'ok' },
  INCONSISTENT: { word: 'Inconsistent', icon: 'warn', tone: 'bad' },
  INCOMPLETE: { word: 'Incomplete', icon: 'clock', tone: 'warn' },
} as const;

function StateChip({ state }: Pick<ReportView, 'state'>) {
  const { word, icon, tone } = STATES[state];
  return (
    <Chip tone={tone} icon={icon}>
      {word}
    </Chip>
  );
}

export function Agreement({ view, labels, nameOf }: Shown) {
  const answered = view.needs.filter(({ pull }) => pull !== undefined).length;
  if (answered < 2) return null;
  const worst = view.fits[0];
  return (
    <Card
      title={`How well the ${count(answered)} answers agree`}
      hint={
        worst && worst.degrees > 0
          ? `χ² ${worst.chiSquared.toFixed(1)} with ${counted(worst.degrees, 'degree')} of freedom, p = ${pText(worst.p)}`
          : 'No two of them measure the same, so nothing can contradict anything.'
      }
    >
      <Chart chart={fitChart(view, labels, nameOf)} file="agreement" />
      <p className="xs muted">
        Each dot is one measured number; 19 of 20 should lie in the gray area. If p falls below 0.001, the
        publisher furthest out is named at the top, and both columns stay.
      </p>
    </Card>
  );
}

const pText = (p: number) => (p < 1e-6 ? '0.000001 or less' : p < 0.001 ? p.toExponential(0) : p.toFixed(2));
