/** The EventGroups service. */
import { create } from '@bufbuild/protobuf';
import type { ServiceImpl } from '@connectrpc/connect';
import {
  type EventGroup as EventGroupResource,
  ExchangeError,
  formatName,
  JsonText,
  type NativeObject,
  type NativeValue,
  parseJson,
  parseName,
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
      const body = { ...(await keptOf(params, call)), ...fromEventGroup(eventGroup!, 'eventGroup') };
      const request = { body, within: 'eventGroup' };
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
      const parts: NativeObject[] = [];
      for (const [i, { eventGroup }] of requests.entries()) {
        const ids = parseName('eventGroup', eventGroup?.name ?? '');
        // Read nothing for an event group of another provider, because the operation rejects its name.
        const kept = ids?.dataProvider === params.dataProvider ? await keptOf(ids, call) : {};
        const given = eventGroup && {
          name: eventGroup.name,
          ...kept,
          ...fromEventGroup(eventGroup, `requests[${i}].eventGroup`),
        };
        parts.push({ eventGroup: given });
      }
      const updated = await call.run('batchUpdateEventGroups', params, { body: { requests: parts } });
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

type EventGroupMetadata = NonNullable<NonNullable<EventGroupResource['encryptedMetadata']>['metadata']>;

/**
 * Returns an event group by name. A consumer may use the canonical name, which starts with the data provider, and still
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

/**
 * Returns the fields of the event group that its protobuf message cannot express. An update must send them again,
 * because it replaces the whole event group.
 */
async function keptOf(ids: { dataProvider: string; eventGroup: string }, call: Call): Promise<NativeObject> {
  try {
    const { attributes, encryptedMetadata } = await call.run('getEventGroup', ids);
    const readable = encryptedMetadata?.metadata;
    return {
      attributes,
      ...(readable && { encryptedMetadata: { metadata: inJson(readable) } }),
    } as NativeObject;
  } catch (error) {
    // Ignore this error, because the update reports it after the violations of the request.
    if (error instanceof ExchangeError && error.reason === 'EVENT_GROUP_NOT_FOUND') return {};
    throw error;
  }
}

/** Converts the metadata from JSON text, which the operation returns, to a JSON value, which the operation accepts. */
function inJson({ eventGroupMetadataDescriptor, metadata }: EventGroupMetadata): NativeObject {
  const value = metadata instanceof JsonText ? parseJson(metadata.text) : (metadata as NativeValue);
  return { eventGroupMetadataDescriptor, metadata: value };
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
