/** The list of problems that need the party's attention, for its home page. */
import type { Attention, PartySummary } from '@measurement-exchange/contract';
import { type ComponentType, useState } from 'react';
import { moment } from '../format.ts';
import { useNow } from '../live/useNow.ts';
import { useQuestion } from '../live/useOpened.ts';
import { useSummary } from '../live/useSummary.ts';
import { useSession } from '../session/session.ts';
import { A } from './A.tsx';
import { attentionWords, withoutCommands } from './attentionWords.ts';
import { Icon } from './Icon.tsx';
import { pathOf } from './links.ts';
import { inWords, isolated, useNames } from './names.ts';
import { Loaded, Skeleton } from './states.tsx';

const FIRST = 5;

/**
 * `Work` renders a row about a measurement, request or computation. A page can pass a component that shows more
 * details.
 */
export function AttentionCard({
  Work = AttentionRow,
  isShown = () => true,
  nothing = 'Nothing. Everything takes its usual course.',
}: {
  Work?: ComponentType<{ one: Attention }>;
  /** Returns false for items that the page shows elsewhere. */
  isShown?: (one: Attention) => boolean;
  nothing?: string;
}) {
  const summary = useSummary();
  return (
    <section className="card attention" aria-labelledby="attention">
      <header>
        <h2 id="attention">Needs your attention</h2>
      </header>
      <Loaded query={summary} skeleton={<SkeletonRows />}>
        {({ attention, ...rest }) => (
          <Rows summary={{ ...rest, attention: attention.filter(isShown) }} {...{ Work, nothing }} />
        )}
      </Loaded>
    </section>
  );
}

function SkeletonRows() {
  return (
    <div className="in-card">
      <Skeleton rows={2} />
    </div>
  );
}

function Rows({
  summary: { attention, moreAttention },
  Work,
  nothing,
}: {
  summary: PartySummary;
  Work: ComponentType<{ one: Attention }>;
  nothing: string;
}) {
  const [isWhole, setWhole] = useState(false);
  if (attention.length === 0) return <p className="in-card soft">{nothing}</p>;
  const hidden = isWhole ? 0 : Math.max(0, attention.length - FIRST);
  return (
    <>
      <ul className="att">
        {attention.slice(0, attention.length - hidden).map((one) => {
          const Row = /\/(?:measurements|requisitions|computations)\//.test(one.name) ? Work : AttentionRow;
          return <Row key={`${one.code} ${one.name}`} one={one} />;
        })}
      </ul>
      {(hidden > 0 || moreAttention) && (
        <footer>
          {hidden > 0 && (
            <button type="button" className="btn sm" onClick={() => setWhole(true)}>
              Show {hidden} more
            </button>
          )}
          {moreAttention && <span>There may be more than these.</span>}
        </footer>
      )}
    </>
  );
}

export function AttentionRow({ one }: { one: Attention }) {
  const { principal, role } = useSession();
  const now = useNow(60_000);
  const nameOf = useNames();
  const isMeasurement = role === 'consumer' && one.name.includes('/measurements/');
  const { data } = useQuestion(one.name, { enabled: isMeasurement });
  const { title } = data?.question ?? {};
  const { heading, icon, tone, action } = attentionWords(one, {
    party: (name) => (name === principal ? 'you' : nameOf(name)),
    title: title && isolated(title),
    now,
  });
  const path = pathOf(one.name, role);
  return (
    <li>
      <Icon name={icon} tone={tone} />
      <div>
        <b>{heading}</b>
        <p className="sm soft" dir="auto">
          {inWords(one.detail, nameOf)} {inWords(withoutCommands(one.remedy), nameOf)}
          {one.deadline && ` It would end on ${moment(one.deadline)}.`}
        </p>
      </div>
      <div className="acts">
        {path && (
          <A className="btn sm" to={path}>
            {action}
          </A>
        )}
      </div>
    </li>
  );
}
