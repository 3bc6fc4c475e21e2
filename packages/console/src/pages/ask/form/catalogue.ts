/** The event groups that a consumer can ask about. */
import type { EventGroup } from '@measurement-exchange/contract';
import type { UseQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useResource } from '../../../live/useResource.ts';
import { type Publisher, usePublishers } from '../../../parts/Publisher.tsx';
import { idOf } from '../../../session/roles.ts';
import type { Session } from '../../../session/session.ts';

export interface Catalogue {
  /** Event groups by their ID. */
  groups: ReadonlyMap<string, EventGroup>;
  /** False if there are more event groups than the form lists. */
  isWhole: boolean;
  /** The number of people in the default population, if there is one. */
  people: number | undefined;
}

/** The form lists as many event groups. The catalog page leads to the others. */
const MAX_LISTED = 1000;

/** Reads the first event groups, and those with the wanted IDs. */
export function useCatalogue(wanted: readonly string[]): UseQueryResult<Catalogue> {
  return useResource('eventGroups', ['catalogue', ...wanted], (session, signal) =>
    readCatalogue(session, wanted, signal),
  );
}

async function readCatalogue(
  { client, principal }: Session,
  wanted: readonly string[],
  signal: AbortSignal,
): Promise<Catalogue> {
  const [{ eventGroups, nextPageToken }, { populations }] = await Promise.all([
    client.listEventGroups({ parent: principal, pageSize: MAX_LISTED, signal }).page(),
    client.listPopulations({ pageSize: 1000, signal }).page(),
  ]);
  const groups = new Map(eventGroups.map((group) => [idOf(group.name!), group]));
  for (const id of wanted.filter((id) => !groups.has(id))) {
    const group = await client
      .getEventGroup({ name: `${principal}/eventGroups/${id}`, signal })
      .catch(() => undefined);
    if (group?.state === 'ACTIVE') groups.set(id, group);
  }
  return {
    groups,
    isWhole: nextPageToken === undefined,
    people: populations.find((population) => population.default)?.size,
  };
}

/** A publisher with its event groups. */
export interface Asked extends Publisher {
  groups: EventGroup[];
}

/** Returns the event groups by publisher, in the order of the publishers' names. */
export function useByPublisher(groups: readonly EventGroup[]): Asked[] {
  const publisher = usePublishers();
  return useMemo(() => {
    const byName = Map.groupBy(groups, ({ dataProvider }) => dataProvider!);
    return [...byName]
      .map(([name, of]) => ({ ...publisher(name), groups: of }))
      .sort((a, b) => a.label.localeCompare(b.label, 'en-US'));
  }, [groups, publisher]);
}

export const labelOf = ({ name, eventGroupReferenceId }: EventGroup) => eventGroupReferenceId || idOf(name!);
