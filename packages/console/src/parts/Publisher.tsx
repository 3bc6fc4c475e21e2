/** Publishers (data providers) with their names, and with a hue and a shape that are the same on every page. */
import { useMemo } from 'react';
import { useResource } from '../live/useResource.ts';
import { idOf } from '../session/roles.ts';
import { Swatch } from './Chart.tsx';
import './publisher.css';

export interface Publisher {
  name: string;
  label: string;
  /** Its place among all publishers, which decides its hue and shape. */
  index: number;
}

/** Returns a function from the name of a publisher to how it is shown. The oldest publisher is the first. */
export function usePublishers(): (name: string) => Publisher {
  const { data } = useResource(
    'dataProviders',
    ['looks'],
    async ({ client, role }, signal) => {
      if (role !== 'consumer' && role !== 'operator') return [];
      const { dataProviders } = await client
        .listParties({ collection: 'dataProviders', pageSize: 1000, signal })
        .page();
      return dataProviders.map(({ name, displayName, createTime }) => ({ name, displayName, createTime }));
    },
    { staleTime: 300_000 },
  );
  return useMemo(() => {
    const sorted = (data ?? []).toSorted((a, b) => keyOf(a).localeCompare(keyOf(b)));
    const places = new Map(sorted.map(({ name, displayName }, i) => [name, { i, displayName }]));
    return (name) => {
      const { i = letters(name), displayName } = places.get(name) ?? {};
      return { name, label: displayName || idOf(name), index: i };
    };
  }, [data]);
}

const keyOf = ({ createTime = '', name = '' }: { createTime?: string; name?: string }) =>
  `${createTime} ${name}`;

/** A number for a publisher that is not in the list. */
const letters = (name: string) => [...name].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);

export function PublisherTag({ name }: { name: string }) {
  const { label, index } = usePublishers()(name);
  return (
    <span className="tag" title={name}>
      <Swatch index={index} />
      <bdi>{label}</bdi>
    </span>
  );
}

export function PublisherTags({ names }: { names: readonly string[] }) {
  return (
    <span className="row tags">
      {names.map((name) => (
        <PublisherTag key={name} name={name} />
      ))}
    </span>
  );
}
