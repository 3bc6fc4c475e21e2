/** The event groups of a question, with the references that the publishers gave them. */
import type { Question } from '@measurement-exchange/sdk';
import { useResource } from '../../../live/useResource.ts';
import { PublisherTag } from '../../../parts/Publisher.tsx';
import { idOf } from '../../../session/roles.ts';
import type { Session } from '../../../session/session.ts';
import './one.css';

export function EventGroups({ question }: { question: Question }) {
  return question.dataProviders.map(({ name, eventGroups = [] }) => (
    <div key={name} className="row groups">
      <PublisherTag name={name} />
      {eventGroups.map((group) => (
        <EventGroupReference key={group.name} name={group.name} />
      ))}
      {eventGroups.length === 0 && <span className="muted">its population</span>}
    </div>
  ));
}

/** The reference of an event group, or its ID if it cannot be read any more. */
function EventGroupReference({ name }: { name: string }) {
  const id = idOf(name);
  const { data } = useResource('eventGroups', ['references'], readReferences, { staleTime: 300_000 });
  return (
    <bdi className="mono xs" title={name}>
      {data?.get(id) || id}
    </bdi>
  );
}

/** Reads the references by ID. One list costs less than a call for each event group, of which some may be gone. */
async function readReferences({ client, principal }: Session, signal: AbortSignal) {
  const { eventGroups } = await client.listEventGroups({ parent: principal, pageSize: 1000, signal }).page();
  return new Map(eventGroups.map((group) => [idOf(group.name!), group.eventGroupReferenceId]));
}

/** The different filters of a question. */
export function filtersOf({ dataProviders }: Question): string[] {
  const filters = dataProviders.flatMap(({ eventGroups = [], population }) =>
    [...eventGroups, population ?? {}].map(({ filter }) => filter),
  );
  return [...new Set(filters.filter((filter) => filter !== undefined && filter !== ''))] as string[];
}
