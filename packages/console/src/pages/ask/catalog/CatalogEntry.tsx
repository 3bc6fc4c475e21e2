/** One event group of the catalog. */
import { cut, type EventGroup, type EventGroupAttribute } from '@measurement-exchange/contract';
import { useParams } from '@tanstack/react-router';
import { moment } from '../../../format.ts';
import { useResource } from '../../../live/useResource.ts';
import { A } from '../../../parts/A.tsx';
import { Breakable } from '../../../parts/Breakable.tsx';
import { PageHead } from '../../../parts/PageHead.tsx';
import { PublisherTag } from '../../../parts/Publisher.tsx';
import { Loaded, NeedsKey } from '../../../parts/states.tsx';
import { useSession } from '../../../session/session.ts';
import '../ask.css';
import { ATTRIBUTE_WORDS } from '../../../parts/eventGroupWords.ts';
import { literalsOf } from '../filter/attributes.ts';
import { labelOf } from '../form/catalogue.ts';
import { Tree } from './Tree.tsx';
import { campaignOf, daysText, mediaText } from './words.ts';

export default function CatalogEntry() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const group = useResource('eventGroups', ['one', id], ({ client, principal }, signal) =>
    client.getEventGroup({ name: `${principal}/eventGroups/${id}`, signal }),
  );
  return (
    <Loaded query={group}>
      {(group) => (
        <>
          <PageHead
            above={{ to: '/catalog', text: 'Catalog' }}
            title={cut(labelOf(group), 80)}
            meta={[
              <PublisherTag key="publisher" name={group.dataProvider!} />,
              ...(group.mediaTypes ? [mediaText(group)] : []),
              ...(group.dataAvailabilityInterval ? [daysText(group)] : []),
            ]}
            actions={
              group.state === 'ACTIVE' && (
                <A className="btn main" to={`/new?groups=${id}`}>
                  Ask about this
                </A>
              )
            }
          />
          {group.state === 'DELETED' && (
            <p className="note warn">The publisher has deleted this event group.</p>
          )}
          <div className="cols c21">
            <div className="stack wide">
              <Attributes attributes={group.attributes} />
              <Metadata group={group} />
            </div>
            <Facts group={group} />
          </div>
        </>
      )}
    </Loaded>
  );
}

function Attributes({ attributes }: { attributes: readonly EventGroupAttribute[] | undefined }) {
  return (
    <section className="card" aria-labelledby="attributes">
      <header>
        <h2 id="attributes">Attributes</h2>
        <p>
          {attributes
            ? 'Filters can use them.'
            : 'The publisher lists no attributes. It checks a filter when it is asked.'}
        </p>
      </header>
      {attributes && attributes.length > 0 && (
        <table className="fold">
          <thead>
            <tr>
              <th>Name</th>
              <th>Type</th>
              <th>Meaning</th>
              <th>Examples</th>
            </tr>
          </thead>
          <tbody>
            {attributes.map((attribute) => (
              <tr key={attribute.name}>
                <td>
                  <code>{attribute.name}</code>
                </td>
                <td data-l="Type" className="nowrap">
                  {ATTRIBUTE_WORDS[attribute.type]}
                </td>
                <td data-l="Meaning">
                  {attribute.description ? (
                    <bdi>{attribute.description}</bdi>
                  ) : (
                    <span className="muted">not said</span>
                  )}
                </td>
                <td data-l="Examples">
                  <bdi>
                    <code>{literalsOf(attribute).join(', ')}</code>
                  </bdi>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** Shows the metadata that follows the publisher's own schema. It is usually encrypted for the consumer. */
function Metadata({ group }: { group: EventGroup }) {
  const { ciphertext, metadata } = group.encryptedMetadata ?? {};
  if (ciphertext === undefined && metadata === undefined) return null;
  return (
    <section className="card" aria-labelledby="metadata">
      <header>
        <h2 id="metadata">Description by the publisher</h2>
        <p>{ciphertext ? 'Encrypted for you, and decoded here.' : 'Also readable for the exchange.'}</p>
      </header>
      <div className="in-card">
        <Opened group={group} />
      </div>
    </section>
  );
}

function Opened({ group: { name, updateTime } }: { group: EventGroup }) {
  const { companion } = useSession();
  const opened = useResource(
    'eventGroups',
    ['metadata', name, updateTime],
    async (_, signal) => (await companion!.eventGroupMetadata({ names: [name!] }, { signal }))[name!] ?? {},
    { enabled: companion !== undefined },
  );
  if (companion === undefined) return <NeedsKey what="This description is encrypted for you." />;
  return (
    <Loaded query={opened}>
      {({ metadata, error }) => (error ? <p className="note bad">{error}</p> : <Tree value={metadata} />)}
    </Loaded>
  );
}

function Facts({ group }: { group: EventGroup }) {
  const { createTime, updateTime } = group;
  return (
    <section className="card" aria-labelledby="facts">
      <header>
        <h2 id="facts">Facts</h2>
      </header>
      <div className="in-card">
        <dl className="kv">
          <dt>Campaign</dt>
          <dd>
            <bdi>{campaignOf(group) || 'not said'}</bdi>
          </dd>
          <dt>Has data</dt>
          <dd>{daysText(group)}</dd>
          {createTime && (
            <>
              <dt>Described</dt>
              <dd>{moment(createTime)}</dd>
            </>
          )}
          {updateTime && updateTime !== createTime && (
            <>
              <dt>Changed</dt>
              <dd>{moment(updateTime)}</dd>
            </>
          )}
          <dt>API name</dt>
          <dd>
            <code>
              <Breakable text={group.name!} />
            </code>
          </dd>
        </dl>
      </div>
    </section>
  );
}
