/** Reads event groups of the data provider. */
import type { EventGroup } from '@measurement-exchange/contract';
import { useResource } from '../../live/useResource.ts';
import { idOf } from '../../session/roles.ts';

export function useEventGroup(id: string) {
  return useResource('eventGroups', ['one', id], ({ client, principal }, signal) =>
    client.getEventGroup({ name: `${principal}/eventGroups/${id}`, signal }),
  );
}

/** The brand and the campaign in one line, or undefined if neither is set. */
export function campaignOf({ eventGroupMetadata }: EventGroup): string | undefined {
  const { brandName, campaignName } = eventGroupMetadata?.adMetadata.campaignMetadata ?? {};
  return [brandName, campaignName].filter(Boolean).join(' · ') || undefined;
}

/** The reference of an event group, under whatever name a request has for it. */
export function useReference(name: string): string | undefined {
  const { data } = useEventGroup(idOf(name));
  return data?.eventGroupReferenceId || undefined;
}
