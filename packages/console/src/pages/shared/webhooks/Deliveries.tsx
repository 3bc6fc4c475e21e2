/** Lists the deliveries of a webhook, latest first, including deliveries that are not sent yet. */
import type { WebhookDelivery } from '@measurement-exchange/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ago, duration, moment } from '../../../format.ts';
import { useNow } from '../../../live/useNow.ts';
import { A } from '../../../parts/A.tsx';
import { changeWords } from '../../../parts/changeWords.ts';
import { pathOf } from '../../../parts/links.ts';
import { Empty } from '../../../parts/states.tsx';
import { idOf } from '../../../session/roles.ts';
import { useSession } from '../../../session/session.ts';
import { attemptText, DeliveryChip } from './words.tsx';

export function Deliveries({ webhook, deliveries }: { webhook: string; deliveries: WebhookDelivery[] }) {
  if (deliveries.length === 0) {
    return (
      <Empty title="Nothing was sent yet">
        <p>The next change is sent within a second. A test shows at once whether your program answers.</p>
      </Empty>
    );
  }
  return (
    <table className="fold deliveries">
      <thead>
        <tr>
          <th>Change</th>
          <th>State</th>
          <th>Last attempt</th>
          <th>When</th>
          <th>
            <span className="sr">Action</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {deliveries.map((delivery) => (
          <Delivery key={delivery.webhookId} webhook={webhook} delivery={delivery} />
        ))}
      </tbody>
    </table>
  );
}

function Delivery({ webhook, delivery }: { webhook: string; delivery: WebhookDelivery }) {
  const now = useNow(5_000);
  const { createTime, lastAttemptTime, nextAttemptTime, state } = delivery;
  const waitMs = nextAttemptTime === undefined ? 0 : Date.parse(nextAttemptTime) - now;
  return (
    <tr>
      <td>
        <Subject delivery={delivery} />
        <Message delivery={delivery} />
      </td>
      <td data-l="State">
        <DeliveryChip state={state} />
      </td>
      <td data-l="Last attempt">
        <bdi>{attemptText(delivery)}</bdi>
        {state === 'PENDING' && waitMs > 0 && <span className="sub">Again in {duration(waitMs)}</span>}
      </td>
      <td data-l="When">
        <time dateTime={lastAttemptTime ?? createTime} title={moment(lastAttemptTime ?? createTime!)}>
          {ago(lastAttemptTime ?? createTime!, now)}
        </time>
      </td>
      <td className="num full">
        {delivery.kind !== 'TEST' && <Resend webhook={webhook} webhookId={delivery.webhookId} />}
      </td>
    </tr>
  );
}

function Subject({ delivery: { kind, resource, version, body } }: { delivery: WebhookDelivery }) {
  const { role } = useSession();
  if (kind === 'TEST') return <span className="ttl">Test</span>;
  const { what, happened } = changeWords({ kind, version, state: stateIn(body) });
  const path = pathOf(resource, role);
  const text = (
    <>
      {what} <bdi className="mono">{idOf(resource)}</bdi> {happened}
    </>
  );
  return path ? <A to={path}>{text}</A> : text;
}

function stateIn(body = '{}'): string {
  try {
    return String(JSON.parse(body).data?.state ?? '');
  } catch {
    return '';
  }
}

function Message({ delivery: { webhookId, body } }: { delivery: WebhookDelivery }) {
  if (body === undefined) return null;
  return (
    <details className="sub">
      <summary>Message</summary>
      <p>
        <code>webhook-id: {webhookId}</code>
      </p>
      <pre className="body">{body}</pre>
    </details>
  );
}

function Resend({ webhook, webhookId }: { webhook: string; webhookId: string }) {
  const { client, principal } = useSession();
  const queries = useQueryClient();
  const [outcome, setOutcome] = useState<'resent' | Error>();
  const resend = async () => {
    try {
      await client.redeliverWebhook({ name: webhook, body: { webhookId } });
      setOutcome('resent');
      await queries.invalidateQueries({ queryKey: [principal, 'webhooks', webhook] });
    } catch (error) {
      setOutcome(error as Error);
    }
  };
  return (
    <>
      <button type="button" className="btn sm" onClick={() => void resend()}>
        Resend
      </button>
      <span role="status" className="sub">
        {outcome instanceof Error ? outcome.message : outcome && 'Is sent again'}
      </span>
    </>
  );
}
