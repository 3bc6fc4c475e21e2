/**
 * Shows the main figure of a report with its uncertainty, and further numbers about the whole report, such as
 * impressions.
 */
import { miniWhisker, PEOPLE, whiskerChart } from '../../../charts/index.ts';
import { around, count, intervalText, percent } from '../../../format.ts';
import { Chart, Drawing } from '../../../parts/Chart.tsx';
import { onceChart, type Stat, statsOf, UNITS } from '../../../reports/charts.ts';
import type { FigureView, ReportView } from '../../../reports/types.ts';
import { figureWords } from '../../../reports/words.ts';
import type { Labeled } from './shown.ts';

export function Headline({ view, labels }: Labeled) {
  const stats = statsOf(view);
  return (
    <section className="card">
      <div className={stats.length > 0 ? 'in-card cols c21' : 'in-card'}>
        <div className="stack">
          <Answer view={view} labels={labels} />
        </div>
        {stats.length > 0 && (
          <div className="stack">
            {stats.map((stat) => (
              <StatRow key={stat.label} stat={stat} />
            ))}
            <p className="xs muted">Lines show the 95 % interval, on a scale of ± 3 % of each figure.</p>
          </div>
        )}
      </div>
    </section>
  );
}

function Answer({ view, labels }: Labeled) {
  const { everyone, segments } = view;
  const chart = onceChart(view);
  if (everyone === undefined) return <FirstFigure view={view} labels={labels} />;
  const label =
    segments.length === 1
      ? 'People reached, each counted once'
      : `People reached by all ${segments.length} together, each counted once`;
  return (
    <>
      <Big label={label} value={everyone.value} interval={everyone.interval} />
      {chart ? (
        <Chart chart={chart} file="reach" />
      ) : (
        <Drawing tree={whiskerChart(label, everyone, PEOPLE).drawing} />
      )}
      <Several view={view} />
    </>
  );
}

/** Shows the first figure that has a value. Used for reports without the reach of all segments together. */
function FirstFigure({ view, labels }: Labeled) {
  const first = view.figures.find(({ value }) => value !== undefined) as Required<FigureView> | undefined;
  if (first === undefined) return <p className="soft">No figure is answered yet.</p>;
  const unit = UNITS[first.metric];
  const label = figureWords(view, labels, first);
  return (
    <>
      <Big label={label} value={first.value} interval={first.interval} metric={first.metric} />
      <Drawing tree={whiskerChart(label, first, unit).drawing} />
    </>
  );
}

function Big({
  label,
  value,
  interval,
  metric = 'reach',
}: {
  label: string;
  value: number;
  interval: readonly [number, number];
  metric?: FigureView['metric'];
}) {
  const unit = UNITS[metric];
  const margin = around(value, interval, unit);
  return (
    <div className="stack tight">
      <h2 className="lab soft">{label}</h2>
      <div className="big">
        <span className="v">{unit.text(value)}</span>
        <span className="pm">
          95 %: {intervalText(interval, unit)}{' '}
          {margin.startsWith('±') && <span className="muted">({margin})</span>}
        </span>
      </div>
    </div>
  );
}

/**
 * States by how much the sum of the segments' reaches exceeds the reach of all segments together, and how many people
 * were reached by more than one segment.
 */
function Several({ view: { several, everyone, alone } }: Pick<Labeled, 'view'>) {
  if (several === undefined || everyone === undefined || everyone.value === 0 || alone.includes(null))
    return null;
  const excess = alone.reduce((sum, of) => sum + of!.value, 0) / everyone.value - 1;
  return (
    <p className="sm soft">
      Adding up what each of them reached would claim {percent(excess)} too many: {count(several.value)}{' '}
      people <span className="muted">({around(several.value, several.interval, PEOPLE)})</span> saw it in more
      than one place.
    </p>
  );
}

function StatRow({ stat: { label, value, interval, unit } }: { stat: Stat }) {
  return (
    <div className="stat">
      <span className="lab">{label}</span>
      <div className="row">
        <b className="mid">{unit.text(value)}</b>
        <span className="xs muted">95 %: {intervalText(interval, unit)}</span>
      </div>
      <Drawing tree={miniWhisker({ value, interval })} />
    </div>
  );
}

export const isEmpty = ({ figures }: ReportView) => figures.every(({ value }) => value === undefined);
