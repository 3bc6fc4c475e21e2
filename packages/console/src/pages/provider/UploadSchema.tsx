/**
 * Uploads a schema. First asks the exchange to check the schema, and shows the schema's changes and the problems that
 * the changes cause. The exchange stores the schema only after the user agrees.
 */
import type { EventGroupMetadataDescriptor, Finding, SchemaChange } from '@measurement-exchange/contract';
import type { ExchangeClient } from '@measurement-exchange/sdk/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { counted } from '../../format.ts';
import { Icon } from '../../parts/Icon.tsx';
import { ErrorNote } from '../../parts/states.tsx';
import { idOf } from '../../session/roles.ts';
import { useSession } from '../../session/session.ts';
import { FindingList } from './FindingList.tsx';
import { messagesOf, readDescriptorSet } from './schemaTree.ts';

type DescriptorSet = EventGroupMetadataDescriptor['descriptorSet'];

interface Checked {
  descriptorSet: DescriptorSet;
  compatible: boolean;
  changes: SchemaChange[];
  omitted: number;
  findings: Finding[];
  messages: string[];
}

/** `replaced` is the name of the schema to replace. If it is undefined, the upload registers a new schema. */
export function UploadSchema({ replaced }: { replaced?: string }) {
  const { client, principal } = useSession();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [checked, setChecked] = useState<Checked>();
  const [error, setError] = useState<Error>();
  const [busy, setBusy] = useState(false);
  const attempt = async (action: () => Promise<void>) => {
    setBusy(true);
    setError(undefined);
    try {
      await action();
    } catch (error) {
      setError(error as Error);
    } finally {
      setBusy(false);
    }
  };
  const choose = (file: File) =>
    attempt(async () => {
      setChecked(undefined);
      const descriptorSet = (await readDescriptorSet(file)) as DescriptorSet;
      setChecked(await check(client, principal, descriptorSet, replaced));
    });
  const send = ({ descriptorSet }: Checked) =>
    attempt(async () => {
      const body = { descriptorSet };
      const { name } = await (replaced === undefined
        ? client.createEventGroupMetadataDescriptor({ parent: principal, body })
        : client.updateEventGroupMetadataDescriptor({ name: replaced, body }));
      setChecked(undefined);
      await queries.invalidateQueries({ queryKey: [principal, 'eventGroupMetadataDescriptors'] });
      await navigate({ to: `/schemas/${idOf(name!)}` as '.' });
    });
  return (
    <div className="stack">
      <FileField choose={(file) => void choose(file)} disabled={busy} />
      {error && <ErrorNote error={error} />}
      {checked && <Preview checked={checked} isNew={replaced === undefined} />}
      {checked && (
        <div className="row">
          <button
            type="button"
            className="btn main"
            disabled={busy || !checked.compatible}
            onClick={() => void send(checked)}
          >
            {replaced === undefined ? 'Register schema' : 'Replace schema'}
          </button>
          {!checked.compatible && (
            <span className="sm bad">
              It breaks readers: register it beside the old one, and move the event groups.
            </span>
          )}
        </div>
      )}
    </div>
  );
}

async function check(
  client: ExchangeClient,
  parent: string,
  descriptorSet: DescriptorSet,
  replaced: string | undefined,
): Promise<Checked> {
  const body = { descriptorSet };
  if (replaced === undefined) {
    const created = await client.createEventGroupMetadataDescriptor({ parent, body, validateOnly: true });
    const { findings = [] } = created;
    const messages = messagesOf(created).map(({ name }) => name);
    return { descriptorSet, compatible: true, changes: [], omitted: 0, findings, messages };
  }
  const diff = await client.diffEventGroupMetadataDescriptor({ name: replaced, body });
  const { compatible, changes, omittedChanges: omitted = 0 } = diff;
  const found = { descriptorSet, compatible, changes, omitted };
  if (!compatible) return { ...found, findings: [], messages: [] };
  const updated = await client.updateEventGroupMetadataDescriptor({
    name: replaced,
    body,
    validateOnly: true,
  });
  return {
    ...found,
    findings: updated.findings ?? [],
    messages: messagesOf(updated).map(({ name }) => name),
  };
}

function FileField({ choose, disabled }: { choose: (file: File) => void; disabled: boolean }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>A FileDescriptorSet, binary or JSON</label>
      <input
        id={id}
        className="in"
        type="file"
        disabled={disabled}
        onChange={({ target }) => {
          const file = target.files?.[0];
          // Without a value, choosing the same file again is a change, too.
          target.value = '';
          if (file) choose(file);
        }}
      />
      <span className="hint">
        Made by <code className="nowrap">buf build -o schema.binpb</code> or{' '}
        <code className="nowrap">protoc --include_imports -o schema.binpb</code>
      </span>
    </div>
  );
}

function Preview({ checked, isNew }: { checked: Checked; isNew: boolean }) {
  const { changes, omitted, findings, messages, compatible } = checked;
  const breaking = changes.filter((change) => change.breaking).length;
  return (
    <div className="stack">
      <div className={compatible ? 'note ok' : 'note bad'} role="status">
        <Icon name={compatible ? 'check' : 'x'} />
        <div>
          {isNew
            ? `It has ${counted(messages.length, 'message')}. Nothing was sent yet.`
            : changes.length === 0
              ? 'Nothing changes.'
              : `${counted(changes.length + omitted, 'change')}, ${breaking} of them break readers. Nothing was sent yet.`}
        </div>
      </div>
      {changes.length > 0 && (
        <ul className="checks">
          {changes.map(({ kind, path, message, breaking }) => (
            <li key={`${kind} ${path}`}>
              <Icon name={breaking ? 'x' : 'check'} {...(breaking && { tone: 'bad' })} />
              <span>
                <b>{breaking ? 'Breaks' : 'Fine'}</b>: <bdi>{message}</bdi>
              </span>
            </li>
          ))}
        </ul>
      )}
      {omitted > 0 && <p className="sm soft">{omitted} more changes are not listed.</p>}
      <FindingList findings={findings} />
    </div>
  );
}
