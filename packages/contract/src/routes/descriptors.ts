import {
  DecodedMessage,
  DecodeRequest,
  DiffRequest,
  EventGroupMetadataDescriptor,
  EventGroupMetadataDescriptorInput,
  SchemaDiff,
} from '../codecs/descriptor.ts';
import * as s from '../json/schema.ts';
import { PATTERNS } from '../values/names.ts';
import * as row from './route.ts';

const descriptor = PATTERNS.eventGroupMetadataDescriptor;
const descriptors = 'dataProviders/{dataProvider}/eventGroupMetadataDescriptors' as const;
const member = 'eventGroupMetadataDescriptor';
const ask = {
  method: 'POST',
  path: descriptor,
  access: { measurementConsumer: 'any', dataProvider: 'own' },
  query: row.noQuery,
} as const;

/** PATCH and PUT are the same: an update replaces the whole descriptor. */
const update = {
  ...row.UPDATE,
  operation: 'updateEventGroupMetadataDescriptor',
  path: descriptor,
  access: { dataProvider: 'own' },
  query: s.object(row.descriptorSetEncoding),
  body: row.updated(member, EventGroupMetadataDescriptorInput, EventGroupMetadataDescriptor),
  response: EventGroupMetadataDescriptor,
  errors: [
    'EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND',
    'EVENT_GROUP_METADATA_DESCRIPTOR_ALREADY_EXISTS_WITH_TYPE',
    'SCHEMA_CHANGE_BREAKING',
    'CHECK_FAILED',
    'DESCRIPTOR_TOO_COSTLY',
  ],
} as const;

export const DESCRIPTOR_ROUTES = [
  {
    ...row.CREATE,
    operation: 'createEventGroupMetadataDescriptor',
    path: descriptors,
    access: { dataProvider: 'own' },
    query: s.object({ ...row.requestId, ...row.descriptorSetEncoding }),
    body: row.created(member, EventGroupMetadataDescriptorInput, EventGroupMetadataDescriptor),
    response: EventGroupMetadataDescriptor,
    errors: [
      'EVENT_GROUP_METADATA_DESCRIPTOR_ALREADY_EXISTS_WITH_TYPE',
      'CHECK_FAILED',
      'DESCRIPTOR_TOO_COSTLY',
    ],
    summary: 'Register a metadata schema',
  },
  { ...update, summary: 'Replace a metadata schema' },
  { ...update, method: 'PUT', summary: 'Replace a metadata schema' },
  {
    ...row.READ,
    operation: 'getEventGroupMetadataDescriptor',
    path: descriptor,
    access: { measurementConsumer: 'any', dataProvider: 'own' },
    query: s.object(row.descriptorSetEncoding),
    response: EventGroupMetadataDescriptor,
    errors: ['EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND'],
    summary: 'Read a metadata schema',
  },
  {
    ...row.READ,
    operation: 'batchGetEventGroupMetadataDescriptors',
    path: descriptors,
    verb: 'batchGet',
    access: { measurementConsumer: 'all', dataProvider: 'own' },
    query: s.object({
      names: s.array(s.nameOf('eventGroupMetadataDescriptor'), {
        minItems: 1,
        maxItems: row.MAX_BATCH,
        description: 'The names to read; repeat the parameter.',
      }),
      ...row.descriptorSetEncoding,
    }),
    response: s.object({ eventGroupMetadataDescriptors: s.array(EventGroupMetadataDescriptor) }),
    errors: ['EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND', 'RESPONSE_TOO_LARGE'],
    summary: 'Read several metadata schemas, all or nothing',
  },
  {
    ...row.LIST,
    operation: 'listEventGroupMetadataDescriptors',
    path: descriptors,
    access: { measurementConsumer: 'all', dataProvider: 'own' },
    query: s.object({ ...row.paging, ...row.descriptorSetEncoding }),
    response: s.object({
      eventGroupMetadataDescriptors: s.array(EventGroupMetadataDescriptor),
      nextPageToken: row.nextPageToken,
    }),
    errors: ['DATA_PROVIDER_NOT_FOUND'],
    summary: 'List the metadata schemas of one data provider, or of all (`dataProviders/-`)',
  },
  {
    ...ask,
    operation: 'diffEventGroupMetadataDescriptor',
    verb: 'diff',
    body: row.message(DiffRequest),
    response: SchemaDiff,
    errors: ['EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND', 'DESCRIPTOR_TOO_COSTLY'],
    summary: 'What a new descriptor set would change, and what of it would break readers',
  },
  {
    ...ask,
    operation: 'decodeMetadata',
    verb: 'decode',
    body: row.message(DecodeRequest),
    response: DecodedMessage,
    errors: ['EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND', 'METADATA_NOT_READABLE', 'DESCRIPTOR_TOO_COSTLY'],
    summary: 'Render a serialized metadata message as JSON',
  },
] as const satisfies readonly row.Route[];
