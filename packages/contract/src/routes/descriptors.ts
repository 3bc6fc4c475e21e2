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
import {
  descriptorSetEncoding,
  MAX_BATCH,
  nextPageToken,
  noQuery,
  paging,
  type Route,
  requestId,
} from './route.ts';

const descriptor = PATTERNS.eventGroupMetadataDescriptor;
const descriptors = 'dataProviders/{dataProvider}/eventGroupMetadataDescriptors' as const;

const body = {
  form: 'resource',
  schema: EventGroupMetadataDescriptorInput,
  resource: EventGroupMetadataDescriptor,
  member: 'eventGroupMetadataDescriptor',
} as const;

/** PATCH and PUT are the same: an update replaces the whole descriptor. */
const update = {
  operation: 'updateEventGroupMetadataDescriptor',
  path: descriptor,
  access: { dataProvider: 'own' },
  mutates: true,
  query: s.object(descriptorSetEncoding),
  body: { ...body, create: false },
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
    operation: 'createEventGroupMetadataDescriptor',
    method: 'POST',
    path: descriptors,
    access: { dataProvider: 'own' },
    mutates: true,
    query: s.object({ ...requestId, ...descriptorSetEncoding }),
    body: { ...body, create: true },
    response: EventGroupMetadataDescriptor,
    errors: [
      'EVENT_GROUP_METADATA_DESCRIPTOR_ALREADY_EXISTS_WITH_TYPE',
      'CHECK_FAILED',
      'DESCRIPTOR_TOO_COSTLY',
    ],
    summary: 'Register a metadata schema',
  },
  { ...update, method: 'PATCH', summary: 'Replace a metadata schema' },
  { ...update, method: 'PUT', summary: 'Replace a metadata schema' },
  {
    operation: 'getEventGroupMetadataDescriptor',
    method: 'GET',
    path: descriptor,
    access: { measurementConsumer: 'any', dataProvider: 'own' },
    query: s.object(descriptorSetEncoding),
    response: EventGroupMetadataDescriptor,
    errors: ['EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND'],
    summary: 'Read a metadata schema',
  },
  {
    operation: 'batchGetEventGroupMetadataDescriptors',
    method: 'GET',
    path: descriptors,
    verb: 'batchGet',
    access: { measurementConsumer: 'all', dataProvider: 'own' },
    query: s.object({
      names: s.array(s.nameOf('eventGroupMetadataDescriptor'), {
        minItems: 1,
        maxItems: MAX_BATCH,
        description: 'The names to read; repeat the parameter.',
      }),
      ...descriptorSetEncoding,
    }),
    response: s.object({ eventGroupMetadataDescriptors: s.array(EventGroupMetadataDescriptor) }),
    errors: ['EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND', 'RESPONSE_TOO_LARGE'],
    summary: 'Read several metadata schemas, all or nothing',
  },
  {
    operation: 'listEventGroupMetadataDescriptors',
    method: 'GET',
    path: descriptors,
    access: { measurementConsumer: 'all', dataProvider: 'own' },
    query: s.object({ ...paging, ...descriptorSetEncoding }),
    response: s.object({
      eventGroupMetadataDescriptors: s.array(EventGroupMetadataDescriptor),
      nextPageToken,
    }),
    errors: ['DATA_PROVIDER_NOT_FOUND'],
    summary: 'List the metadata schemas of one data provider, or of all (`dataProviders/-`)',
  },
  {
    operation: 'diffEventGroupMetadataDescriptor',
    method: 'POST',
    path: descriptor,
    verb: 'diff',
    access: { measurementConsumer: 'any', dataProvider: 'own' },
    query: noQuery,
    body: { form: 'message', schema: DiffRequest, also: 'name' },
    response: SchemaDiff,
    errors: ['EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND', 'DESCRIPTOR_TOO_COSTLY'],
    summary: 'What a new descriptor set would change, and what of it would break readers',
  },
  {
    operation: 'decodeMetadata',
    method: 'POST',
    path: descriptor,
    verb: 'decode',
    access: { measurementConsumer: 'any', dataProvider: 'own' },
    query: noQuery,
    body: { form: 'message', schema: DecodeRequest, also: 'name' },
    response: DecodedMessage,
    errors: ['EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND', 'METADATA_NOT_READABLE', 'DESCRIPTOR_TOO_COSTLY'],
    summary: 'Render a serialized metadata message as JSON',
  },
] as const satisfies readonly Route[];
