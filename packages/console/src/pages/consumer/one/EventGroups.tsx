/** The event groups of a question, with the references that the publishers gave them. */
import type { Question } from '@measurement-exchange/sdk';
import { useResource } from '../../../live/useResource.ts';
import { PublisherTag } from '../../../parts/Publisher.tsx';
import { idOf } from '../../../session/roles.ts';

export function EventGroups({ question }: { question: Question }) {
  return question.dataProviders.map(({ name, eventGroups = [] }) => (
    <div key={name} className="row">
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
  const { data } = useResource(
    'eventGroups',
    ['one', id],
    ({ client, principal }, signal) =>
      client.getEventGroup({ name: `${principal}/eventGroups/${id}`, signal }),
    { staleTime: 300_000 },
  );
  return (
    <bdi className="mono xs" title={name}>
      {data?.eventGroupReferenceId || id}
    </bdi>
  );
}

/** The different filters of a question. */
export function filtersOf({ dataProviders }: Question): string[] {
  const filters = dataProviders.flatMap(({ eventGroups = [], population }) =>
    [...eventGroups, population ?? {}].map(({ filter }) => filter),
  );
  return [...new Set(filters.filter((filter) => filter !== undefined && filter !== ''))] as string[];
}
