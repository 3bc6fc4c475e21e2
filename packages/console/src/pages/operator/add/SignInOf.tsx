import type { PartyFile } from '@measurement-exchange/sdk/onboarding';
import { useSession } from '../../../session/session.ts';
import { usePrincipals } from '../data.ts';

export interface SignInFields {
  issuer: string;
  subject: string;
  endpoint: string;
  trustRoot: boolean;
}

export function SignInOf({
  file,
  fields,
  onChange,
}: {
  file: PartyFile;
  fields: SignInFields;
  onChange: (fields: SignInFields) => void;
}) {
  const { data: principals = [] } = usePrincipals();
  const { servedBy } = useSession();
  const known = servedBy.issuers?.map(({ issuer }) => issuer) ?? [];
  const issuers = [...new Set([...principals.map(({ issuer }) => issuer), ...known])];
  const text = (field: 'issuer' | 'subject' | 'endpoint') => ({
    className: 'in mono',
    id: `add-${field}`,
    value: fields[field],
    autoComplete: 'off',
    spellCheck: false,
    onChange: (event: { target: { value: string } }) =>
      onChange({ ...fields, [field]: event.target.value.trim() }),
  });
  return (
    <>
      <div className="cols c2">
        <div className="field">
          <label htmlFor="add-issuer">Issuer of its tokens</label>
          <input {...text('issuer')} list="add-issuers" placeholder="https://id.example.com" />
          <datalist id="add-issuers">
            {issuers.map((issuer) => (
              <option key={issuer} value={issuer} />
            ))}
          </datalist>
          <span className="hint">The claim “iss”, to the letter</span>
        </div>
        <div className="field">
          <label htmlFor="add-subject">Subject of its tokens</label>
          <input {...text('subject')} />
          <span className="hint">The claim “sub”. It may speak for one party only</span>
        </div>
      </div>
      {file.name.startsWith('duchies/') && (
        <div className="field">
          <label htmlFor="add-endpoint">Address of the duchy</label>
          <input {...text('endpoint')} placeholder="https://duchy.example.com" />
          <span className="hint">Where publishers and other duchies reach it. It can be set later</span>
        </div>
      )}
      {file.rootPem !== undefined && (
        <label className="pick">
          <input
            type="checkbox"
            checked={fields.trustRoot}
            onChange={(event) => onChange({ ...fields, trustRoot: event.target.checked })}
          />
          <span>
            <b>Trust its root, for its own certificates only</b>
            <span className="sm soft">
              Later certificates of this root are then accepted without you. Certificates of others are
              checked as before.
            </span>
          </span>
        </label>
      )}
    </>
  );
}
