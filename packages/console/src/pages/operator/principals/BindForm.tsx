import { type FormEvent, useState } from 'react';
import { Icon } from '../../../parts/Icon.tsx';
import { ErrorNote } from '../../../parts/states.tsx';
import { useSession } from '../../../session/session.ts';
import { useParties, usePrincipals, useRefresh } from '../data.ts';

export function BindForm({ party }: { party: string }) {
  const { client } = useSession();
  const refresh = useRefresh();
  const { data: parties = [] } = useParties();
  const { data: principals = [] } = usePrincipals();
  const [fields, setFields] = useState({ resource: party, issuer: '', subject: '' });
  const [error, setError] = useState<Error>();
  const [bound, setBound] = useState<string>();
  const [busy, setBusy] = useState(false);
  const isComplete = Object.values(fields).every((value) => value !== '');
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setError(undefined);
    setBound(undefined);
    try {
      await client.createPrincipal({ body: fields });
      setBound(`${fields.subject} speaks for ${fields.resource}.`);
      setFields({ ...fields, subject: '' });
      await refresh();
    } catch (error) {
      setError(error as Error);
    } finally {
      setBusy(false);
    }
  };
  const set = (field: keyof typeof fields) => (event: { target: { value: string } }) =>
    setFields({ ...fields, [field]: event.target.value.trim() });
  const issuers = [...new Set(principals.map(({ issuer }) => issuer))];
  return (
    <section className="card">
      <header>
        <h2>Bind a sign-in</h2>
      </header>
      <form className="in-card stack" onSubmit={(event) => void submit(event)}>
        <div className="field">
          <label htmlFor="bind-resource">Speaks for</label>
          <select className="in" id="bind-resource" value={fields.resource} onChange={set('resource')}>
            <option value="">Choose a party</option>
            {parties.map(({ name, displayName }) => (
              <option key={name} value={name}>
                {displayName ? `${displayName} (${name})` : name}
              </option>
            ))}
            <option value="operator">Operator of the exchange</option>
          </select>
        </div>
        <div className="field">
          <label htmlFor="bind-issuer">Issuer</label>
          <input
            className="in mono"
            id="bind-issuer"
            list="bind-issuers"
            value={fields.issuer}
            onChange={set('issuer')}
            autoComplete="off"
            spellCheck={false}
          />
          <datalist id="bind-issuers">
            {issuers.map((issuer) => (
              <option key={issuer} value={issuer} />
            ))}
          </datalist>
          <span className="hint">The claim “iss” of its tokens, to the letter</span>
        </div>
        <div className="field">
          <label htmlFor="bind-subject">Subject</label>
          <input
            className="in mono"
            id="bind-subject"
            value={fields.subject}
            onChange={set('subject')}
            autoComplete="off"
            spellCheck={false}
          />
          <span className="hint">The claim “sub” of its tokens</span>
        </div>
        {fields.resource === 'operator' && (
          <div className="note warn">
            <Icon name="warn" />
            <div>An operator can add and suspend parties, and bind further operators.</div>
          </div>
        )}
        {error && <ErrorNote error={error} />}
        <div className="row">
          <button className="btn main" type="submit" disabled={busy || !isComplete}>
            Bind sign-in
          </button>
          <span className="hint" role="status">
            {bound ?? (isComplete ? '' : 'Waits for all three fields')}
          </span>
        </div>
      </form>
    </section>
  );
}
