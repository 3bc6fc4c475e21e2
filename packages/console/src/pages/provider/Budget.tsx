/** The privacy budget: limit, spent and remaining amounts, by day, advertiser and measurement. */
import { useSearch } from '@tanstack/react-router';
import type { BudgetView } from '../../companion/methods.ts';
import { day, percent } from '../../format.ts';
import { Icon } from '../../parts/Icon.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { Empty } from '../../parts/states.tsx';
import { BudgetCalendar } from './BudgetCalendar.tsx';
import { BudgetTable } from './BudgetTable.tsx';
import { amountWords, referencesOf } from './budgetDays.ts';
import { LedgerPart } from './LedgerPart.tsx';
import { useBudget } from './requests.ts';
import { Spenders } from './Spenders.tsx';

export default function Budget() {
  return (
    <>
      <PageHead
        title="Privacy budget"
        meta={['What all advertisers together may still learn about one day of one reference']}
      />
      <LedgerPart query={useBudget()}>{(view) => <Shown view={view} />}</LedgerPart>
    </>
  );
}

function Shown({ view }: { view: BudgetView }) {
  const { reference } = useSearch({ strict: false }) as { reference?: string };
  const references = referencesOf(view);
  const chosen = references.find((each) => each.reference === reference) ?? references[0];
  return (
    <>
      <Faults faults={view.faults} />
      <section className="card">
        <header>
          <h2>By reference</h2>
          <p>
            {view.limit
              ? `Limit for each reference and day: ${amountWords(view.limit)}. The figures are exact.`
              : 'The limit is unknown: no agent of this version has used the ledger yet.'}
            {references.length > 1 && ' Choose a reference to see its days.'}
          </p>
        </header>
        {chosen === undefined ? (
          <Empty title="Nothing is spent yet">
            <p>A request is charged when the agent answers it.</p>
          </Empty>
        ) : (
          <>
            <BudgetTable references={references} chosen={chosen.reference} more={view.moreLikeTheLast} />
            <div className="in-card stack">
              <BudgetCalendar budget={chosen} />
              <AlmostSpent budget={chosen} />
            </div>
          </>
        )}
      </section>
      <Spenders view={view} />
    </>
  );
}

/** The page warns if at least this share of a day's budget is spent. */
const LITTLE = 0.9;

function AlmostSpent({ budget }: { budget: ReturnType<typeof referencesOf>[number] }) {
  const { date, share } = budget.fullest;
  if (share < LITTLE) return null;
  return (
    <div className="note warn">
      <Icon name="warn" />
      <div>
        <b>
          {day(date)} has {percent(Math.max(0, 1 - share))} left.
        </b>{' '}
        The agent refuses requests that need more of this day.
      </div>
    </div>
  );
}

function Faults({ faults }: { faults: readonly string[] }) {
  if (faults.length === 0) return null;
  return (
    <div className="note bad" role="alert">
      <Icon name="x" />
      <div>
        <b>The ledger does not add up.</b> Stop the agent, and restore the ledger from a backup.
        {faults.map((fault) => (
          <p key={fault}>
            <bdi>{fault}</bdi>
          </p>
        ))}
      </div>
    </div>
  );
}
