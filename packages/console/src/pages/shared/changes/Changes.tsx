/** The party's changes, newest first. The page updates as changes happen. */
import type { Change } from '@measurement-exchange/contract';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ago, count, moment } from '../../../format.ts';
import { useNow } from '../../../live/useNow.ts';
import { A } from '../../../parts/A.tsx';
import { Chip } from '../../../parts/Chip.tsx';
import { changeWords, KIND_WORDS } from '../../../parts/changeWords.ts';
import { pathOf } from '../../../parts/links.ts';
import { PageHead } from '../../../parts/PageHead.tsx';
import { Segment } from '../../../parts/Segment.tsx';
import { Empty, Loaded } from '../../../parts/states.tsx';
import { useSubject } from '../../../parts/useSubject.ts';
import { idOf, type Role } from '../../../session/roles.ts';
import { useSession } from '../../../session/session.ts';
import type { Feed } from './feed.ts';
import { grouped, ofSeveral } from './grouped.ts';
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
                text: each === 'PARTY' ? KIND_WORDS[each] : `${KIND_WORDS[each] ?? each}s`,
                current: kind === each,
              })),
            ]}
          />
        </header>
      )}
      {chosen.length === 0 ? (
        <Empty title="Nothing has changed yet">
          <p>As soon as something changes, it appears here.</p>
        </Empty>
      ) : (
        <ul className="att log">
          {grouped(chosen.slice(0, shown)).map((changes) => (
            <Row key={`${changes[0]!.name} ${changes[0]!.version}`} changes={changes} />
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
      {isCut && chosen.length <= shown && (
        <footer>
          <span>
            The exchange keeps older ones, too: <code>mex watch --oldest</code>
          </span>
        </footer>
      )}
    </section>
  );
}

function Row({ changes }: { changes: Change[] }) {
  const change = changes[0]!;
  const now = useNow(10_000);
  const { what, happened, icon, tone } = changeWords(change);
  const many = new Set(changes.map(({ name }) => name)).size;
  return (
    <li>
      <Subject change={change} what={what} many={many} />
      <Chip tone={tone} icon={icon}>
        {many > 1 ? ofSeveral(happened) : happened}
      </Chip>
      <time dateTime={change.time} title={moment(change.time)}>
        {ago(change.time, now)}
      </time>
    </li>
  );
}

/** Shows the changed resource. If a request changed, a consumer sees the request's measurement. */
function Subject({ change, what, many }: { change: Change; what: string; many: number }) {
  const { name, kind } = change;
  const { role } = useSession();
  const title = useSubject(change);
  const path = pathOf(name, role);
  const isOwn = kind === 'CERTIFICATE' || kind === 'PARTY';
  const shown = isOwn ? `Your ${what.toLowerCase()}` : title;
  const words = shown ? <bdi>{shown}</bdi> : <bdi className="mono">{idOf(name)}</bdi>;
  return (
    <div className="subject lines">
      {leadOf(change, { what, many, isNamed: shown !== undefined, role })}
      {path ? <A to={path}>{words}</A> : words}
    </div>
  );
}

/**
 * Returns the text to show before the title or ID of the changed resource, such as `Request of`. The text is empty for
 * most titles.
 */
function leadOf(
  { kind }: Change,
  { what, many, isNamed, role }: { what: string; many: number; isNamed: boolean; role: Role },
): string {
  if (!isNamed || kind === 'EVENT_GROUP') return `${what} `;
  if (role !== 'consumer' || kind !== 'REQUISITION') return '';
  return many > 1 ? `${many} requests of ` : 'Request of ';
}
