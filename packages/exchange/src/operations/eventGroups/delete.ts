import { lockEventGroups, updateEventGroup } from '../../database/eventGroups.ts';
import { partyName } from '../../domain/access.ts';
import { remove, requireActive } from '../../domain/eventGroup.ts';
import type { Handler } from '../context.ts';
import { mutate } from '../mutate.ts';
import { versionOf, viewEventGroup } from './view.ts';

export const deleteEventGroup: Handler<'deleteEventGroup'> = async (exchange, call, request) => {
  const provider = partyName('dataProvider', request.params.dataProvider);
  const id = request.params.eventGroup;
  return mutate('deleteEventGroup', exchange, call, request, async (tx) => {
    const locked = await lockEventGroups(tx, provider, [id]);
    const removed = remove(requireActive(locked.get(id), provider, id), exchange.clock());
    return {
      save: () => updateEventGroup(tx, removed),
      versions: [versionOf(removed)],
      view: () => viewEventGroup(removed, 'provider', undefined),
    };
  });
};
