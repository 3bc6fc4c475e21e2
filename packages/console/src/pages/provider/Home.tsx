/**
 * The publisher's home page: problems that need attention, open requests, the remaining budget, and the agent's state.
 */
import type { PartySummary } from '@measurement-exchange/contract';
import { ago, count as format } from '../../format.ts';
import { usePages } from '../../live/usePages.ts';
import { useSummary } from '../../live/useSummary.ts';
import { A } from '../../parts/A.tsx';
import { AttentionCard } from '../../parts/Attention.tsx';
import { Icon } from '../../parts/Icon.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { RowList } from '../../parts/RowList.tsx';
import { Empty } from '../../parts/states.tsx';
import { useOwnName } from '../../parts/useOwnName.ts';
import { useSession } from '../../session/session.ts';
import { AgentState } from './AgentState.tsx';
import { BudgetTable } from './BudgetTable.tsx';
import { referencesOf } from './budgetDays.ts';
import { HeldLink } from './HeldCard.tsx';
import { LedgerPart } from './LedgerPart.tsx';
import { RequestTable } from './RequestTable.tsx';
import { rowOf, useAgent, useBudget, useHeld } from './requests.ts';

export default function Home() {
  const summary = useSummary();
  const held = useHeld();
  return (
    <>
      <PageHead
        title={useOwnName()}
        meta={[...factsOf(summary.data), <Seen key="seen" />]}
        actions={
          <A className="btn main" to="/event-groups/new">
            <Icon name="plus" /> Describe an event group
          </A>
        }
      />
      {[...held.values()].slice(0, 3).map((each) => (
        <HeldLink key={each.requisition} held={each} />
      ))}
      <AttentionCard
        isShown={({ name }) => !held.has(name)}
        {...(held.size > 0 && { nothing: 'Nothing else.' })}
      />
      <Open />
      <div className="cols c57">
        <LedgerPart query={useAgent()}>{(view) => <AgentState view={view} />}</LedgerPart>
        <Glance />
      </div>
    </>
  );
}

function factsOf(summary: PartySummary | undefined): string[] {
  if (summary?.requisitions === undefined) return [];
  const { states, recentlyEnded } = summary.requisitions;
  const find = (counts: typeof states, state: string) => {
    const { count = 0, more = false } = counts.find((each) => each.state === state) ?? {};
    return `${format(count)}${more ? '+' : ''}`;
  };
  return [
    `${find(states, 'UNFULFILLED')} open`,
    `${find(recentlyEnded, 'FULFILLED')} answered in the last 7 days`,
  ];
}

function Seen() {
  const { data } = useAgent();
  if (data === undefined || 'missing' in data || data.view.agent?.pollTime === undefined) return null;
  return <span className="muted">Agent seen {ago(data.view.agent.pollTime)}</span>;
}

const SHOWN = 8;

function Open() {
  const pages = usePages('requisitions', ['home'], async ({ client, principal }, page) => {
    const listing = client.listRequisitions({
      parent: principal,
      pageSize: SHOWN,
      orderBy: 'createTime desc',
      ...page,
    });
    return { rows: (await listing.page()).requisitions.map(rowOf) };
  });
  const { companion } = useSession();
  return (
    <section className="card">
      <header>
        <h2>Requests to you</h2>
        <A to="/requests">All requests</A>
        <p>
          {companion
            ? 'Decoded with your key on this computer. The exchange cannot read them.'
            : 'Sealed: only your key opens them, in mex console.'}
        </p>
      </header>
      <RowList
        pages={pages}
        isGlance
        empty={
          <Empty title="No request yet">
            <p>A request appears here as soon as an advertiser asks about one of your event groups.</p>
          </Empty>
        }
      >
        {(rows) => <RequestTable rows={rows} />}
      </RowList>
    </section>
  );
}

function Glance() {
  return (
    <section className="card">
      <header>
        <h2>Privacy budget</h2>
        <A to="/budget">Day by day</A>
      </header>
      <LedgerPart query={useBudget()}>
        {(view) => {
          const references = referencesOf(view).slice(0, 5);
          if (references.length === 0) {
            return (
              <Empty title="Nothing is spent yet">
                <p>A request is charged when the agent answers it.</p>
              </Empty>
            );
          }
          return <BudgetTable references={references} more={view.moreLikeTheLast} />;
        }}
      </LedgerPart>
    </section>
  );
}
