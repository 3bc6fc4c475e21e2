/** The endpoints to which the exchange sends a party's changes. */
import type { Webhook } from '@measurement-exchange/contract';
import { useState } from 'react';
import { day } from '../../../format.ts';
import { useResource } from '../../../live/useResource.ts';
import { A } from '../../../parts/A.tsx';
import { Icon } from '../../../parts/Icon.tsx';
import { PageHead } from '../../../parts/PageHead.tsx';
import { Empty, Loaded } from '../../../parts/states.tsx';
import { idOf } from '../../../session/roles.ts';
import { AddWebhook } from './AddWebhook.tsx';
import { kindsText, WebhookChip } from './words.tsx';
import './webhooks.css';

export default function Webhooks() {
  const [isAdding, setAdding] = useState(false);
  const webhooks = useResource(
    'webhooks',
    [],
    ({ client, principal }) => Array.fromAsync(client.listWebhooks({ parent: principal })),
    { refetchInterval: 30_000 },
  );
  return (
    <>
      <PageHead
        title="Webhooks"
        meta={['The exchange sends your changes to these addresses, signed']}
        actions={
          <button type="button" className="btn main" onClick={() => setAdding(true)}>
            <Icon name="plus" /> Add webhook
          </button>
        }
      />
      {isAdding && <AddWebhook onClose={() => setAdding(false)} />}
      <Loaded query={webhooks}>
        {(list) => (list.length === 0 ? <NoWebhooks /> : <WebhookTable webhooks={list} />)}
      </Loaded>
    </>
  );
}

function NoWebhooks() {
  return (
    <section className="card">
      <Empty title="No webhook yet">
        <p>
          Your own program can learn of every change within a second, without asking again and again. Add the
          address that it listens at.
        </p>
      </Empty>
    </section>
  );
}

function WebhookTable({ webhooks }: { webhooks: Webhook[] }) {
  return (
    <section className="card">
      <table className="fold hooks">
        <thead>
          <tr>
            <th>Address</th>
            <th>State</th>
            <th>Changes</th>
            <th>Added</th>
          </tr>
        </thead>
        <tbody>
          {webhooks.map((webhook) => (
            <tr key={webhook.name}>
              <td>
                <A to={`/webhooks/${idOf(webhook.name!)}`}>
                  <bdi className="mono">{webhook.url}</bdi>
                </A>
                {webhook.description && (
                  <span className="sub">
                    <bdi>{webhook.description}</bdi>
                  </span>
                )}
              </td>
              <td data-l="State">
                <WebhookChip state={webhook.state} />
              </td>
              <td data-l="Changes">{kindsText(webhook)}</td>
              <td data-l="Added">{webhook.createTime && day(webhook.createTime)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
