/**
 * The parties in the duchy's computations of the last week. The page reads only the 500 computations that changed last.
 * It warns about roots that are missing on this machine.
 */
import type { About } from '../../companion/methods.ts';
import { ago, count } from '../../format.ts';
import { useResource } from '../../live/useResource.ts';
import { Chip } from '../../parts/Chip.tsx';
import { CommandLine } from '../../parts/CommandLine.tsx';
import { partyName } from '../../parts/names.ts';
import { PageHead } from '../../parts/PageHead.tsx';
import { Empty, ErrorNote, Loaded, NeedsKey } from '../../parts/states.tsx';
import { ROLE_WORDS, roleOf } from '../../session/roles.ts';
import { useSession } from '../../session/session.ts';
import { type Peer, peersOf, rootOf } from './peers.ts';

const WEEK_MS = 7 * 86_400_000;
const READ = 500;

export default function Peers() {
  const { companion, principal } = useSession();
  const peers = useResource('peers', [], async ({ client }, signal) => {
    const { computations } = await client
      .listComputations({
        parent: principal,
        pageSize: READ,
        orderBy: 'updateTime desc',
        'filter.updatedAfter': new Date(Date.now() - WEEK_MS).toISOString(),
        signal,
      })
      .page();
    return peersOf(computations, principal);
  });
  const about = useResource('about', [], (_session, signal) => companion!.about({}, { signal }), {
    enabled: companion !== undefined,
  });
  return (
    <>
      <PageHead
        title="Peers and roots"
        meta={[`The parties of the last ${READ} computations within 7 days`]}
      />
      <section className="card">
        <header>
          <h2>Parties</h2>
          <p>A computation fails if you do not trust one of its parties. Get a root from the party itself.</p>
        </header>
        <Loaded query={peers}>
          {(found) =>
            found.length === 0 ? (
              <Empty title="No computation in the last 7 days" />
            ) : (
              <>
                <Table peers={found} about={about.data} />
                {about.error && <ErrorNote error={about.error} retry={() => void about.refetch()} />}
              </>
            )
          }
        </Loaded>
      </section>
      {companion === undefined && <NeedsKey what="Roots are kept on the machine of the duchy." />}
      <section className="card">
        <header>
          <h2>Do they answer?</h2>
          <p>
            Only the duchy itself can tell: its settings, database, token, certificate, roots and peers,
            checked where it runs.
          </p>
        </header>
        <div className="in-card">
          <CommandLine command="mex duchy check --config duchy.json" />
        </div>
      </section>
    </>
  );
}

function Table({ peers, about }: { peers: readonly Peer[]; about: About | undefined }) {
  return (
    <table className="fold dense">
      <thead>
        <tr>
          <th>Party</th>
          <th>Kind</th>
          <th className="num">Computations</th>
          <th className="num">Last</th>
          <th>Root</th>
        </tr>
      </thead>
      <tbody>
        {peers.map(({ party, computations, lastTime }) => (
          <tr key={party}>
            <td>
              <b>
                <bdi>{partyName(party)}</bdi>
              </b>
            </td>
            <td data-l="Kind">{ROLE_WORDS[roleOf(party)]}</td>
            <td className="num" data-l="Computations">
              {count(computations)}
            </td>
            <td className="num muted" data-l="Last">
              {ago(lastTime)}
            </td>
            <td data-l="Root">{about && <RootChip party={party} about={about} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function RootChip({ party, about }: { party: string; about: About }) {
  switch (rootOf(party, about)) {
    case 'own':
      return (
        <Chip tone="ok" icon="check">
          Here
        </Chip>
      );
    case 'shared':
      return (
        <Chip tone="ok" icon="check">
          Common root
        </Chip>
      );
    case 'missing':
      return (
        <Chip tone="bad" icon="warn">
          Missing
        </Chip>
      );
  }
}
