/** The dialog that creates a webhook, and then shows the webhook's secret once. */
import type { ChangeKind, Webhook } from '@measurement-exchange/contract';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { CommandLine } from '../../../parts/CommandLine.tsx';
import { KIND_WORDS } from '../../../parts/changeWords.ts';
import { ErrorNote } from '../../../parts/states.tsx';
import type { Role } from '../../../session/roles.ts';
import { useSession } from '../../../session/session.ts';

export function AddWebhook({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [created, setCreated] = useState<Webhook>();
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      {created ? (
        <div className="stack">
          <h2 id={id}>Keep its secret now</h2>
          <p className="soft">
            Your program verifies with it that a message comes from the exchange. It is shown only this once.
          </p>
          <CommandLine command={created.secret!} />
          <div className="acts">
            <button type="button" className="btn main" onClick={onClose}>
              I have it
            </button>
          </div>
        </div>
      ) : (
        <div className="stack">
          <h2 id={id}>Add webhook</h2>
          <WebhookForm onCreated={setCreated} onClose={onClose} />
        </div>
      )}
    </dialog>
  );
}

function WebhookForm({ onCreated, onClose }: { onCreated: (webhook: Webhook) => void; onClose: () => void }) {
  const { client, principal } = useSession();
  const queries = useQueryClient();
  const [url, setUrl] = useState('');
  const [description, setDescription] = useState('');
  const [kinds, setKinds] = useState<ChangeKind[]>([]);
  const [error, setError] = useState<Error>();
  const [busy, setBusy] = useState(false);
  const create = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const body = {
        url,
        ...(description && { description }),
        ...(kinds.length > 0 && { filter: { kinds } }),
      };
      onCreated(await client.createWebhook({ parent: principal, body }));
      await queries.invalidateQueries({ queryKey: [principal, 'webhooks'] });
    } catch (error) {
      setError(error as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="stack" onSubmit={(event) => void create(event)}>
      <label className="field">
        Address
        <input
          className="in mono"
          type="url"
          required
          maxLength={2000}
          placeholder="https://hooks.example.com/exchange"
          value={url}
          onChange={(event) => setUrl(event.target.value)}
        />
      </label>
      <label className="field">
        What it is for
        <input
          className="in"
          maxLength={1000}
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
      </label>
      <KindBoxes kinds={kinds} onKinds={setKinds} />
      {error && <ErrorNote error={error} />}
      <div className="acts">
        <button type="button" className="btn" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="btn main" disabled={busy}>
          Add webhook
        </button>
      </div>
    </form>
  );
}

const KINDS: Record<Role, ChangeKind[]> = {
  consumer: ['MEASUREMENT', 'REQUISITION', 'REPORT', 'EVENT_GROUP', 'CERTIFICATE', 'PARTY'],
  provider: ['REQUISITION', 'EVENT_GROUP', 'DESCRIPTOR', 'CERTIFICATE', 'PARTY'],
  duchy: ['COMPUTATION', 'CERTIFICATE', 'PARTY'],
  operator: [],
};

function KindBoxes({ kinds, onKinds }: { kinds: ChangeKind[]; onKinds: (kinds: ChangeKind[]) => void }) {
  const { role } = useSession();
  const toggle = (kind: ChangeKind) =>
    onKinds(kinds.includes(kind) ? kinds.filter((each) => each !== kind) : [...kinds, kind]);
  return (
    <fieldset className="field">
      <legend className="lab">Only these changes</legend>
      <span className="hint">None chosen: all changes are sent.</span>
      <div className="row">
        {KINDS[role].map((kind) => (
          <label key={kind} className="tag">
            <input type="checkbox" checked={kinds.includes(kind)} onChange={() => toggle(kind)} />
            {KIND_WORDS[kind]}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
