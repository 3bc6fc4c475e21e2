/** The page that registers a new party. It runs the same checks as `mex admin onboard`. */
import {
  isFingerprint,
  isSameFingerprint,
  type Onboarding,
  onboard,
} from '@measurement-exchange/sdk/onboarding';
import { type FormEvent, useState } from 'react';
import { CommandLine } from '../../../parts/CommandLine.tsx';
import { PageHead } from '../../../parts/PageHead.tsx';
import { ErrorNote } from '../../../parts/states.tsx';
import { useSession } from '../../../session/session.ts';
import { useRefresh } from '../data.ts';
import '../operator.css';
import { Added } from './Added.tsx';
import { type CheckedFile, checkPartyFile } from './checkFile.ts';
import { FileFacts } from './FileFacts.tsx';
import { FingerprintField } from './FingerprintField.tsx';
import { type SignInFields, SignInOf } from './SignInOf.tsx';
import { TextFileField } from './TextFileField.tsx';

export default function AddParty() {
  const [checked, setChecked] = useState<CheckedFile>();
  const [added, setAdded] = useState<{ checked: CheckedFile; result: Onboarding }>();
  const [error, setError] = useState<Error>();
  const read = async (text: string) => {
    setError(undefined);
    await checkPartyFile(text).then(setChecked, setError);
  };
  if (added) {
    return <Added {...added} again={() => [setAdded(undefined), setChecked(undefined)]} />;
  }
  return (
    <>
      <PageHead title="Add a party" above={{ to: '/parties', text: 'Parties' }} />
      <section className="card narrow">
        <div className="in-card stack">
          {checked ? (
            <FileFacts checked={checked} change={() => setChecked(undefined)} />
          ) : (
            <TextFileField
              label="Party file"
              placeholder={'{"name": "dataProviders/…'}
              accept=".json,application/json"
              hint="Paste or drop the party.json that mex identity made. It holds no secret."
              onText={(text) => void read(text)}
            />
          )}
          {!checked && (
            <div className="stack tight">
              <p className="sm soft">The party makes it with its keys, which stay there:</p>
              <CommandLine command="mex identity dataProviders/hillside --display-name 'Hillside TV' --out hillside" />
            </div>
          )}
          {error && <ErrorNote error={error} />}
          {checked && (
            <Rest
              key={checked.certificate.fingerprint}
              checked={checked}
              onAdded={(result) => setAdded({ checked, result })}
            />
          )}
        </div>
      </section>
    </>
  );
}

function Rest({ checked, onAdded }: { checked: CheckedFile; onAdded: (result: Onboarding) => void }) {
  const { client } = useSession();
  const refresh = useRefresh();
  const { file, certificate } = checked;
  const [fingerprint, setFingerprint] = useState('');
  const [fields, setFields] = useState<SignInFields>({
    issuer: '',
    subject: '',
    endpoint: '',
    trustRoot: true,
  });
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const isSame = isFingerprint(fingerprint) && isSameFingerprint(fingerprint, certificate.fingerprint);
  const waitsFor = !isSame
    ? 'Waits for the fingerprint'
    : fields.issuer === '' || fields.subject === ''
      ? 'Waits for the issuer and the subject'
      : undefined;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (waitsFor !== undefined) return;
    setBusy(true);
    setError(undefined);
    const { issuer, subject, endpoint, trustRoot } = fields;
    try {
      const result = await onboard(client, file, {
        issuer,
        subject,
        trustRoot: trustRoot && file.rootPem !== undefined,
        ...(endpoint !== '' && { endpoint }),
      });
      await refresh();
      onAdded(result);
    } catch (error) {
      setError(error as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <FingerprintField
        of="its certificate"
        computed={certificate.fingerprint}
        value={fingerprint}
        onChange={setFingerprint}
      />
      <SignInOf file={file} fields={fields} onChange={setFields} />
      {error && (
        <>
          <ErrorNote error={error} />
          <p className="hint">
            What was done stays. Once the cause is mended, press the button again: it continues.
          </p>
        </>
      )}
      <div className="row">
        <button className="btn main" type="submit" disabled={busy || waitsFor !== undefined}>
          Add party
        </button>
        <span className="hint" role="status">
          {waitsFor ?? (busy ? 'Adding' : 'Its tokens work as soon as it is added')}
        </span>
      </div>
    </form>
  );
}
