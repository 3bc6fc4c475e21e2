import type { RequestOf, ResponseOf, Timestamp } from '@measurement-exchange/contract';
import {
  cursorOf,
  type EventGroupListQuery,
  type EventGroupOrder,
  listEventGroups as list,
  type Range,
} from '../../database/eventGroupList.ts';
import type { Side } from '../../database/eventGroups.ts';
import { partyExists } from '../../database/parties.ts';
import { partyNotFound } from '../../domain/party.ts';
import type { Call, Exchange } from '../context.ts';
import { DEFAULT_PAGE_SIZE, type ListScope, MAX_PAGE_BYTES } from '../paging.ts';
import { sideOf, viewEventGroups } from './view.ts';

export async function listEventGroups(
  exchange: Exchange,
  call: Call,
  { params, query }: RequestOf<'listEventGroups'>,
): Promise<ResponseOf<'listEventGroups'>> {
  const { side, party } = sideOf(params);
  const filters = filtersOf(side, party, query);
  const order = orderOf(query.orderBy);
  const states = query.showDeleted ? ['ACTIVE', 'DELETED'] : ['ACTIVE'];
  const scope: ListScope = ['listEventGroups', party, states, order, filters];
  const start = { time: order === 'start_desc' ? 'infinity' : '-infinity', id: '' };
  const after = query.pageToken === undefined ? start : exchange.pageTokens.read(scope, query.pageToken);
  const limit = query.pageSize ?? DEFAULT_PAGE_SIZE;
  const page = { side, party, states, order, after, limit, maxBytes: MAX_PAGE_BYTES };
  const { items, more } = filters === 'none' ? NOTHING : await list(exchange.db, { ...page, ...filters });
  if (items.length === 0 && !(await partyExists(exchange.db, party))) throw partyNotFound(party);
  const views = await viewEventGroups(exchange.db, call, side, items, MAX_PAGE_BYTES);
  const last = items[views.length - 1];
  const isCut = views.length < items.length;
  return {
    eventGroups: views,
    nextPageToken: more || isCut ? exchange.pageTokens.write(scope, cursorOf(last!, order)) : undefined,
  };
}

const NOTHING = { items: [], more: false };

type Filters = Pick<EventGroupListQuery, 'parties' | 'mediaTypes' | 'start' | 'end' | 'words'>;

/** `none` when the filters name the list's own side, but not the party whose list it is. */
function filtersOf(
  side: Side,
  party: string,
  query: RequestOf<'listEventGroups'>['query'],
): Filters | 'none' {
  const providers = query['filter.dataProviders'];
  const consumers = query['filter.measurementConsumers'];
  const own = side === 'provider' ? providers : consumers;
  if (own !== undefined && !own.includes(party)) return 'none';
  const words = query['filter.metadataSearchQuery']?.split(/\s+/).filter((word) => word !== '') ?? [];
  return {
    parties: sorted(side === 'provider' ? consumers : providers),
    mediaTypes: sorted(query['filter.mediaTypes']),
    start: rangeOf(
      query['filter.dataAvailabilityStartTimeOnOrAfter'],
      query['filter.dataAvailabilityStartTimeOnOrBefore'],
    ),
    end: rangeOf(
      query['filter.dataAvailabilityEndTimeOnOrAfter'],
      query['filter.dataAvailabilityEndTimeOnOrBefore'],
    ),
    words: words.length > 0 ? words : undefined,
  };
}

function rangeOf(from: Timestamp | undefined, to: Timestamp | undefined): Range | undefined {
  if (from === undefined && to === undefined) return undefined;
  return { from: from ?? '-infinity', to: to ?? 'infinity' };
}

function sorted(values: string[] | undefined): string[] | undefined {
  return values && [...new Set(values)].sort();
}

function orderOf(orderBy: RequestOf<'listEventGroups'>['query']['orderBy']): EventGroupOrder {
  if (orderBy === undefined) return 'create';
  return orderBy === 'dataAvailabilityStartTime' ? 'start' : 'start_desc';
}
