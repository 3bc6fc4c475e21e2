/** The health of the parties' webhooks. Only the owner of a webhook can see its address and deliveries. */
import type { PartyHealth } from '@measurement-exchange/contract';
import { count } from '../../format.ts';
import { Chip } from '../../parts/Chip.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { useHealth } from './data.ts';
import { hasWebhookTrouble } from './health.ts';
import './operator.css';
import { PartyLink } from './PartyLink.tsx';

export default function WebhookHealth() {
  const query = useHealth();
  return (
    <>
      <PageHead
        title="Webhook health"
        meta={['Counts only: addresses and deliveries are seen by their owners']}
      />
      <section className="card">
        <Loaded query={query}>
          {(health) => {
            const withWebhooks = health.filter(({ webhooks: { active, paused } }) => active + paused > 0);
            if (withWebhooks.length === 0) {
              return (
                <Empty title="No party has a webhook">
                  <p>Parties that have none follow their changes by polling, or by a stream.</p>
                </Empty>
              );
            }
            const failingFirst = withWebhooks.toSorted(
              (a, b) => Number(hasWebhookTrouble(b)) - Number(hasWebhookTrouble(a)),
            );
            return <WebhookTable health={failingFirst} />;
          }}
        </Loaded>
      </section>
    </>
  );
}

function WebhookTable({ health }: { health: readonly PartyHealth[] }) {
  return (
    <>
      <table className="fold">
        <thead>
          <tr>
            <th>Party</th>
            <th>State</th>
            <th className="num">Delivering</th>
            <th className="num">Failing</th>
            <th className="num">Paused</th>
          </tr>
        </thead>
        <tbody>
          {health.map(({ name, displayName, webhooks: { active, paused, failing } }) => (
            <tr key={name}>
              <td>
                <PartyLink name={name} displayName={displayName} />
                <span className="sub mono">{name}</span>
              </td>
              <td data-l="State">
                {paused + failing > 0 ? (
                  <Chip tone="warn" icon="warn">
                    {failing > 0 ? 'Failing' : 'Paused'}
                  </Chip>
                ) : (
                  <Chip tone="ok" icon="check">
                    Delivering
                  </Chip>
                )}
              </td>
              <td data-l="Delivering" className="num">
                {count(active - failing)}
              </td>
              <td data-l="Failing" className="num">
                {count(failing)}
              </td>
              <td data-l="Paused" className="num">
                {count(paused)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <footer>
        <span>A webhook that fails for 3 days is paused. Its owner sees why, and resumes it.</span>
      </footer>
    </>
  );
}
