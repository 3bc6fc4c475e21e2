/** Shows the progress of a running report: the state of each measurement, and how many have succeeded. */
import type { LocalInterval } from '@measurement-exchange/reports';
import { count } from '../../../format.ts';
import { A } from '../../../parts/A.tsx';
import { Chip, type Shown } from '../../../parts/Chip.tsx';
import { pathOf } from '../../../parts/links.ts';
import type { ProgressView, SegmentView } from '../../../reports/types.ts';
import { type Label, needWords } from '../../../reports/words.ts';
import './run.css';

const STATES: Record<string, Shown> = {
  AWAITING_REQUISITION_FULFILLMENT: { word: 'Waiting', icon: 'clock', tone: 'warn' },
  COMPUTING: { word: 'Computing', icon: 'run', tone: 'run' },
  SUCCEEDED: { word: 'Answered', icon: 'check', tone: 'ok' },
  FAILED: { word: 'Failed', icon: 'x', tone: 'bad' },
  CANCELLED: { word: 'Canceled', icon: 'minus' },
  REJECTED: { word: 'Rejected', icon: 'x', tone: 'bad' },
  NOT_CREATED: { word: 'Not accepted', icon: 'x', tone: 'bad' },
  NOT_DUE: { word: 'Not due yet', icon: 'clock' },
};
const NOT_ASKED: Shown = { word: 'Not asked yet', icon: 'minus' };

interface Props {
  progress: ProgressView;
  segments: readonly SegmentView[];
  labels: readonly Label[];
  interval: LocalInterval;
}

export function Progress({ progress: { total, answered, measurements }, segments, labels, interval }: Props) {
  return (
    <section className="card" aria-labelledby="report-progress">
      <header>
        <h2 id="report-progress">
          {count(answered)} of {count(total)} measurements answered
        </h2>
        <p>Publishers usually answer within a minute. You can close this page; the answers stay.</p>
      </header>
      <div className="in-card stack">
        <progress
          className="answered"
          value={answered}
          max={Math.max(1, total)}
          aria-labelledby="report-progress"
        />
        <table className="dense fold">
          <thead>
            <tr>
              <th scope="col">Measurement</th>
              <th scope="col">State</th>
            </tr>
          </thead>
          <tbody>
            {measurements.map((one) => {
              const { word, icon, tone } = STATES[one.state] ?? NOT_ASKED;
              const path = one.measurement && pathOf(one.measurement, 'consumer');
              const title = needWords({ interval, segments }, labels, one);
              return (
                <tr key={one.key}>
                  <td>{path ? <A to={path}>{title}</A> : title}</td>
                  <td data-l="State">
                    <Chip tone={tone} icon={icon}>
                      {word}
                    </Chip>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}
