import type { AuditEntry } from '@measurement-exchange/contract';
import { useResource } from '../../../live/useResource.ts';
import { A } from '../../../parts/A.tsx';
import { Loaded } from '../../../parts/states.tsx';
import type { Session } from '../../../session/session.ts';
import { AuditTimeline } from '../audit/AuditTimeline.tsx';
import { EVERY, WHOLE_LIST } from '../data.ts';

const SHOWN = 8;

export function PartyAudit({ party }: { party: string }) {
  const query = useResource(
    'auditEntries',
    ['party', party],
    (session, signal) => entriesOf(session, party, signal),
    EVERY,
  );
  return (
    <section className="card">
      <header>
        <h2>Changes</h2>
        <p>Of the party, its certificates and its present sign-ins</p>
      </header>
      <Loaded query={query}>
        {(entries) => (
          <>
            <div className="in-card">
              <AuditTimeline entries={entries.slice(0, SHOWN)} />
            </div>
            <footer>
              <span>{entries.length > 0 && `${Math.min(SHOWN, entries.length)} of ${entries.length}`}</span>
              <A to={`/audit?name=${party}`}>Search the log</A>
            </footer>
          </>
        )}
      </Loaded>
    </section>
  );
}

async function entriesOf({ client }: Session, party: string, signal: AbortSignal): Promise<AuditEntry[]> {
  const [certificates, principals] = await Promise.all([
    Array.fromAsync(client.listCertificates({ parent: party, ...WHOLE_LIST, signal })),
    Array.fromAsync(client.listPrincipals({ 'filter.resource': party, ...WHOLE_LIST, signal })),
  ]);
  const names = [party, ...[...certificates, ...principals].map(({ name }) => name!)];
  const lists = names.map((name) =>
    client.listAuditEntries({ 'filter.name': name, orderBy: 'time desc', ...WHOLE_LIST, signal }).page(),
  );
  const entries = (await Promise.all(lists)).flatMap(({ auditEntries }) => auditEntries);
  return entries.sort((a, b) => b.time.localeCompare(a.time));
}
