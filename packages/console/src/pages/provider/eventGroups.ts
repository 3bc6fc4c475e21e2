/** Reads event groups of the data provider. */
import type { EventGroup } from '@measurement-exchange/contract';
import { useResource } from '../../live/useResource.ts';
import { idOf } from '../../session/roles.ts';

export function useEventGroup(id: string) {
  return useResource('eventGroups', ['one', id], ({ client, principal }, signal) =>
    client.getEventGroup({ name: `${principal}/eventGroups/${id}`, signal }),
  );
}

export function campaignOf({ eventGroupMetadata }: EventGroup): string | undefined {
  const { brandName, campaignName } = eventGroupMetadata?.adMetadata.campaignMetadata ?? {};
  return [brandName, campaignName].filter(Boolean).join(' · ') || undefined;
}

/** Returns the reference of an event group. `name` is any name that ends with the ID of the event group. */
export function useReference(name: string): string | undefined {
  const { data } = useEventGroup(idOf(name));
  return data?.eventGroupReferenceId || undefined;
}
