/** Finds the pages and resources that match the search text. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { count } from '../format.ts';
import type { IconName } from '../parts/Icon.tsx';
import { ifFound } from '../parts/ifFound.ts';
import { pathOf } from '../parts/links.ts';
import { useTitles } from '../parts/useTitles.ts';
import { idOf, type Role } from '../session/roles.ts';
import { type Session, useSession } from '../session/session.ts';
import { PAGES } from './pages.ts';

export interface Found {
  words: string;
  kind: string;
  icon: IconName;
  path: string;
}

const PAUSE_MS = 150;
const MOST = 8;

export function useFound(text: string): { found: Found[]; state: string } {
  const session = useSession();
  const wanted = usePaused(text.trim());
  const named = useQuery({
    queryKey: [session.principal, 'find', wanted],
    queryFn: ({ signal }) => byName(session, wanted, signal),
    enabled: wanted !== '',
    placeholderData: keepPreviousData,
  });
  const titles = useTitles(wanted, MOST, wanted !== '');
  if (text.trim() === '')
    return { found: pagesLike('', session.role), state: 'Type a title, a name or a reference.' };
  const all = [
    ...(titles.data?.matches ?? []).map(foundTitle),
    ...(named.data ?? []),
    ...pagesLike(text, session.role),
  ];
  const found = all
    .filter(({ path }, i) => all.findIndex((other) => other.path === path) === i)
    .slice(0, MOST);
  const isBusy = named.isFetching || titles.isFetching;
  return { found, state: stateText(found.length, isBusy, titles.data) };
}

function stateText(
  matches: number,
  isBusy: boolean,
  titles?: { searched: number; isComplete: boolean },
): string {
  const searched =
    titles && !titles.isComplete ? ` Searched the newest ${count(titles.searched)} titles.` : '';
  if (matches > 0) return `${matches === 1 ? '1 match' : `${matches} matches`}.${searched}`;
  return isBusy ? 'Searching' : `Nothing found.${searched}`;
}

const foundTitle = ({ name, title }: { name: string; title: string }): Found => ({
  words: title,
  kind: 'Measurement',
  icon: 'measure',
  path: pathOf(name, 'consumer')!,
});

function pagesLike(text: string, role: Role): Found[] {
  const wanted = text.trim().toLowerCase();
  return PAGES.filter(({ nav, roles }) => nav && roles.includes(role)).flatMap(({ nav, path }) =>
    nav!.label.toLowerCase().includes(wanted)
      ? [{ words: nav!.label, kind: 'Page', icon: nav!.icon, path }]
      : [],
  );
}

/** Matches a resource name, or an ID in the format that the exchange creates. */
const ID = /^(?:[\w/-]+\/[\w-]{1,63}|[a-z0-9]{12,63})$/;

async function byName(session: Session, text: string, signal: AbortSignal): Promise<Found[]> {
  const { client, principal, role } = session;
  const id = ID.test(text) ? idOf(text) : undefined;
  const found = (name: string, kind: string, icon: IconName): Found[] => {
    const path = pathOf(name, role);
    return path === undefined ? [] : [{ words: idOf(name), kind, icon, path }];
  };
  const one = async (
    collection: string,
    [kind, icon]: [string, IconName],
    read: (name: string) => Promise<{ name?: string }>,
  ) => {
    const isOther = text.includes('/') && text.split('/').at(-2) !== collection;
    if (id === undefined || isOther) return [];
    return found((await ifFound(read(`${principal}/${collection}/${id}`)))?.name ?? '', kind, icon);
  };
  const group = () =>
    one('eventGroups', ['Event group', 'catalog'], (name) => client.getEventGroup({ name, signal }));
  switch (role) {
    case 'consumer': {
      const filter = { parent: principal, 'filter.measurementReferenceId': text, pageSize: MOST, signal };
      const [byId, groups, { measurements }] = await Promise.all([
        one('measurements', ['Measurement', 'measure'], (name) => client.getMeasurement({ name, signal })),
        group(),
        client.listMeasurements(filter).page(),
      ]);
      const referenced = measurements.flatMap((each) => found(each.name!, `Reference ${text}`, 'measure'));
      return [...byId, ...referenced, ...groups];
    }
    case 'provider': {
      const request = await one('requisitions', ['Request', 'list'], (name) =>
        client.getRequisition({ name, signal }),
      );
      return [...request, ...(await group())];
    }
    case 'duchy':
      return one('computations', ['Computation', 'run'], (name) => client.getComputation({ name, signal }));
    case 'operator':
      return parties(session, text, signal);
  }
}

async function parties({ client }: Session, text: string, signal: AbortSignal): Promise<Found[]> {
  const wanted = text.toLowerCase();
  const pages = await Promise.all(
    (['measurementConsumers', 'dataProviders', 'duchies'] as const).map((collection) =>
      Array.fromAsync(client.listParties({ collection, pageSize: 1000, signal })),
    ),
  );
  return pages
    .flat()
    .filter(({ name, displayName = '' }) => `${name} ${displayName}`.toLowerCase().includes(wanted))
    .slice(0, MOST)
    .map(({ name, displayName }) => ({
      words: displayName || idOf(name!),
      kind: name!,
      icon: 'party',
      path: `/parties/${name}`,
    }));
}

function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}
