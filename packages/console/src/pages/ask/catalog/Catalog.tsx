/** The catalog: the event groups that publishers have described to the consumer. */
import { type EventGroup, MEDIA_TYPES } from '@measurement-exchange/contract';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useId } from 'react';
import { A } from '../../../parts/A.tsx';
import { PageHead } from '../../../parts/PageHead.tsx';
import { PublisherTag } from '../../../parts/Publisher.tsx';
import { Empty, Loaded } from '../../../parts/states.tsx';
import { idOf } from '../../../session/roles.ts';
import { useSession } from '../../../session/session.ts';
import '../ask.css';
import { labelOf } from '../form/catalogue.ts';
import { campaignOf, daysText, MEDIA_WORDS, mediaText } from './words.ts';

interface Filters {
  words: string;
  media: string;
  publisher: string;
}

export default function Catalog() {
  const search = new URLSearchParams(useLocation().searchStr);
  const filters = {
    words: search.get('q') ?? '',
    media: search.get('media') ?? '',
    publisher: search.get('publisher') ?? '',
  };
  return (
    <>
      <PageHead
        title="Catalog"
        meta={['What publishers have described to you: their event groups, days and attributes.']}
        actions={
          <A className="btn main" to="/new">
            New measurement
          </A>
        }
      />
      <section className="card" aria-label="Event groups">
        <FilterRow filters={filters} />
        <List filters={filters} />
      </section>
    </>
  );
}

function FilterRow({ filters: { words, media, publisher } }: { filters: Filters }) {
  const id = useId();
  const navigate = useNavigate();
  const set = (part: Record<string, string>) => {
    const all: Record<string, string> = { q: words, media, publisher, ...part };
    const search = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
    void navigate({ to: '/catalog' as '.', search: search as never, replace: true });
  };
  return (
    <div className="in-card row">
      <div className="field grow">
        <label htmlFor={`${id}-words`}>Brand or campaign</label>
        <input
          className="in"
          type="search"
          id={`${id}-words`}
          defaultValue={words}
          onChange={({ target }) => set({ q: target.value })}
        />
      </div>
      <div className="field">
        <label htmlFor={`${id}-media`}>Media</label>
        <select
          className="in"
          id={`${id}-media`}
          value={media}
          onChange={({ target }) => set({ media: target.value })}
        >
          <option value="">All</option>
          {MEDIA_TYPES.map((type) => (
            <option key={type} value={type}>
              {MEDIA_WORDS[type]}
            </option>
          ))}
        </select>
      </div>
      {publisher && (
        <button type="button" className="btn sm" onClick={() => set({ publisher: '' })}>
          Only <PublisherTag name={`dataProviders/${publisher}`} /> · show all
        </button>
      )}
    </div>
  );
}

const PAGE_SIZE = 100;

function List({ filters }: { filters: Filters }) {
  const { client, principal } = useSession();
  const query = useInfiniteQuery({
    queryKey: [principal, 'eventGroups', 'catalog', filters],
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextPageToken }: { nextPageToken?: string }) => nextPageToken,
    queryFn: ({ pageParam, signal }) =>
      client
        .listEventGroups({
          parent: principal,
          pageSize: PAGE_SIZE,
          pageToken: pageParam,
          signal,
          ...(filters.words.trim() && { 'filter.metadataSearchQuery': filters.words.trim().slice(0, 500) }),
          ...(filters.media && { 'filter.mediaTypes': [filters.media as (typeof MEDIA_TYPES)[number]] }),
          ...(filters.publisher && { 'filter.dataProviders': [`dataProviders/${filters.publisher}`] }),
        })
        .page(),
    placeholderData: (previous) => previous,
  });
  return (
    <Loaded query={query}>
      {({ pages }) => {
        const groups = pages.flatMap(({ eventGroups }) => eventGroups);
        if (groups.length === 0) return <NoGroups isFiltered={Object.values(filters).some(Boolean)} />;
        return (
          <>
            <GroupTable groups={groups} />
            {query.hasNextPage && (
              <footer>
                <button
                  type="button"
                  className="btn sm"
                  disabled={query.isFetchingNextPage}
                  onClick={() => void query.fetchNextPage()}
                >
                  Show more
                </button>
                <span>{groups.length} shown</span>
              </footer>
            )}
          </>
        );
      }}
    </Loaded>
  );
}

function NoGroups({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No event group matches" />;
  return (
    <Empty title="No publisher has described its events to you yet">
      <p>A publisher creates an event group for you, and then it appears here.</p>
    </Empty>
  );
}

function GroupTable({ groups }: { groups: readonly EventGroup[] }) {
  return (
    <table className="fold">
      <thead>
        <tr>
          <th>Event group</th>
          <th>Publisher</th>
          <th>Media</th>
          <th>Has data</th>
          <th>Filters can use</th>
        </tr>
      </thead>
      <tbody>
        {groups.map((group) => (
          <tr key={group.name}>
            <td>
              <A to={`/catalog/${idOf(group.name!)}`}>
                <bdi>{labelOf(group)}</bdi>
              </A>
              <span className="sub">
                <bdi>{campaignOf(group)}</bdi>
              </span>
            </td>
            <td data-l="Publisher">
              <A to={`/catalog?publisher=${idOf(group.dataProvider!)}`}>
                <PublisherTag name={group.dataProvider!} />
              </A>
            </td>
            <td data-l="Media">{mediaText(group)}</td>
            <td data-l="Has data">{daysText(group)}</td>
            <td data-l="Filters can use" className="soft">
              {group.attributes?.map(({ name }) => name).join(', ') ?? 'not said'}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
