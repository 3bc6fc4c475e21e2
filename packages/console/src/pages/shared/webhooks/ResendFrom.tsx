import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { moment } from '../../../format.ts';
import { ErrorNote } from '../../../parts/states.tsx';
import { useSession } from '../../../session/session.ts';

export function ResendFrom({ name }: { name: string }) {
  const { client, principal } = useSession();
  const queries = useQueryClient();
  const [time, setTime] = useState('');
  const [outcome, setOutcome] = useState<string>();
  const [error, setError] = useState<Error>();
  const id = useId();
  const resend = async (event: FormEvent) => {
    event.preventDefault();
    setOutcome(undefined);
    setError(undefined);
    try {
      const from = new Date(`${time}Z`).toISOString();
      await client.redeliverWebhook({ name, body: { from } });
      setOutcome(`Everything since ${moment(from)} is sent again, as far as the log is kept.`);
      await queries.invalidateQueries({ queryKey: [principal, 'webhooks', name] });
    } catch (error) {
      setError(error as Error);
    }
  };
  return (
    <form className="row" onSubmit={(event) => void resend(event)}>
      <label htmlFor={id} className="soft">
        All since (UTC)
      </label>
      <input
        id={id}
        className="in since"
        type="datetime-local"
        required
        value={time}
        onChange={(event) => setTime(event.target.value)}
      />
      <button type="submit" className="btn sm">
        Resend
      </button>
      <span role="status" className="sm soft">
        {outcome}
      </span>
      {error && <ErrorNote error={error} />}
    </form>
  );
}
