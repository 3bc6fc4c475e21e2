/** The dialog that defers a request until a chosen time, with a reason. The request stays open. */
import type { Requisition } from '@measurement-exchange/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { ConfirmDialog } from '../../parts/Dialog.tsx';
import { useSession } from '../../session/session.ts';

const DAY_MS = 86_400_000;
/** Formats a UTC time for an `<input type="datetime-local">`. The console shows all times in UTC. */
const inputTime = (ms: number) => new Date(ms).toISOString().slice(0, 16);

export function DeferDialog({ requisition, close }: { requisition: Requisition; close: () => void }) {
  const { client, principal } = useSession();
  const queries = useQueryClient();
  const [until, setUntil] = useState(() => inputTime(Date.now() + DAY_MS));
  const [reason, setReason] = useState('');
  const [untilId, reasonId] = [useId(), useId()];
  const defer = async () => {
    const body = { reason: reason.trim(), until: `${until}:00Z` };
    await client.deferRequisition({ name: requisition.name!, body });
    await queries.invalidateQueries({ queryKey: [principal, 'requisitions'] });
  };
  return (
    <ConfirmDialog
      title="Defer this request?"
      verb="Defer request"
      tone="main"
      disabled={until === '' || reason.trim() === ''}
      onConfirm={defer}
      onClose={close}
    >
      <p>
        It stays open, nothing is charged, and the advertiser reads your reason. An agent that runs answers as
        soon as it can, also before that time.
      </p>
      <div className="field">
        <label htmlFor={untilId}>Until (UTC)</label>
        <input
          id={untilId}
          className="in"
          type="datetime-local"
          value={until}
          min={inputTime(Date.now())}
          onChange={({ target }) => setUntil(target.value)}
        />
      </div>
      <div className="field">
        <label htmlFor={reasonId}>Reason</label>
        <input
          id={reasonId}
          className="in"
          value={reason}
          maxLength={1000}
          placeholder="The files of November 17 arrive tomorrow"
          onChange={({ target }) => setReason(target.value)}
        />
      </div>
    </ConfirmDialog>
  );
}
