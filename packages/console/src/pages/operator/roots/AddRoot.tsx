import {
  type CertificateFacts,
  describeCertificate,
  isFingerprint,
  isSameFingerprint,
} from '@measurement-exchange/sdk/onboarding';
import { type FormEvent, useState } from 'react';
import { day } from '../../../format.ts';
import { ErrorNote } from '../../../parts/states.tsx';
import { useSession } from '../../../session/session.ts';
import { FingerprintField } from '../add/FingerprintField.tsx';
import { TextFileField } from '../add/TextFileField.tsx';
import { useParties, useRefresh } from '../data.ts';

interface Read {
  pem: string;
  facts: CertificateFacts;
}

/**
 * The form that adds a trusted root. The operator must type the fingerprint that the root's owner sent over another
 * channel.
 */
export function AddRoot() {
  const [read, setRead] = useState<Read>();
  const [error, setError] = useState<Error>();
  const [added, setAdded] = useState(false);
  const open = (pem: string) => {
    setError(undefined);
    setAdded(false);
    void describeCertificate(pem).then((facts) => setRead({ pem, facts }), setError);
  };
  return (
    <section className="card">
      <header>
        <h2>Add a root</h2>
      </header>
      <div className="in-card stack">
        {read ? (
          <RootForm
            read={read}
            close={(done) => {
              setRead(undefined);
              setAdded(done);
            }}
          />
        ) : (
          <TextFileField
            label="Root certificate"
            placeholder="-----BEGIN CERTIFICATE-----"
            accept=".pem,.crt,.cer"
            hint="Paste or drop the root's certificate in PEM."
            onText={open}
          />
        )}
        {added && (
          <p className="ok sm" role="status">
            The root is trusted.
          </p>
        )}
        {error && <ErrorNote error={error} />}
      </div>
    </section>
  );
}

function RootForm({ read: { pem, facts }, close }: { read: Read; close: (added: boolean) => void }) {
  const { client } = useSession();
  const refresh = useRefresh();
  const { data: parties = [] } = useParties();
  const [party, setParty] = useState('');
  const [fingerprint, setFingerprint] = useState('');
  const [error, setError] = useState<Error>();
  const [busy, setBusy] = useState(false);
  const isSame = isFingerprint(fingerprint) && isSameFingerprint(fingerprint, facts.fingerprint);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!isSame || busy) return;
    setBusy(true);
    setError(undefined);
    try {
      await client.createTrustedRoot({ body: { x509Pem: pem, ...(party !== '' && { party }) } });
      await refresh();
      close(true);
    } catch (error) {
      setError(error as Error);
      setBusy(false);
    }
  };
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <dl className="kv">
        <dt>Root</dt>
        <dd>
          <bdi>{facts.subject}</bdi>
        </dd>
        <dt>Ends</dt>
        <dd>{day(facts.notAfter)}</dd>
      </dl>
      <div className="field">
        <label htmlFor="root-party">Trusted for</label>
        <select
          className="in"
          id="root-party"
          value={party}
          onChange={(event) => setParty(event.target.value)}
        >
          <option value="">Every party without a root of its own</option>
          {parties.map(({ name, displayName }) => (
            <option key={name} value={name}>
              {displayName ? `${displayName} (${name})` : name}
            </option>
          ))}
        </select>
      </div>
      <FingerprintField
        of="the root"
        computed={facts.fingerprint}
        value={fingerprint}
        onChange={setFingerprint}
      />
      {error && <ErrorNote error={error} />}
      <div className="row">
        <button className="btn main" type="submit" disabled={!isSame}>
          Trust root
        </button>
        <button className="btn" type="button" onClick={() => close(false)}>
          Another file
        </button>
        <span className="hint">{isSame ? '' : 'Waits for the fingerprint'}</span>
      </div>
    </form>
  );
}
