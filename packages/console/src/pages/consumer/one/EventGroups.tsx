/** The event groups in a question, with the publishers' references. */
import type { Question } from '@measurement-exchange/sdk';
import { PublisherTag } from '../../../parts/Publisher.tsx';
import { useReferences } from '../../../parts/useReferences.ts';
import { idOf } from '../../../session/roles.ts';
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

function EventGroupReference({ name }: { name: string }) {
  const id = idOf(name);
  return (
    <bdi className="mono xs" title={name}>
      {useReferences().get(id)?.eventGroupReferenceId || id}
    </bdi>
  );
}

export function filtersOf({ dataProviders }: Question): string[] {
  const filters = dataProviders.flatMap(({ eventGroups = [], population }) =>
    [...eventGroups, population ?? {}].map(({ filter }) => filter),
  );
  return [...new Set(filters.filter((filter) => filter !== undefined && filter !== ''))] as string[];
}
