import { DecodedMessage } from '../codecs/descriptor.ts';
import {
  EventGroup,
  EventGroupCreation,
  EventGroupInput,
  EventGroupReplacement,
  MEDIA_TYPES,
} from '../codecs/eventGroup.ts';
import { PATTERNS } from '../names.ts';
import {
  array,
  boolean,
  enumOf,
  nameOf,
  object,
  optional,
  type TSchema,
  text,
  timestamp,
} from '../schema.ts';
import { MAX_BATCH, nextPageToken, noQuery, paging, type Route, requestId } from './route.ts';

const collection = 'dataProviders/{dataProvider}/eventGroups' as const;
const own = { dataProvider: 'own' } as const;
const ofConsumer = { measurementConsumer: 'own' } as const;

const body = {
  form: 'resource',
  schema: EventGroupInput,
  resource: EventGroup,
  member: 'eventGroup',
} as const;

/** PATCH and PUT are the same: an update replaces the whole event group. */
const update = {
  operation: 'updateEventGroup',
  path: PATTERNS.eventGroup,
  access: own,
  mutates: true,
  query: noQuery,
  body: { ...body, create: false },
  response: EventGroup,
} as const;

const list = {
  operation: 'listEventGroups',
  method: 'GET',
  query: object({
    ...paging,
    'filter.measurementConsumers': optional(array(nameOf('measurementConsumer'))),
    'filter.dataProviders': optional(array(nameOf('dataProvider'))),
    'filter.mediaTypes': optional(array(enumOf(MEDIA_TYPES))),
    'filter.dataAvailabilityStartTimeOnOrAfter': optional(timestamp()),
    'filter.dataAvailabilityStartTimeOnOrBefore': optional(timestamp()),
    'filter.dataAvailabilityEndTimeOnOrAfter': optional(timestamp()),
    'filter.dataAvailabilityEndTimeOnOrBefore': optional(timestamp()),
    'filter.metadataSearchQuery': optional(text(500)),
    showDeleted: optional(boolean()),
    orderBy: optional(enumOf(['dataAvailabilityStartTime', 'dataAvailabilityStartTime desc'])),
  }),
  response: object({ eventGroups: array(EventGroup), nextPageToken }),
} as const;
const get = { operation: 'getEventGroup', method: 'GET', query: noQuery, response: EventGroup } as const;
const decode = {
  operation: 'decodeEventGroup',
  method: 'GET',
  verb: 'decode',
  query: noQuery,
  response: DecodedMessage,
} as const;

const batchOf = <S extends TSchema>(request: S) =>
  object({ requests: array(request, { minItems: 1, maxItems: MAX_BATCH }) });
const EventGroups = object({ eventGroups: array(EventGroup) });

export const EVENT_GROUP_ROUTES = [
  {
    operation: 'createEventGroup',
    method: 'POST',
    path: collection,
    access: own,
    mutates: true,
    query: object(requestId),
    body: { ...body, create: true },
    response: EventGroup,
    summary: 'Describe a group of events to a measurement consumer',
  },
  { ...update, method: 'PATCH', summary: 'Replace an event group' },
  { ...update, method: 'PUT', summary: 'Replace an event group' },
  {
    operation: 'deleteEventGroup',
    method: 'DELETE',
    path: PATTERNS.eventGroup,
    access: own,
    mutates: true,
    query: noQuery,
    response: EventGroup,
    summary: 'Delete an event group: it stays readable as DELETED, without its metadata',
  },
  {
    operation: 'batchCreateEventGroups',
    method: 'POST',
    path: collection,
    verb: 'batchCreate',
    access: own,
    mutates: true,
    query: noQuery,
    body: { form: 'message', schema: batchOf(EventGroupCreation), also: 'parent' },
    response: EventGroups,
    summary: 'Create up to 50 event groups, all or nothing',
  },
  {
    operation: 'batchUpdateEventGroups',
    method: 'POST',
    path: collection,
    verb: 'batchUpdate',
    access: own,
    mutates: true,
    query: noQuery,
    body: { form: 'message', schema: batchOf(EventGroupReplacement), also: 'parent' },
    response: EventGroups,
    summary: 'Replace up to 50 event groups, all or nothing',
  },
  { ...get, path: PATTERNS.eventGroup, access: own, summary: 'Read an event group' },
  {
    ...get,
    path: PATTERNS.measurementConsumerEventGroup,
    access: ofConsumer,
    summary: 'Read an event group that was described to a measurement consumer',
  },
  { ...list, path: collection, access: own, summary: 'List the event groups of a data provider' },
  {
    ...list,
    path: 'measurementConsumers/{measurementConsumer}/eventGroups',
    access: ofConsumer,
    summary: 'List the event groups that were described to a measurement consumer',
  },
  {
    ...decode,
    path: PATTERNS.eventGroup,
    access: own,
    summary: 'Render the readable metadata of an event group as JSON',
  },
  {
    ...decode,
    path: PATTERNS.measurementConsumerEventGroup,
    access: ofConsumer,
    summary: 'Render the readable metadata of an event group as JSON',
  },
] as const satisfies readonly Route[];
