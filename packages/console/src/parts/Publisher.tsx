/** Publishers (data providers) with their names, and with a hue and a shape that are the same on every page. */
import { useMemo } from 'react';
import { useResource } from '../live/useResource.ts';
import { idOf } from '../session/roles.ts';
import './publisher.css';

export interface Publisher {
  name: string;
  label: string;
  /** The number of its hue and shape, from 1 to 4. */
  look: 1 | 2 | 3 | 4;
}

/** Returns a function from the name of a publisher to how it is shown. The oldest publishers have the first looks. */
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
      return { name, label: displayName || idOf(name), look: ((i % 4) + 1) as Publisher['look'] };
    };
  }, [data]);
}

const keyOf = ({ createTime = '', name = '' }: { createTime?: string; name?: string }) =>
  `${createTime} ${name}`;

/** A number for a publisher that is not in the list. */
const letters = (name: string) => [...name].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);

export function PublisherTag({ name }: { name: string }) {
  const { label, look } = usePublishers()(name);
  return (
    <span className="tag" title={name}>
      <Swatch look={look} />
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

/** The shape of a publisher: circle, square, triangle, diamond. */
export function Swatch({ look }: { look: Publisher['look'] }) {
  return (
    <svg className="sw" viewBox="0 0 11 11" aria-hidden="true">
      {look === 1 && <circle className="f1" cx="5.5" cy="5.5" r="5" />}
      {look === 2 && <rect className="f2" x="1" y="1" width="9" height="9" />}
      {look === 3 && <path className="f3" d="M5.5.3 11 10.3H0z" />}
      {look === 4 && <path className="f4" d="M5.5-.4 11.4 5.5 5.5 11.4-.4 5.5z" />}
    </svg>
  );
}
