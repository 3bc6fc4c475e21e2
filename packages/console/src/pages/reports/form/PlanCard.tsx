/** The plan of the report: its measurements, its cost, its expected errors, and the button that runs it. */
import type { ReportDefinition } from '@measurement-exchange/reports';
import { expectedChart, PEOPLE } from '../../../charts/index.ts';
import { count, counted, dateRange } from '../../../format.ts';
import { Drawing } from '../../../parts/Chart.tsx';
import { Icon } from '../../../parts/Icon.tsx';
import { inWords, useNames } from '../../../parts/names.ts';
import { usePublishers } from '../../../parts/Publisher.tsx';
import { ErrorNote } from '../../../parts/states.tsx';
import { UNITS } from '../../../reports/charts.ts';
import type { ExpectedView, PlanView } from '../../../reports/types.ts';
import { labelsOf, METRIC_WORDS, periodsWords, setWords } from '../../../reports/words.ts';
import { chargeText } from '../../ask/form/Summary.tsx';
import { ChargeBars } from '../ChargeBars.tsx';
import { sentence } from './problems.ts';
import type { PlannedReport } from './useReportPlan.ts';
import { useRun } from './useRun.ts';

export interface Planning {
  /** Undefined while there is nothing to plan. */
  definition: ReportDefinition | undefined;
  planned: PlannedReport;
  /** The reason that the report cannot run yet. Undefined if the report can run. */
  block: string | undefined;
}

export function PlanCard({ definition, planned, block }: Planning) {
  const { plan, problems = [], isCurrent } = planned;
  return (
    <div className="sticky stack">
      <section className="card" aria-labelledby="report-plan">
        <header>
          <h2 id="report-plan">The plan</h2>
          {definition && plan && (
            <p>
              {counted(plan.segments.length, 'segment')}, {dateRange(plan.interval.start, plan.interval.end)}.
              Nothing is sent yet.
            </p>
          )}
        </header>
        <div className="in-card stack">
          {definition === undefined && (
            <p className="soft">Pick publishers, and the plan and its cost show here.</p>
          )}
          {planned.error && definition && <ErrorNote error={planned.error} retry={planned.retry} />}
          <Problems problems={isCurrent ? problems : []} />
          {plan && definition && (
            <div className={isCurrent ? 'stack' : 'stack stale'}>
              <Measurements plan={plan} />
              <Charges plan={plan} />
              <Expected plan={plan} />
            </div>
          )}
          <Run definition={definition} block={block} />
        </div>
      </section>
    </div>
  );
}

function Problems({ problems }: { problems: readonly { field: string; description: string }[] }) {
  const nameOf = useNames();
  return problems.slice(0, 5).map(({ field, description }) => (
    <div key={`${field} ${description}`} className="note bad">
      <Icon name="x" />
      <div>
        {field && <code>{field}</code>} {inWords(sentence(description), nameOf)}
      </div>
    </div>
  ));
}

function Measurements({ plan: { measurements, figures, reused, advice } }: { plan: PlanView }) {
  const nameOf = useNames();
  const alone = measurements.direct ?? 0;
  const all = Object.values(measurements).reduce((sum, of) => sum + of, 0);
  return (
    <>
      <dl className="kv">
        <dt>Figures</dt>
        <dd>{count(figures)}</dd>
        <dt>Measurements</dt>
        <dd>
          {count(all)}
          {all > 0 && (
            <span className="muted">
              : {count(all - alone)} by duchies, {count(alone)} by publishers alone
            </span>
          )}
        </dd>
        {reused > 0 && (
          <>
            <dt>Reused</dt>
            <dd>{counted(reused, 'answer')} from before, at no cost</dd>
          </>
        )}
      </dl>
      {advice.map((text) => (
        <div key={text} className="note warn">
          <Icon name="warn" />
          <div>{inWords(text, nameOf)}</div>
        </div>
      ))}
    </>
  );
}

function Charges({ plan: { charges } }: { plan: PlanView }) {
  if (charges.every(({ share }) => share === 0)) {
    return <p className="sm soft">This charges nothing: every answer is already here.</p>;
  }
  return (
    <div className="stack tight">
      <h3>Charge to each day's budget</h3>
      <ChargeBars charges={charges} textOf={chargeText} />
      <p className="hint">
        Of a usual budget, on the busiest day. Publishers charge exactly this, and only once.
      </p>
    </div>
  );
}

/** The maximum number of rows in the chart. For the remaining rows, the page shows only their number. */
const DRAWN = 8;

function Expected({ plan }: { plan: PlanView }) {
  const publisher = usePublishers();
  const labels = labelsOf(plan.segments, publisher);
  const labelOf = ({ metric, of, groups }: ExpectedView) =>
    metric === 'reach' && !groups
      ? setWords(plan, labels, of)
      : `${METRIC_WORDS[metric]}${groups ? ' by group' : ''}`;
  const isPeople = ({ metric }: ExpectedView) => metric === 'reach' || metric === 'frequency';
  const rows = plan.expected.filter(isPeople).map((expected) => ({
    label: labelOf(expected),
    ...(expected.periods !== 'total' && { sub: periodsWords(expected.periods, expected.isCumulative) }),
    margin: expected.margin,
  }));
  const others = plan.expected.filter((expected) => !isPeople(expected));
  const missed = plan.expected.filter(({ misses }) => misses);
  return (
    <div className="stack tight">
      <h3>Expected error, 19 times of 20</h3>
      <Drawing tree={expectedChart('Expected error: people', PEOPLE, rows.slice(0, DRAWN)).drawing} />
      {others.map(({ metric, of, margin }) => (
        <p key={`${metric} ${of}`} className="sm soft">
          {METRIC_WORDS[metric]}:{' '}
          {margin === undefined ? 'answered already' : `± ${UNITS[metric].margin(margin)}`}
          {metric === 'watchDuration' && margin !== undefined && ' s'}
        </p>
      ))}
      {rows.length > DRAWN && <p className="hint">{counted(rows.length - DRAWN, 'more kind')} of figures.</p>}
      {missed.length > 0 && (
        <p className="sm warn">
          <Icon name="warn" /> {missed.map(labelOf).join(', ')}: wider than you want.
        </p>
      )}
    </div>
  );
}

function Run({ definition, block }: Omit<Planning, 'planned'>) {
  const { run, isSending, error } = useRun(definition);
  return (
    <div className="stack tight">
      <button
        type="button"
        className="btn main block"
        disabled={block !== undefined || isSending}
        aria-describedby="report-run-why"
        onClick={run}
      >
        {isSending ? 'Starting' : 'Run this report'}
      </button>
      <p className="hint" id="report-run-why" role="status">
        {block ?? 'You can close the page while it runs.'}
      </p>
      {error && <ErrorNote error={error} />}
    </div>
  );
}

export function blockOf({ isCurrent, error, plan }: PlannedReport): string | undefined {
  if (!isCurrent) return 'Being planned';
  if (error) return 'It could not be planned';
  return plan ? undefined : 'Fix what is marked above';
}
