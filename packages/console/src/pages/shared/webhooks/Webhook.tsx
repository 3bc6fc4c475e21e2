/** The page of one webhook: its state, its deliveries, and the possible actions. */
import type { WebhookDelivery, Webhook as WebhookType } from '@measurement-exchange/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { count, moment } from '../../../format.ts';
import { useResource } from '../../../live/useResource.ts';
import { ConfirmDialog } from '../../../parts/Dialog.tsx';
import { Icon } from '../../../parts/Icon.tsx';
import { PageHead } from '../../../parts/PageHead.tsx';
import { ErrorNote, Loaded } from '../../../parts/states.tsx';
import { useSession } from '../../../session/session.ts';
import { Deliveries } from './Deliveries.tsx';
import { ResendFrom } from './ResendFrom.tsx';
import { kindsText, WebhookChip } from './words.tsx';
import './webhooks.css';

const LISTED = 200;

export default function Webhook() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { principal } = useSession();
  const name = `${principal}/webhooks/${id}`;
  const [isDeleting, setDeleting] = useState(false);
  const webhook = useResource(
    'webhooks',
    [name],
    ({ client }, signal) => client.getWebhook({ name, signal }),
    { refetchInterval: 15_000, enabled: !isDeleting },
  );
  const deliveries = useResource(
    'webhooks',
    [name, 'deliveries'],
    ({ client }, signal) => client.listWebhookDeliveries({ parent: name, pageSize: LISTED, signal }).page(),
    { refetchInterval: 5_000, enabled: !isDeleting },
  );
  const listed = deliveries.data?.deliveries;
  return (
    <Loaded query={webhook}>
      {(data) => (
        <>
          <Head webhook={data} deliveries={listed} setDeleting={setDeleting} />
          {data.state === 'PAUSED' && <Paused webhook={data} />}
          {data.skippedTime && <Skipped time={data.skippedTime} />}
          <section className="card">
            <header>
              <h2>Deliveries</h2>
              <ResendFrom name={name} />
            </header>
            <Loaded query={deliveries}>
              {({ deliveries }) => <Deliveries webhook={name} deliveries={deliveries} />}
            </Loaded>
          </section>
        </>
      )}
    </Loaded>
  );
}

interface HeadProps {
  webhook: WebhookType;
  /** Undefined until the deliveries are read. */
  deliveries: WebhookDelivery[] | undefined;
  /** Pass true before deleting the webhook. The page then stops reading it, because reads would fail with NOT_FOUND. */
  setDeleting: (isDeleting: boolean) => void;
}

function Head(head: HeadProps) {
  const { webhook } = head;
  return (
    <PageHead
      above={{ to: '/webhooks', text: 'Webhooks' }}
      title={webhook.description || webhook.url}
      meta={[
        <WebhookChip key="state" state={webhook.state} />,
        <bdi key="url" className="mono">
          {webhook.url}
        </bdi>,
        kindsText(webhook),
        webhook.createTime && `added ${moment(webhook.createTime)}`,
      ]}
      actions={<Actions {...head} />}
    />
  );
}

function Actions(head: HeadProps) {
  const { webhook } = head;
  const { client, principal } = useSession();
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const [asks, setAsks] = useState(false);
  const name = webhook.name!;
  const isPaused = webhook.state === 'PAUSED';
  const act = async (work: () => Promise<unknown>) => {
    setBusy(true);
    setError(undefined);
    await work().catch(setError);
    // Read the webhook and the summary again, because the change feed does not report changes to webhooks. The summary
    // lists paused webhooks.
    void queries.invalidateQueries({ queryKey: [principal, 'summary'] });
    await queries.invalidateQueries({ queryKey: [principal, 'webhooks'] });
    setBusy(false);
  };
  const setState = (state: WebhookType['state']) => client.updateWebhook({ name, body: { state } });
  return (
    <>
      {error && <ErrorNote error={error} />}
      <button
        type="button"
        className="btn"
        disabled={busy}
        onClick={() => void act(() => client.testWebhook({ name }))}
      >
        Send a test
      </button>
      <button
        type="button"
        className={isPaused ? 'btn main' : 'btn'}
        disabled={busy}
        onClick={() => void act(() => setState(isPaused ? 'ACTIVE' : 'PAUSED'))}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </button>
      <button type="button" className="btn danger" disabled={busy} onClick={() => setAsks(true)}>
        Delete
      </button>
      {asks && <DeleteDialog {...head} onClose={() => setAsks(false)} />}
    </>
  );
}

function DeleteDialog({ webhook, deliveries, setDeleting, onClose }: HeadProps & { onClose: () => void }) {
  const { client, principal } = useSession();
  const queries = useQueryClient();
  const navigate = useNavigate();
  // The list may have only the newest deliveries, so its count is exact only if the list is short.
  const waiting = deliveries?.filter(({ state }) => state === 'PENDING').length ?? 0;
  const isKnown = deliveries !== undefined && deliveries.length < LISTED;
  const name = webhook.name!;
  const remove = async () => {
    setDeleting(true);
    await queries.cancelQueries({ queryKey: [principal, 'webhooks', name] });
    await client.deleteWebhook({ name }).catch((error) => {
      setDeleting(false);
      throw error;
    });
    void queries.invalidateQueries({ queryKey: [principal, 'summary'] });
    await queries.invalidateQueries({ queryKey: [principal, 'webhooks'], exact: true });
    await navigate({ to: '/webhooks' as '.' });
  };
  return (
    <ConfirmDialog title="Delete this webhook?" verb="Delete webhook" onConfirm={remove} onClose={onClose}>
      <p>
        Nothing is sent to <bdi className="mono">{webhook.url}</bdi> anymore.{' '}
        {!isKnown
          ? 'Deliveries that wait are dropped.'
          : waiting === 0
            ? 'No delivery is waiting.'
            : waiting === 1
              ? 'The delivery that waits is dropped.'
              : `${count(waiting)} deliveries that wait are dropped.`}
      </p>
      <p>Its secret and the list of its deliveries are lost. A new webhook gets another secret.</p>
    </ConfirmDialog>
  );
}

function Paused({ webhook: { pauseReason } }: { webhook: WebhookType }) {
  return (
    <div className="note warn" role="status">
      <Icon name="warn" />
      <div>
        <p>
          <b>It is paused.</b> {pauseReason && <bdi>{pauseReason}</bdi>}
        </p>
        <p>Changes stay in the log. Once you resume it, those that are still there are sent at once.</p>
      </div>
    </div>
  );
}

function Skipped({ time }: { time: string }) {
  return (
    <div className="note warn">
      <Icon name="warn" />
      <div>
        Changes that were not delivered yet were removed from the log on {moment(time)}. Your program should
        list your resources again to see their current state.
      </div>
    </div>
  );
}
