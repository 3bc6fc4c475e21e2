/** The list of event groups in the catalog. It may be very long. */
import { type EventGroup, MEDIA_TYPES } from '@measurement-exchange/contract';
import { useInfiniteQuery } from '@tanstack/react-query';
import { A } from '../../../parts/A.tsx';
import { PublisherTag } from '../../../parts/Publisher.tsx';
import { Empty, Loaded } from '../../../parts/states.tsx';
import { VirtualTable } from '../../../parts/VirtualTable.tsx';
import { idOf } from '../../../session/roles.ts';
import { useSession } from '../../../session/session.ts';
import { labelOf } from '../form/catalogue.ts';
import { GROUP_HEADS, GroupCells } from './GroupCells.tsx';
import { campaignOf } from './words.ts';

export interface Filters {
  words: string;
  media: string;
  publisher: string;
}

const PAGE_SIZE = 100;

export function GroupList({ filters }: { filters: Filters }) {
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
          ...argumentsOf(filters),
        })
        .page(),
    placeholderData: (previous) => previous,
  });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  return (
    <Loaded query={query}>
      {({ pages }) => {
        const groups = pages.flatMap(({ eventGroups }) => eventGroups);
        if (groups.length === 0) return <NoGroups isFiltered={Object.values(filters).some(Boolean)} />;
        return (
          <GroupTable
            groups={groups}
            onNearEnd={() => {
              if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
            }}
          />
        );
      }}
    </Loaded>
  );
}

function argumentsOf({ words, media, publisher }: Filters) {
  const type = MEDIA_TYPES.find((type) => type === media);
  return {
    ...(words.trim() && { 'filter.metadataSearchQuery': words.trim().slice(0, 500) }),
    ...(type && { 'filter.mediaTypes': [type] }),
    ...(publisher && { 'filter.dataProviders': [`dataProviders/${publisher}`] }),
  };
}

function NoGroups({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No event group matches" />;
  return (
    <Empty title="No publisher has described its events to you yet">
      <p>A publisher creates an event group for you, and then it appears here.</p>
    </Empty>
  );
}

const HEAD = (
  <>
    <th>Event group</th>
    <th>Publisher</th>
    {GROUP_HEADS}
  </>
);

function GroupTable({
  groups,
  onNearEnd,
}: {
  groups: readonly EventGroup[];
  onNearEnd: (() => void) | undefined;
}) {
  return (
    <VirtualTable head={HEAD} rows={groups} keyOf={({ name }) => name!} onNearEnd={onNearEnd}>
      {(group) => (
        <>
          <td>
            <A to={`/catalog/${idOf(group.name!)}`}>
              <bdi className="cut">{labelOf(group)}</bdi>
            </A>
            <span className="sub">
              <bdi className="cut">{campaignOf(group)}</bdi>
            </span>
          </td>
          <td data-l="Publisher">
            <A to={`/catalog?publisher=${idOf(group.dataProvider!)}`}>
              <PublisherTag name={group.dataProvider!} />
            </A>
          </td>
          <GroupCells group={group} />
        </>
      )}
    </VirtualTable>
  );
}
