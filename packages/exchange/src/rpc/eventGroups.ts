/** Implements the EventGroups service: gets, creates, updates, deletes, and lists event groups. */
import { create } from '@bufbuild/protobuf';
import type { ServiceImpl } from '@connectrpc/connect';
import {
  type EventGroup as EventGroupResource,
  ExchangeError,
  formatName,
} from '@measurement-exchange/contract';
import {
  BatchCreateEventGroupsResponseSchema,
  BatchUpdateEventGroupsResponseSchema,
  type EventGroups,
  type GetEventGroupRequest,
  type ListEventGroupsRequest,
  ListEventGroupsRequest_OrderBy_FieldSchema,
  ListEventGroupsResponseSchema,
  MediaTypeSchema,
} from '@measurement-exchange/contract/rpc';
import { type Api, type Call, idsIn } from './api.ts';
import { fromEventGroup, toEventGroup } from './eventGroup.ts';
import { eventGroupIdsIn, eventGroupParentIn } from './names.ts';
import { shortPage } from './pages.ts';
import { unsupported } from './unsupported.ts';
import { enumName, enumNames, fromTimestamp, given } from './values.ts';

/**
 * The fields of an event group that the protobuf message cannot express. An update keeps these fields, with one
 * exception: new encrypted metadata replaces the readable metadata in `encryptedMetadata.metadata`.
 */
const INEXPRESSIBLE = ['attributes', 'encryptedMetadata.metadata'];

export function eventGroups(api: Api): Partial<ServiceImpl<typeof EventGroups>> {
  return {
    getEventGroup: api.unary(async (message, call) => toEventGroup(await getEventGroup(message, call))),

    createEventGroup: api.unary(async ({ parent, eventGroup, requestId }, call) => {
      const request = {
        body: eventGroup && fromEventGroup(eventGroup, 'eventGroup'),
        within: 'eventGroup',
        requestId: given(requestId),
      };
      const params = idsIn('dataProvider', parent, 'parent');
      return toEventGroup(await call.run('createEventGroup', params, request));
    }),

    updateEventGroup: api.unary(async ({ eventGroup }, call) => {
      const params = idsIn('eventGroup', eventGroup?.name ?? '', 'eventGroup.name');
      const body = fromEventGroup(eventGroup!, 'eventGroup');
      const request = { body, within: 'eventGroup', keeps: INEXPRESSIBLE };
      return toEventGroup(await call.run('updateEventGroup', params, request));
    }),

    deleteEventGroup: api.unary(async ({ name }, call) =>
      toEventGroup(await call.run('deleteEventGroup', idsIn('eventGroup', name))),
    ),

    batchCreateEventGroups: api.unary(async ({ parent, requests }, call) => {
      const parts = requests.map(({ parent, eventGroup, requestId }, i) => ({
        parent: given(parent),
        eventGroup: eventGroup && fromEventGroup(eventGroup, `requests[${i}].eventGroup`),
        requestId: given(requestId),
      }));
      const params = idsIn('dataProvider', parent, 'parent');
      const created = await call.run('batchCreateEventGroups', params, { body: { requests: parts } });
      return create(BatchCreateEventGroupsResponseSchema, {
        eventGroups: created.eventGroups.map(toEventGroup),
      });
    }),

    batchUpdateEventGroups: api.unary(async ({ parent, requests }, call) => {
      const params = idsIn('dataProvider', parent, 'parent');
      const parts = requests.map(({ eventGroup }, i) => ({
        eventGroup: eventGroup && {
          name: eventGroup.name,
          ...fromEventGroup(eventGroup, `requests[${i}].eventGroup`),
        },
      }));
      const request = { body: { requests: parts }, keeps: INEXPRESSIBLE };
      const updated = await call.run('batchUpdateEventGroups', params, request);
      return create(BatchUpdateEventGroupsResponseSchema, {
        eventGroups: updated.eventGroups.map(toEventGroup),
      });
    }),

    listEventGroups: api.unary(async (message, call) =>
      call.runPage(
        'listEventGroups',
        eventGroupParentIn(message.parent, 'parent'),
        { query: queryOf(message) },
        (page) =>
          create(ListEventGroupsResponseSchema, {
            eventGroups: page.eventGroups.map(toEventGroup),
            nextPageToken: page.nextPageToken ?? '',
          }),
        (page) => page.eventGroups,
      ),
    ),
  };
}

/**
 * Returns an event group by name. A consumer can use the canonical name, which starts with the data provider, and still
 * gets the consumer's view of the event group.
 */
async function getEventGroup({ name }: GetEventGroupRequest, call: Call): Promise<EventGroupResource> {
  const ids = eventGroupIdsIn(name);
  const { kind, id } = call.principal;
  if (kind !== 'measurementConsumer' || !('dataProvider' in ids)) return call.run('getEventGroup', ids);
  const { dataProvider, eventGroup } = ids;
  const own = formatName('measurementConsumerEventGroup', { measurementConsumer: id, eventGroup });
  try {
    const found = await call.run('getEventGroup', { measurementConsumer: id, eventGroup });
    if (found.dataProvider === formatName('dataProvider', { dataProvider })) return found;
  } catch (error) {
    if (!(error instanceof ExchangeError) || error.metadata.eventGroup !== own) throw error;
  }
  throw new ExchangeError('EVENT_GROUP_NOT_FOUND', `${name} does not exist.`, {
    metadata: { eventGroup: name },
  });
}

function queryOf({ filter, pageSize, pageToken, showDeleted, orderBy }: ListEventGroupsRequest) {
  const field = enumName(ListEventGroupsRequest_OrderBy_FieldSchema, orderBy?.field ?? 0);
  const order = field === 'DATA_AVAILABILITY_START_TIME' ? 'dataAvailabilityStartTime' : field;
  unsupported('filter', filter, ['dataAvailabilityIntersects', 'activityContains']);
  return {
    pageSize: shortPage(pageSize),
    pageToken: given(pageToken),
    showDeleted,
    orderBy: orderBy?.descending && order !== undefined ? `${order} desc` : order,
    'filter.measurementConsumers': listed(filter?.measurementConsumerIn),
    'filter.dataProviders': listed(filter?.dataProviderIn),
    'filter.mediaTypes': filter && enumNames(MediaTypeSchema, filter.mediaTypesIntersect),
    'filter.dataAvailabilityStartTimeOnOrAfter': fromTimestamp(filter?.dataAvailabilityStartTimeOnOrAfter),
    'filter.dataAvailabilityStartTimeOnOrBefore': fromTimestamp(filter?.dataAvailabilityStartTimeOnOrBefore),
    'filter.dataAvailabilityEndTimeOnOrAfter': fromTimestamp(filter?.dataAvailabilityEndTimeOnOrAfter),
    'filter.dataAvailabilityEndTimeOnOrBefore': fromTimestamp(filter?.dataAvailabilityEndTimeOnOrBefore),
    'filter.metadataSearchQuery': given(filter?.metadataSearchQuery),
    // By default, return only campaigns, because older clients do not know other types of entities.
    'filter.entityTypes': listed(filter?.entityTypeIn) ?? ['campaign'],
  };
}

function listed(values: string[] | undefined): string[] | undefined {
  return values?.length === 0 ? undefined : values;
}
