import type { EventGroup } from '@measurement-exchange/contract';
import { useResource } from '../../live/useResource.ts';
import { A } from '../../parts/A.tsx';
import { Loaded } from '../../parts/states.tsx';
import { idOf } from '../../session/roles.ts';

/**
 * Shows an event group's metadata, which the exchange decodes. If the metadata is encrypted, shows only its type and
 * size.
 */
export function ReadableMetadata({ group }: { group: EventGroup }) {
  const { metadata, ciphertext, typeUrl } = group.encryptedMetadata ?? {};
  if (metadata) return <Decoded name={group.name!} schema={metadata.eventGroupMetadataDescriptor} />;
  if (ciphertext === undefined) return null;
  return (
    <section className="card">
      <header>
        <h2>Metadata</h2>
        <p>
          Encrypted for <bdi>{idOf(group.measurementConsumer)}</bdi>: {ciphertext.length} bytes of{' '}
          <code>{typeUrl?.replace(/^.*\//, '')}</code>. Only the advertiser can read it.
        </p>
      </header>
      <div className="in-card" />
    </section>
  );
}

function Decoded({ name, schema }: { name: string; schema: string }) {
  const query = useResource('eventGroups', ['metadata', name], ({ client }, signal) =>
    client.decodeEventGroup({ name, signal }),
  );
  return (
    <section className="card">
      <header>
        <h2>Metadata</h2>
        <p>
          Readable for the exchange and the advertiser. Schema:{' '}
          <A to={`/schemas/${idOf(schema)}`}>{idOf(schema)}</A>
        </p>
      </header>
      <div className="in-card">
        <Loaded query={query}>
          {({ typeUrl, message }) => (
            <>
              <p className="sm soft">
                <code>{typeUrl.replace(/^.*\//, '')}</code>
              </p>
              <pre className="sm">
                <bdi>{JSON.stringify(message, null, 2)}</bdi>
              </pre>
            </>
          )}
        </Loaded>
      </div>
    </section>
  );
}
