/** Event groups: written by their data provider, read by it and by the consumer they are described to. */
import {
  type EventGroup,
  ExchangeError,
  type RequestOf,
  type ResponseOf,
  type Timestamp,
} from '@measurement-exchange/contract';
import {
  cursorOf,
  type EventGroupListQuery,
  type EventGroupOrder,
  listEventGroups as list,
  type Range,
} from '../database/eventGroupList.ts';
import {
  getEventGroup as get,
  lockEventGroups,
  type Side,
  updateEventGroup as update,
} from '../database/eventGroups.ts';
import { getParties } from '../database/parties.ts';
import { partyName } from '../domain/access.ts';
import { eventGroupNotFound, remove, requireActive } from '../domain/eventGroup.ts';
import { type Call, type Exchange, record } from './context.ts';
import { sideOf, viewEventGroups } from './eventGroupViews.ts';
import { DEFAULT_PAGE_SIZE, type ListScope, MAX_PAGE_BYTES } from './paging.ts';
import { asValidated } from './views.ts';
import { createEventGroups, madeOf, updateEventGroups } from './writeEventGroups.ts';

export async function createEventGroup(
  x: Exchange,
  call: Call,
  { params, body, requestId, validateOnly }: RequestOf<'createEventGroup'>,
): Promise<EventGroup> {
  const provider = partyName('dataProvider', params.dataProvider);
  const parts = [{ at: '', input: body, requestId }];
  const [created] = await createEventGroups(x, call, {
    operation: 'createEventGroup',
    provider,
    parts,
    validateOnly,
  });
  return created!;
}

export async function updateEventGroup(
  x: Exchange,
  call: Call,
  { params, body, validateOnly }: RequestOf<'updateEventGroup'>,
): Promise<EventGroup> {
  const provider = partyName('dataProvider', params.dataProvider);
  const parts = [{ at: '', input: body, id: params.eventGroup }];
  const [updated] = await updateEventGroups(x, call, {
    operation: 'updateEventGroup',
    provider,
    parts,
    validateOnly,
  });
  return updated!;
}

export async function deleteEventGroup(
  x: Exchange,
  call: Call,
  { params, validateOnly }: RequestOf<'deleteEventGroup'>,
): Promise<EventGroup> {
  const provider = partyName('dataProvider', params.dataProvider);
  const id = params.eventGroup;
  const group = await x.db.tx('deleteEventGroup', async (tx) => {
    const locked = await lockEventGroups(tx, provider, [id]);
    const removed = remove(requireActive(locked.get(id), provider, id), x.clock());
    if (validateOnly) tx.rollback();
    else {
      update(tx, removed);
      record(tx, call, 'deleteEventGroup', madeOf(removed));
    }
    return removed;
  });
  const [view] = await viewEventGroups(x.db, 'provider', [group]);
  return validateOnly ? asValidated(view!, call.findings) : view!;
}

export async function getEventGroup(
  x: Exchange,
  _call: Call,
  { params, path }: RequestOf<'getEventGroup'>,
): Promise<EventGroup> {
  const { side, party } = sideOf(params);
  const group = await get(x.db, side, party, params.eventGroup);
  if (group === undefined) throw eventGroupNotFound(path);
  const [view] = await viewEventGroups(x.db, side, [group]);
  return view!;
}

export async function listEventGroups(
  x: Exchange,
  _call: Call,
  { params, query }: RequestOf<'listEventGroups'>,
): Promise<ResponseOf<'listEventGroups'>> {
  const { side, party } = sideOf(params);
  const filters = filtersOf(side, party, query);
  const order = orderOf(query.orderBy);
  const states = query.showDeleted ? ['ACTIVE', 'DELETED'] : ['ACTIVE'];
  const scope: ListScope = ['listEventGroups', party, states, order, filters];
  const start = { time: order === 'start_desc' ? 'infinity' : '-infinity', id: '' };
  const after = query.pageToken === undefined ? start : x.pageTokens.read(scope, query.pageToken);
  const limit = query.pageSize ?? DEFAULT_PAGE_SIZE;
  const page = { side, party, states, order, after, limit, maxBytes: MAX_PAGE_BYTES };
  const { items, more } = filters === 'none' ? NOTHING : await list(x.db, { ...page, ...filters });
  if (items.length === 0) await requireParty(x, side, party);
  return {
    eventGroups: await viewEventGroups(x.db, side, items),
    nextPageToken: more ? x.pageTokens.write(scope, cursorOf(items.at(-1)!, order)) : undefined,
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

/** An empty list of one's own is a list; the list of nobody is not. */
async function requireParty(x: Exchange, side: Side, party: string): Promise<void> {
  if ((await getParties(x.db, [party])).has(party)) return;
  throw side === 'provider'
    ? new ExchangeError('DATA_PROVIDER_NOT_FOUND', `${party} does not exist.`, {
        metadata: { dataProvider: party },
      })
    : new ExchangeError('MEASUREMENT_CONSUMER_NOT_FOUND', `${party} does not exist.`, {
        metadata: { measurementConsumer: party },
      });
}
