/** All parties of the exchange, with their health. */
import type { PartyHealth } from '@measurement-exchange/contract';
import { count } from '../../../format.ts';
import { A } from '../../../parts/A.tsx';
import { Icon } from '../../../parts/Icon.tsx';
import { PageHead } from '../../../parts/PageHead.tsx';
import { Segment } from '../../../parts/Segment.tsx';
import { Empty, Loaded } from '../../../parts/states.tsx';
import { useFilters } from '../../../parts/useFilters.ts';
import { useHealth } from '../data.ts';
import { hasCertificateTrouble, hasWebhookTrouble, statusOf } from '../health.ts';
import '../operator.css';
import { PartyTable } from './PartyTable.tsx';

const VIEWS: Record<string, { text: string; includes: (health: PartyHealth) => boolean }> = {
  '': { text: 'All', includes: () => true },
  consumers: { text: 'Advertisers', includes: ({ name }) => name.startsWith('measurementConsumers/') },
  providers: { text: 'Publishers', includes: ({ name }) => name.startsWith('dataProviders/') },
  duchies: { text: 'Duchies', includes: ({ name }) => name.startsWith('duchies/') },
  silent: { text: 'Silent', includes: (health) => statusOf(health) === 'silent' },
  certificates: { text: 'Certificate soon', includes: hasCertificateTrouble },
  suspended: { text: 'Suspended', includes: ({ state }) => state === 'SUSPENDED' },
  webhooks: { text: 'Webhooks failing', includes: hasWebhookTrouble },
};

export default function Parties() {
  const query = useHealth();
  const filters = useFilters();
  const view = filters.get('view');
  const text = filters.get('find').toLowerCase();
  const { includes } = VIEWS[view] ?? VIEWS['']!;
  const isFound = ({ name, displayName }: PartyHealth) =>
    name.toLowerCase().includes(text) || displayName.toLowerCase().includes(text);
  return (
    <>
      <PageHead
        title="Parties"
        meta={['You see who is there and how much waits, but no requests, results or event groups']}
        actions={
          <A className="btn main" to="/parties/add">
            <Icon name="plus" /> Add a party
          </A>
        }
      />
      <section className="card">
        <Loaded query={query}>
          {(health) => {
            const found = health.filter((party) => includes(party) && isFound(party));
            return (
              <>
                <header>
                  <Views health={health} current={view} />
                  <input
                    className="in find-in"
                    aria-label="Find a party"
                    placeholder="Find a party"
                    value={filters.get('find')}
                    onChange={(event) => filters.set({ find: event.target.value })}
                  />
                </header>
                {found.length === 0 ? <None all={health.length} /> : <PartyTable health={found} />}
                <footer>
                  <span>
                    {count(found.length)} of {count(health.length)} parties
                  </span>
                  <span>Last seen is exact to half a minute</span>
                </footer>
              </>
            );
          }}
        </Loaded>
      </section>
    </>
  );
}

function Views({ health, current }: { health: readonly PartyHealth[]; current: string }) {
  const options = Object.entries(VIEWS).flatMap(([key, { text, includes }]) => {
    const found = health.filter(includes).length;
    if (found === 0 && key !== '' && key !== current) return [];
    return [
      {
        to: key === '' ? '/parties' : `/parties?view=${key}`,
        text: `${text} ${count(found)}`,
        current: key === current,
      },
    ];
  });
  return <Segment label="Parties to show" options={options} />;
}

function None({ all }: { all: number }) {
  if (all > 0) return <Empty title="No party matches" />;
  return (
    <Empty title="No party yet">
      <p>A party makes its keys with mex identity and gives you the file party.json. You add it here.</p>
      <A className="btn main" to="/parties/add">
        Add a party
      </A>
    </Empty>
  );
}
