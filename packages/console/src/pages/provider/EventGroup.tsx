/** The page of one event group: its description for advertisers, and the possible actions. */
import type { EventGroup } from '@measurement-exchange/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { day, moment } from '../../format.ts';
import { A } from '../../parts/A.tsx';
import { Breakable } from '../../parts/Breakable.tsx';
import { Chip } from '../../parts/Chip.tsx';
import { ConfirmDialog } from '../../parts/Dialog.tsx';
import { ATTRIBUTE_WORDS, MEDIA_WORDS } from '../../parts/eventGroupWords.ts';
import { Icon } from '../../parts/Icon.tsx';
import { partyName } from '../../parts/names.ts';
import { PageHead } from '../../parts/PageHead.tsx';
import { Loaded } from '../../parts/states.tsx';
import { idOf } from '../../session/roles.ts';
import { useSession } from '../../session/session.ts';
import { campaignOf, useEventGroup } from './eventGroups.ts';
import { ReadableMetadata } from './ReadableMetadata.tsx';

export default function EventGroupPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useEventGroup(id);
  return (
    <>
      {query.data === undefined && <PageHead above={ABOVE} title={`Event group ${id}`} />}
      <Loaded query={query}>{(group) => <Shown group={group} />}</Loaded>
    </>
  );
}

const ABOVE = { to: '/event-groups', text: 'Event groups' };

function Shown({ group }: { group: EventGroup }) {
  const [deleting, setDeleting] = useState(false);
  const id = idOf(group.name!);
  const isActive = group.state === 'ACTIVE';
  return (
    <>
      <PageHead
        above={ABOVE}
        title={group.eventGroupReferenceId || id}
        meta={[
          <span key="consumer">
            Described to <bdi>{partyName(group.measurementConsumer)}</bdi>
          </span>,
          isActive ? null : (
            <Chip key="state" icon="minus">
              Deleted
            </Chip>
          ),
        ].filter((fact) => fact !== null)}
        actions={
          isActive && (
            <>
              <A className="btn" to={`/event-groups/${id}/edit`}>
                Edit
              </A>
              <button type="button" className="btn danger" onClick={() => setDeleting(true)}>
                Delete…
              </button>
            </>
          )
        }
      />
      <div className="cols c75">
        <section className="card">
          <header>
            <h2>Attributes that filters can use</h2>
          </header>
          <AttributeTable group={group} />
        </section>
        <Facts group={group} />
      </div>
      <ReadableMetadata group={group} />
      {deleting && <DeleteDialog group={group} close={() => setDeleting(false)} />}
    </>
  );
}

function AttributeTable({ group: { attributes = [] } }: { group: EventGroup }) {
  if (attributes.length === 0) {
    return (
      <p className="in-card soft">
        None are named. The advertiser cannot tell which filters your files can answer, and a filter by an
        unknown attribute is refused.
      </p>
    );
  }
  return (
    <table className="fold dense">
      <thead>
        <tr>
          <th>Name</th>
          <th>Type</th>
          <th>Meaning</th>
          <th>Examples</th>
        </tr>
      </thead>
      <tbody>
        {attributes.map(({ name, type, description, exampleValues = [] }) => (
          <tr key={name}>
            <td>
              <code>{name}</code>
            </td>
            <td data-l="Type">{ATTRIBUTE_WORDS[type]}</td>
            <td data-l="Meaning">
              {description ? <bdi>{description}</bdi> : <span className="muted">not said</span>}
            </td>
            <td data-l="Examples">
              {exampleValues.length > 0 && (
                <code>
                  <bdi>{exampleValues.join(', ')}</bdi>
                </code>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Facts({ group }: { group: EventGroup }) {
  const { startTime, endTime } = group.dataAvailabilityInterval ?? {};
  const media = group.mediaTypes?.map((type) => MEDIA_WORDS[type]).join(', ');
  const campaign = campaignOf(group);
  const last = endTime && day(new Date(Date.parse(endTime) - 1));
  return (
    <section className="card">
      <header>
        <h2>What the advertiser sees</h2>
      </header>
      <div className="in-card">
        <dl className="kv">
          <dt>Reference</dt>
          <dd>
            <code>
              <bdi>{group.eventGroupReferenceId || 'none'}</bdi>
            </code>
          </dd>
          <dt>Campaign</dt>
          <dd>{campaign ? <bdi>{campaign}</bdi> : 'not given'}</dd>
          <dt>Data</dt>
          <dd>
            {startTime ? `${day(startTime)} – ${last ?? 'today, events still arrive'}` : 'you do not say'}
          </dd>
          <dt>Media</dt>
          <dd>{media || 'not given'}</dd>
          <dt>Changed</dt>
          <dd>{group.updateTime ? moment(group.updateTime) : ''}</dd>
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

function DeleteDialog({ group, close }: { group: EventGroup; close: () => void }) {
  const { client, principal } = useSession();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const reference = group.eventGroupReferenceId || idOf(group.name!);
  const remove = async () => {
    await client.deleteEventGroup({ name: group.name! });
    await queries.invalidateQueries({ queryKey: [principal, 'eventGroups'] });
    await navigate({ to: '/event-groups' as '.' });
  };
  return (
    <ConfirmDialog
      title={`Delete ${reference}?`}
      verb="Delete event group"
      onConfirm={remove}
      onClose={close}
    >
      <p>
        <bdi>{partyName(group.measurementConsumer)}</bdi> can no longer ask about it. Requests that already
        name it can no longer be answered. Its metadata is removed; its name and reference stay readable.
      </p>
      <p>
        <Icon name="info" /> What was spent of the privacy budget stays spent.
      </p>
    </ConfirmDialog>
  );
}
