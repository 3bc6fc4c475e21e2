/** The page of one schema. It shows a tree of messages and fields, and uploads the next version. */
import type { EventGroupMetadataDescriptor } from '@measurement-exchange/contract';
import { useParams } from '@tanstack/react-router';
import { useResource } from '../../live/useResource.ts';
import { PageHead } from '../../parts/PageHead.tsx';
import { Loaded } from '../../parts/states.tsx';
import { messagesOf, type SchemaField } from './schemaTree.ts';
import { UploadSchema } from './UploadSchema.tsx';

export default function Schema() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useResource('eventGroupMetadataDescriptors', ['one', id], ({ client, principal }, signal) =>
    client.getEventGroupMetadataDescriptor({
      name: `${principal}/eventGroupMetadataDescriptors/${id}`,
      signal,
    }),
  );
  return (
    <>
      <PageHead above={{ to: '/schemas', text: 'Schemas' }} title={`Schema ${id}`} />
      <Loaded query={query}>
        {(schema) => (
          <div className="cols c75">
            <Tree schema={schema} />
            <section className="card">
              <header>
                <h2>Replace it</h2>
                <p>You see what a new version changes, and what it would break, before it is sent.</p>
              </header>
              <div className="in-card">
                <UploadSchema replaced={schema.name!} />
              </div>
            </section>
          </div>
        )}
      </Loaded>
    </>
  );
}

function Tree({ schema }: { schema: EventGroupMetadataDescriptor }) {
  const messages = messagesOf(schema);
  return (
    <section className="card">
      <header>
        <h2>Messages</h2>
        <p>
          {messages.length} in {new Set(messages.map(({ file }) => file)).size} files. Advertisers read them
          to understand your metadata.
        </p>
      </header>
      <div className="in-card stack">
        {messages.map(({ name, file, fields }, i) => (
          <details key={name} open={i < 5}>
            <summary>
              <code>
                <bdi>{name}</bdi>
              </code>{' '}
              <span className="xs muted">
                <bdi>{file}</bdi>
              </span>
            </summary>
            <Fields fields={fields} />
          </details>
        ))}
      </div>
    </section>
  );
}

function Fields({ fields }: { fields: readonly SchemaField[] }) {
  if (fields.length === 0) return <p className="sm soft">No fields.</p>;
  return (
    <table className="dense">
      <thead>
        <tr>
          <th className="num">Number</th>
          <th>Field</th>
          <th>Type</th>
        </tr>
      </thead>
      <tbody>
        {fields.map(({ name, number, type, repeated, values }) => (
          <tr key={number}>
            <td className="num">{number}</td>
            <td>
              <code>
                <bdi>{name}</bdi>
              </code>
            </td>
            <td>
              <code>
                {repeated && 'repeated '}
                <bdi>{type}</bdi>
              </code>
              {values && (
                <span className="sub">
                  <bdi>{values.join(', ')}</bdi>
                </span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
