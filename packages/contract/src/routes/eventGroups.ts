import { DecodedMessage } from '../codecs/descriptor.ts';
import {
  EventGroup,
  EventGroupCreation,
  EventGroupInput,
  EventGroupReplacement,
  MEDIA_TYPES,
} from '../codecs/eventGroup.ts';
import * as s from '../json/schema.ts';
import { PATTERNS } from '../values/names.ts';
import { dangling, MAX_BATCH, nextPageToken, noQuery, paging, type Route, requestId } from './route.ts';

const collection = 'dataProviders/{dataProvider}/eventGroups' as const;
const own = { dataProvider: 'own' } as const;
const ofConsumer = { measurementConsumer: 'own' } as const;

const body = {
  form: 'resource',
  schema: EventGroupInput,
  resource: EventGroup,
  member: 'eventGroup',
} as const;

const createErrors = [
  dangling('MEASUREMENT_CONSUMER_NOT_FOUND'),
  dangling('EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND'),
  'CHECK_FAILED',
  'DESCRIPTOR_TOO_COSTLY',
] as const;
const updateErrors = [
  'EVENT_GROUP_NOT_FOUND',
  'EVENT_GROUP_INVALID_ARGS',
  dangling('EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND'),
  'CHECK_FAILED',
  'DESCRIPTOR_TOO_COSTLY',
] as const;

/** PATCH and PUT are the same: an update replaces the whole event group. */
const update = {
  operation: 'updateEventGroup',
  path: PATTERNS.eventGroup,
  access: own,
  mutates: true,
  query: noQuery,
  body: { ...body, create: false },
  response: EventGroup,
  errors: updateErrors,
} as const;

const list = {
  operation: 'listEventGroups',
  method: 'GET',
  query: s.object({
    ...paging,
    'filter.measurementConsumers': s.optional(
      s.array(s.nameOf('measurementConsumer')),
      'Only those of these measurement consumers; repeat the parameter.',
    ),
    'filter.dataProviders': s.optional(
      s.array(s.nameOf('dataProvider')),
      'Only those of these data providers; repeat the parameter.',
    ),
    'filter.mediaTypes': s.optional(
      s.array(s.enumOf(MEDIA_TYPES)),
      'Only those with any of these media types; repeat the parameter.',
    ),
    'filter.dataAvailabilityStartTimeOnOrAfter': s.optional(
      s.timestamp(),
      'Only those whose data begins then or later.',
    ),
    'filter.dataAvailabilityStartTimeOnOrBefore': s.optional(
      s.timestamp(),
      'Only those whose data begins then or earlier.',
    ),
    'filter.dataAvailabilityEndTimeOnOrAfter': s.optional(
      s.timestamp(),
      'Only those whose data ends then or later; an open end is later.',
    ),
    'filter.dataAvailabilityEndTimeOnOrBefore': s.optional(
      s.timestamp(),
      'Only those whose data ends then or earlier.',
    ),
    'filter.metadataSearchQuery': s.optional(
      s.text(500),
      'Only those whose brand or campaign name holds every word.',
    ),
    showDeleted: s.optional(s.boolean(), 'Whether deleted ones are listed too.'),
    orderBy: s.optional(
      s.enumOf(['dataAvailabilityStartTime', 'dataAvailabilityStartTime desc']),
      'By the begin of their data instead of by creation.',
    ),
  }),
  response: s.object({ eventGroups: s.array(EventGroup), nextPageToken }),
  errors: [],
} as const;
const get = {
  operation: 'getEventGroup',
  method: 'GET',
  query: noQuery,
  response: EventGroup,
  errors: ['EVENT_GROUP_NOT_FOUND'],
} as const;
const decode = {
  operation: 'decodeEventGroup',
  method: 'GET',
  verb: 'decode',
  query: noQuery,
  response: DecodedMessage,
  errors: ['EVENT_GROUP_NOT_FOUND', 'METADATA_NOT_READABLE', 'DESCRIPTOR_TOO_COSTLY'],
} as const;

const batchOf = <S extends s.TSchema>(request: S) =>
  s.object({ requests: s.array(request, { minItems: 1, maxItems: MAX_BATCH }) });
const EventGroups = s.object({ eventGroups: s.array(EventGroup) });

export const EVENT_GROUP_ROUTES = [
  {
    operation: 'createEventGroup',
    method: 'POST',
    path: collection,
    access: own,
    mutates: true,
    query: s.object(requestId),
    body: { ...body, create: true },
    response: EventGroup,
    errors: createErrors,
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
    errors: ['EVENT_GROUP_NOT_FOUND'],
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
    errors: [...createErrors, 'REQUEST_ID_REUSED'],
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
    errors: updateErrors,
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
