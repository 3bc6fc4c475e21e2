import type { EventGroup } from '@measurement-exchange/contract';
import { useResource } from '../live/useResource.ts';
import { idOf } from '../session/roles.ts';

type Referenced = Pick<EventGroup, 'eventGroupReferenceId' | 'dataProvider'>;

/**
 * Returns a map from an event group's ID to the event group's publisher and reference. Contains only the first 1,000
 * event groups.
 */
export function useReferences({ enabled = true } = {}): ReadonlyMap<string, Referenced> {
  const { data } = useResource(
    'eventGroups',
    ['references'],
    async ({ client, principal }, signal) => {
      const list = client.listEventGroups({ parent: principal, pageSize: 1000, showDeleted: true, signal });
      const { eventGroups } = await list.page();
      return new Map(
        eventGroups.map(({ name, eventGroupReferenceId, dataProvider }): [string, Referenced] => [
          idOf(name!),
          { eventGroupReferenceId, dataProvider },
        ]),
      );
    },
    { staleTime: 300_000, enabled },
  );
  return data ?? NONE;
}
const NONE: ReadonlyMap<string, Referenced> = new Map();
