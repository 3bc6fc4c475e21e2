/** The event groups that a consumer can ask about. */
import type { EventGroup, Population } from '@measurement-exchange/contract';
import type { UseQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useResource } from '../../../live/useResource.ts';
import { type Publisher, usePublishers } from '../../../parts/Publisher.tsx';
import { idOf } from '../../../session/roles.ts';
import type { Session } from '../../../session/session.ts';

export interface Catalogue {
  groups: ReadonlyMap<string, EventGroup>;
  /** False if more event groups exist than the form lists. */
  isWhole: boolean;
  /** The number of people in the default population. Undefined if there is no default population. */
  people: number | undefined;
  /** The values of each attribute, such as `sex`, in the default population. */
  attributes: Readonly<Record<string, readonly string[]>>;
}

/** The maximum number of event groups that the form reads from the list. The catalog page shows all event groups. */
const MAX_LISTED = 1000;

/** Reads the first MAX_LISTED event groups, and any other active event groups with the wanted IDs. */
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
  const population = populations.find((population) => population.default);
  return {
    groups,
    isWhole: nextPageToken === undefined,
    people: population?.size,
    attributes: attributesOf(population),
  };
}

function attributesOf({ subpopulations = [] }: Partial<Population> = {}): Catalogue['attributes'] {
  const all = subpopulations.flatMap(({ attributes }) => attributes);
  const byName = Map.groupBy(all, ({ name }) => name);
  return Object.fromEntries(
    [...byName].map(([name, of]) => [name, [...new Set(of.map(({ value }) => value))]]),
  );
}

export interface Asked extends Publisher {
  groups: EventGroup[];
}

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
