/** The changes of the party, newest first, as they happen. */
import type { Change } from '@measurement-exchange/contract';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useQuestion } from '../../../companion/useOpened.ts';
import { useNow } from '../../../live/useNow.ts';
import { A } from '../../../parts/A.tsx';
import { Chip } from '../../../parts/Chip.tsx';
import { changeWords, KIND_WORDS } from '../../../parts/changeWords.ts';
import { ago, count, moment } from '../../../parts/format.ts';
import { pathOf } from '../../../parts/links.ts';
import { PageHead } from '../../../parts/PageHead.tsx';
import { Segment } from '../../../parts/Segment.tsx';
import { Empty, Loaded } from '../../../parts/states.tsx';
import { idOf } from '../../../session/roles.ts';
import { useSession } from '../../../session/session.ts';
import type { Feed } from './feed.ts';
import { useFeed } from './useFeed.ts';
import './changes.css';

const SHOWN_AT_ONCE = 100;

export default function Changes() {
  const feed = useFeed();
  return (
    <>
      <PageHead title="Changes" meta={['Everything that changed for you, newest first']} />
      <Loaded query={feed}>{(data) => <Log feed={data} />}</Loaded>
    </>
  );
}

function Log({ feed: { changes, isCut } }: { feed: Feed }) {
  const kind = useSearch({ strict: false, select: ({ kind }: { kind?: string }) => kind });
  const [shown, setShown] = useState(SHOWN_AT_ONCE);
  const chosen = kind ? changes.filter((change) => change.kind === kind) : changes;
  const kinds = [...new Set(changes.map((change) => change.kind))];
  return (
    <section className="card">
      {kinds.length > 1 && (
        <header>
          <Segment
            label="Kinds of changes"
            options={[
              { to: '/changes', text: 'All', current: !kind },
              ...kinds.map((each) => ({
                to: `/changes?kind=${each}`,
                text: KIND_WORDS[each] ?? each,
                current: kind === each,
              })),
            ]}
          />
        </header>
      )}
      {isCut && (
        <p className="in-card soft">The log is too long to list here. Changes since you opened this page:</p>
      )}
      {chosen.length === 0 ? (
        <Empty title="Nothing has changed yet">
          <p>As soon as something changes, it appears here.</p>
        </Empty>
      ) : (
        <ul className="att log">
          {chosen.slice(0, shown).map((change) => (
            <Row key={`${change.name} ${change.version}`} change={change} />
          ))}
        </ul>
      )}
      {chosen.length > shown && (
        <footer>
          <button type="button" className="btn sm" onClick={() => setShown(shown + SHOWN_AT_ONCE)}>
            Show older
          </button>
          <span>{count(chosen.length - shown)} more</span>
        </footer>
      )}
    </section>
  );
}

function Row({ change }: { change: Change }) {
  const now = useNow(10_000);
  const { what, happened, icon, tone } = changeWords(change);
  return (
    <li>
      <Subject change={change} what={what} />
      <Chip tone={tone} icon={icon}>
        {happened}
      </Chip>
      <time dateTime={change.time} title={moment(change.time)}>
        {ago(change.time, now)}
      </time>
    </li>
  );
}

/** The resource that changed. A consumer knows its measurements by their titles, and requests by their measurement. */
function Subject({ change: { name, kind }, what }: { change: Change; what: string }) {
  const { role } = useSession();
  const measurement = name.split('/').slice(0, 4).join('/');
  const isAsked = role === 'consumer' && name.split('/')[2] === 'measurements';
  const { data } = useQuestion(measurement, { enabled: isAsked });
  const title = isAsked ? data?.question?.title : undefined;
  const path = pathOf(name, role);
  const words = title ? <bdi>{title}</bdi> : <bdi className="mono">{idOf(name)}</bdi>;
  return (
    <div className="subject">
      {title ? kind === 'REQUISITION' && 'Request of ' : `${what} `}
      {path ? <A to={path}>{words}</A> : words}
    </div>
  );
}
