/** The schemas of the provider's metadata. */
import { useResource } from '../../live/useResource.ts';
import { A } from '../../parts/A.tsx';
import { Icon } from '../../parts/Icon.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { idOf } from '../../session/roles.ts';
import { messagesOf } from './schemaTree.ts';

/**
 * The maximum number of schemas to show. The limit is low, because a schema may be several megabytes long. Most
 * providers have only a few schemas.
 */
const SHOWN = 50;

export default function Schemas() {
  const query = useResource(
    'eventGroupMetadataDescriptors',
    ['list'],
    async ({ client, principal }, signal) =>
      client.listEventGroupMetadataDescriptors({ parent: principal, pageSize: SHOWN, signal }).page(),
  );
  return (
    <>
      <PageHead
        above={{ to: '/event-groups', text: 'Event groups' }}
        title="Schemas"
        meta={['They say what the metadata of your event groups means']}
        actions={
          <A className="btn main" to="/schemas/new">
            <Icon name="plus" /> Register a schema
          </A>
        }
      />
      <section className="card" aria-label="Registered schemas">
        <Loaded query={query}>
          {({ eventGroupMetadataDescriptors: schemas, nextPageToken }) =>
            schemas.length === 0 ? (
              <Empty title="No schema yet">
                <p>
                  Event groups can have metadata without one: a reference, days, attributes, brand and
                  campaign.
                </p>
              </Empty>
            ) : (
              <>
                <table className="fold">
                  <thead>
                    <tr>
                      <th>Schema</th>
                      <th>Messages</th>
                      <th className="num">Fields</th>
                    </tr>
                  </thead>
                  <tbody>
                    {schemas.map((schema) => (
                      <Row key={schema.name} schema={schema} />
                    ))}
                  </tbody>
                </table>
                {nextPageToken && (
                  <footer>The first {SHOWN} schemas. All of them: mex descriptors list</footer>
                )}
              </>
            )
          }
        </Loaded>
      </section>
    </>
  );
}

function Row({ schema }: { schema: Parameters<typeof messagesOf>[0] }) {
  const messages = messagesOf(schema);
  return (
    <tr>
      <td>
        <A to={`/schemas/${idOf(schema.name!)}`}>{idOf(schema.name!)}</A>
      </td>
      <td data-l="Messages">
        <code>
          <bdi>{messages.map(({ name }) => name).join(', ')}</bdi>
        </code>
      </td>
      <td className="num" data-l="Fields">
        {messages.reduce((sum, { fields }) => sum + fields.length, 0)}
      </td>
    </tr>
  );
}
