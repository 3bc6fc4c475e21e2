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
import * as row from './route.ts';

const own = { path: PATTERNS.eventGroup, access: { dataProvider: 'own' } } as const;
const collection = {
  path: 'dataProviders/{dataProvider}/eventGroups',
  access: { dataProvider: 'own' },
} as const;
const described = {
  path: PATTERNS.measurementConsumerEventGroup,
  access: { measurementConsumer: 'own' },
} as const;

const createErrors = [
  row.dangling('MEASUREMENT_CONSUMER_NOT_FOUND'),
  row.dangling('EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND'),
  'CHECK_FAILED',
  'DESCRIPTOR_TOO_COSTLY',
] as const;
const updateErrors = [
  'EVENT_GROUP_NOT_FOUND',
  'EVENT_GROUP_INVALID_ARGS',
  row.dangling('EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND'),
  'CHECK_FAILED',
  'DESCRIPTOR_TOO_COSTLY',
] as const;

/** PATCH and PUT are the same: an update replaces the whole event group. */
const update = {
  ...row.UPDATE,
  ...own,
  operation: 'updateEventGroup',
  body: row.updated('eventGroup', EventGroupInput, EventGroup),
  response: EventGroup,
  errors: updateErrors,
} as const;

const list = {
  ...row.LIST,
  operation: 'listEventGroups',
  query: s.object({
    ...row.paging,
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
    'filter.entityTypes': s.optional(
      s.array(s.text(63, 1)),
      'Only those with any of these types of entity, `campaign` where a group names none; repeat the parameter.',
    ),
    showDeleted: s.optional(s.boolean(), 'Whether deleted ones are listed too.'),
    orderBy: s.optional(
      s.enumOf(['dataAvailabilityStartTime', 'dataAvailabilityStartTime desc']),
      'By the begin of their data instead of by creation.',
    ),
  }),
  response: s.object({ eventGroups: s.array(EventGroup), nextPageToken: row.nextPageToken }),
} as const;
const get = {
  ...row.READ,
  operation: 'getEventGroup',
  response: EventGroup,
  errors: ['EVENT_GROUP_NOT_FOUND'],
} as const;
const decode = {
  ...row.READ,
  operation: 'decodeEventGroup',
  verb: 'decode',
  response: DecodedMessage,
  errors: ['EVENT_GROUP_NOT_FOUND', 'METADATA_NOT_READABLE', 'DESCRIPTOR_TOO_COSTLY'],
} as const;

/** A batch changes either all of its event groups or none. */
const batch = {
  ...row.ACT,
  ...collection,
  response: s.object({ eventGroups: s.array(EventGroup) }),
} as const;
const batchOf = <S extends s.TSchema>(request: S) =>
  ({
    form: 'message',
    schema: s.object({ requests: s.array(request, { minItems: 1, maxItems: row.MAX_BATCH }) }),
    also: 'parent',
  }) as const;

export const EVENT_GROUP_ROUTES = [
  {
    ...row.CREATE,
    ...collection,
    operation: 'createEventGroup',
    query: s.object(row.requestId),
    body: row.created('eventGroup', EventGroupInput, EventGroup),
    response: EventGroup,
    errors: createErrors,
    summary: 'Describe a group of events to a measurement consumer',
  },
  { ...update, summary: 'Replace an event group' },
  { ...update, method: 'PUT', summary: 'Replace an event group' },
  {
    ...row.DELETE,
    ...own,
    operation: 'deleteEventGroup',
    response: EventGroup,
    errors: ['EVENT_GROUP_NOT_FOUND'],
    summary: 'Delete an event group: it stays readable as DELETED, without its metadata',
  },
  {
    ...batch,
    operation: 'batchCreateEventGroups',
    verb: 'batchCreate',
    body: batchOf(EventGroupCreation),
    errors: [...createErrors, 'REQUEST_ID_REUSED'],
    summary: 'Create up to 50 event groups, all or nothing',
  },
  {
    ...batch,
    operation: 'batchUpdateEventGroups',
    verb: 'batchUpdate',
    body: batchOf(EventGroupReplacement),
    errors: updateErrors,
    summary: 'Replace up to 50 event groups, all or nothing',
  },
  { ...get, ...own, summary: 'Read an event group' },
  { ...get, ...described, summary: 'Read an event group that was described to a measurement consumer' },
  { ...list, ...collection, summary: 'List the event groups of a data provider' },
  {
    ...list,
    path: 'measurementConsumers/{measurementConsumer}/eventGroups',
    access: { measurementConsumer: 'own' },
    summary: 'List the event groups that were described to a measurement consumer',
  },
  { ...decode, ...own, summary: 'Render the readable metadata of an event group as JSON' },
  { ...decode, ...described, summary: 'Render the readable metadata of an event group as JSON' },
] as const satisfies readonly row.Route[];
