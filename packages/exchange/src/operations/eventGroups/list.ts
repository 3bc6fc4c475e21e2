import type { RequestOf, Timestamp } from '@measurement-exchange/contract';
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
import type { Handler } from '../context.ts';
import { MAX_PAGE_BYTES, START } from '../paging.ts';
import { sideOf, viewEventGroups } from './view.ts';

export const listEventGroups: Handler<'listEventGroups'> = async (exchange, call, { params, query }) => {
  const { side, party } = sideOf(params);
  const filters = filtersOf(side, party, query);
  const order: EventGroupOrder = query.orderBy === undefined ? 'create' : ORDERS[query.orderBy];
  const states = query.showDeleted ? ['ACTIVE', 'DELETED'] : ['ACTIVE'];
  const page = exchange.pageTokens.page(['listEventGroups', party, states, order, filters], query);
  const after = page.after === START && order === 'start_desc' ? { time: 'infinity', id: '' } : page.after;
  const listed = { side, party, states, order, after, limit: page.limit, maxBytes: MAX_PAGE_BYTES };
  const { items, more } = filters === 'none' ? NOTHING : await list(exchange.db, { ...listed, ...filters });
  if (items.length === 0 && !(await partyExists(exchange.db, party))) throw partyNotFound(party);
  const views = await viewEventGroups(exchange.db, call, side, items, MAX_PAGE_BYTES);
  const shown = items.slice(0, views.length);
  return {
    eventGroups: views,
    nextPageToken: page.next(more || shown.length < items.length, shown, (last) => cursorOf(last, order)),
  };
};

const ORDERS = {
  dataAvailabilityStartTime: 'start',
  'dataAvailabilityStartTime desc': 'start_desc',
} as const;
const NOTHING = { items: [], more: false };

type Filters = Pick<
  EventGroupListQuery,
  'parties' | 'mediaTypes' | 'start' | 'end' | 'words' | 'entityTypes'
>;

/** Returns the filters of a query for the event groups of `party`, or `none` if the query excludes this party. */
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
    entityTypes: sorted(query['filter.entityTypes']),
  };
}

function rangeOf(from: Timestamp | undefined, to: Timestamp | undefined): Range | undefined {
  if (from === undefined && to === undefined) return undefined;
  return { from: from ?? '-infinity', to: to ?? 'infinity' };
}

function sorted(values: string[] | undefined): string[] | undefined {
  return values && [...new Set(values)].sort();
}
