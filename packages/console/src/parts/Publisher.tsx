/** Publishers (data providers) with their display names. A publisher has the same color and shape on every page. */
import { createContext, type ReactNode, useContext, useMemo } from 'react';
import { useResource } from '../live/useResource.ts';
import { idOf } from '../session/roles.ts';
import { useSession } from '../session/session.ts';
import { Swatch } from './Chart.tsx';
import './publisher.css';

export interface Publisher {
  name: string;
  label: string;
  /** The publisher's position among all publishers. It determines the color and shape. */
  index: number;
}

const PublishersContext = createContext<(name: string) => Publisher>(publisherIn(new Map()));

/** Reads the publishers once for all parts of the page. */
export function PublishersProvider({ children }: { children: ReactNode }) {
  const { role } = useSession();
  const { data } = useResource(
    'dataProviders',
    ['looks'],
    async ({ client }, signal) => {
      const { dataProviders } = await client
        .listParties({ collection: 'dataProviders', pageSize: 1000, signal })
        .page();
      return dataProviders.map(({ name, displayName, createTime }) => ({ name, displayName, createTime }));
    },
    { staleTime: 300_000, enabled: role === 'consumer' || role === 'operator' },
  );
  const find = useMemo(() => {
    const sorted = (data ?? []).toSorted((a, b) => keyOf(a).localeCompare(keyOf(b)));
    return publisherIn(new Map(sorted.map(({ name, displayName }, i) => [name!, { i, displayName }])));
  }, [data]);
  return <PublishersContext value={find}>{children}</PublishersContext>;
}

/**
 * Returns a function that looks up a publisher by name. Publishers are ordered by creation time, so that a new
 * publisher does not change the colors of the others.
 */
export const usePublishers = () => useContext(PublishersContext);

function publisherIn(places: ReadonlyMap<string, { i: number; displayName?: string | undefined }>) {
  return (name: string): Publisher => {
    const { i = letters(name), displayName } = places.get(name) ?? {};
    return { name, label: displayName || idOf(name), index: i };
  };
}

const keyOf = ({ createTime = '', name = '' }: { createTime?: string; name?: string }) =>
  `${createTime} ${name}`;

/** Returns an index for a publisher that is not in the list. */
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

/** Publishers, in the same order in every row. */
export function PublisherTags({ names }: { names: readonly string[] }) {
  const publisherOf = usePublishers();
  return (
    <span className="row tags">
      {names
        .toSorted((a, b) => publisherOf(a).index - publisherOf(b).index)
        .map((name) => (
          <PublisherTag key={name} name={name} />
        ))}
    </span>
  );
}
