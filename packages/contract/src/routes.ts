/**
 * THE table: every operation with its binding, its shapes and who may call it. The exchange serves it, clients
 * call it, OpenAPI is printed from it, the caller-matrix test is generated from it. A row without `access`
 * does not compile.
 */
import { Certificate } from './codecs/certificate.ts';
import { EventGroupMetadataDescriptor, EventGroupMetadataDescriptorInput } from './codecs/descriptor.ts';
import { Measurement, MeasurementInput } from './codecs/measurement.ts';
import { FulfillDirectRequest, RefuseRequest, Requisition } from './codecs/requisition.ts';
import { Timeline, WhoAmI } from './codecs/timeline.ts';
import { PATTERNS, type PatternName, type Vars } from './names.ts';
import {
  array,
  enumOf,
  nameOf,
  object,
  optional,
  pageSize,
  type TSchema,
  text,
  timestamp,
} from './schema.ts';
import { MEASUREMENT_STATES, REQUISITION_STATES } from './states.ts';

export const API_PREFIX = '/v2alpha';

/** The kinds of callers; the first three are parties and own the names that begin with them. */
export type PrincipalKind = 'measurementConsumer' | 'dataProvider' | 'duchy' | 'operator';

/**
 * own: the first ID of the path is the caller's. any: whosever it is. all: also the wildcard `-`.
 * A kind that is not mentioned is denied.
 */
export type Access = Partial<Record<PrincipalKind, 'own' | 'any' | 'all'>>;

export type Body =
  /** A request message; `also` names what a generic client may repeat from the path. */
  | { form: 'message'; schema: TSchema; also: 'name' | 'parent' }
  /** The resource itself, or wrapped under `member`, beside an optional requestId. */
  | { form: 'resource'; schema: TSchema; resource: TSchema; member: string; create: boolean };

export interface Route {
  operation: string;
  method: 'GET' | 'POST' | 'PATCH' | 'PUT';
  /** Below the API prefix; IDs in braces. */
  path: string;
  verb?: string;
  access: Access;
  /** Mutations take `validateOnly`. */
  mutates?: boolean;
  query?: TSchema;
  body?: Body;
  response: TSchema;
  summary: string;
}

/** Batches are capped (spec: 50 measurements; the same for descriptors). */
export const MAX_BATCH = 50;

const paging = { pageSize: optional(pageSize()), pageToken: optional(text(2000)) };
const noQuery = object({});
const descriptorSetEncoding = { descriptorSetEncoding: optional(enumOf(['JSON', 'BASE64'])) };
const create = { requestId: optional(text(255, 1)) };

const DescriptorList = object({
  eventGroupMetadataDescriptors: array(EventGroupMetadataDescriptor),
  nextPageToken: optional(text(2000)),
});
const RequisitionList = object({
  requisitions: array(Requisition),
  nextPageToken: optional(text(2000)),
});
const requisitionFilters = object({
  ...paging,
  'filter.states': optional(array(enumOf(REQUISITION_STATES))),
  'filter.updatedAfter': optional(timestamp()),
});
const MeasurementList = object({
  measurements: array(Measurement),
  nextPageToken: optional(text(2000)),
});

const descriptor = PATTERNS.eventGroupMetadataDescriptor;
const descriptors = 'dataProviders/{dataProvider}/eventGroupMetadataDescriptors' as const;
const measurements = 'measurementConsumers/{measurementConsumer}/measurements' as const;
const descriptorBody = {
  form: 'resource',
  schema: EventGroupMetadataDescriptorInput,
  resource: EventGroupMetadataDescriptor,
  member: 'eventGroupMetadataDescriptor',
} as const;

/** PATCH and PUT are the same: an update replaces the whole descriptor. */
const updateDescriptor = {
  operation: 'updateEventGroupMetadataDescriptor',
  path: descriptor,
  access: { dataProvider: 'own' },
  mutates: true,
  query: object(descriptorSetEncoding),
  body: { ...descriptorBody, create: false },
  response: EventGroupMetadataDescriptor,
} as const;

/** Counterparties read each other's certificates to check signatures; competitors do not. */
const certificateAccess = {
  measurementConsumer: 'any',
  dataProvider: 'any',
  duchy: 'any',
  operator: 'any',
} as const;
const getCertificate = {
  operation: 'getCertificate',
  method: 'GET',
  query: noQuery,
  response: Certificate,
} as const;

export const ROUTES = [
  {
    operation: 'whoAmI',
    method: 'GET',
    path: 'whoami',
    access: { measurementConsumer: 'any', dataProvider: 'any', duchy: 'any', operator: 'any' },
    query: noQuery,
    response: WhoAmI,
    summary: 'The principal that the bearer token stands for',
  },

  {
    operation: 'createEventGroupMetadataDescriptor',
    method: 'POST',
    path: descriptors,
    access: { dataProvider: 'own' },
    mutates: true,
    query: object({ ...create, ...descriptorSetEncoding }),
    body: { ...descriptorBody, create: true },
    response: EventGroupMetadataDescriptor,
    summary: 'Register a metadata schema',
  },
  { ...updateDescriptor, method: 'PATCH', summary: 'Replace a metadata schema' },
  { ...updateDescriptor, method: 'PUT', summary: 'Replace a metadata schema' },
  {
    operation: 'getEventGroupMetadataDescriptor',
    method: 'GET',
    path: descriptor,
    access: { measurementConsumer: 'any', dataProvider: 'own' },
    query: object(descriptorSetEncoding),
    response: EventGroupMetadataDescriptor,
    summary: 'Read a metadata schema',
  },
  {
    operation: 'batchGetEventGroupMetadataDescriptors',
    method: 'GET',
    path: descriptors,
    verb: 'batchGet',
    access: { measurementConsumer: 'all', dataProvider: 'own' },
    query: object({
      names: array(nameOf('eventGroupMetadataDescriptor'), { minItems: 1, maxItems: MAX_BATCH }),
      ...descriptorSetEncoding,
    }),
    response: object({ eventGroupMetadataDescriptors: array(EventGroupMetadataDescriptor) }),
    summary: 'Read several metadata schemas, all or nothing',
  },
  {
    operation: 'listEventGroupMetadataDescriptors',
    method: 'GET',
    path: descriptors,
    access: { measurementConsumer: 'all', dataProvider: 'own' },
    query: object({ ...paging, ...descriptorSetEncoding }),
    response: DescriptorList,
    summary: 'List the metadata schemas of one data provider, or of all (`dataProviders/-`)',
  },

  {
    operation: 'listRequisitions',
    method: 'GET',
    path: 'dataProviders/{dataProvider}/requisitions',
    access: { dataProvider: 'own' },
    query: requisitionFilters,
    response: RequisitionList,
    summary: 'List the requisitions of a data provider',
  },
  {
    operation: 'listMeasurementRequisitions',
    method: 'GET',
    path: `${measurements}/{measurement}/requisitions`,
    access: { measurementConsumer: 'own' },
    query: requisitionFilters,
    response: RequisitionList,
    summary: 'List the requisitions of a measurement',
  },
  {
    operation: 'getRequisition',
    method: 'GET',
    path: PATTERNS.requisition,
    access: { dataProvider: 'own' },
    query: noQuery,
    response: Requisition,
    summary: 'Read a requisition',
  },
  {
    operation: 'getMeasurementRequisition',
    method: 'GET',
    path: PATTERNS.measurementRequisition,
    access: { measurementConsumer: 'own' },
    query: noQuery,
    response: Requisition,
    summary: 'Read a requisition of a measurement',
  },
  {
    operation: 'fulfillDirectRequisition',
    method: 'POST',
    path: PATTERNS.requisition,
    verb: 'fulfillDirect',
    access: { dataProvider: 'own' },
    mutates: true,
    query: noQuery,
    body: { form: 'message', schema: FulfillDirectRequest, also: 'name' },
    response: Requisition,
    summary: 'Fulfil a requisition with an encrypted result',
  },
  {
    operation: 'refuseRequisition',
    method: 'POST',
    path: PATTERNS.requisition,
    verb: 'refuse',
    access: { dataProvider: 'own' },
    mutates: true,
    query: noQuery,
    body: { form: 'message', schema: RefuseRequest, also: 'name' },
    response: Requisition,
    summary: 'Refuse a requisition for good, which fails its measurement',
  },
  {
    operation: 'getRequisitionTimeline',
    method: 'GET',
    path: PATTERNS.requisition,
    verb: 'timeline',
    access: { dataProvider: 'own' },
    query: noQuery,
    response: Timeline,
    summary: 'What happened to a requisition, and why',
  },

  {
    operation: 'createMeasurement',
    method: 'POST',
    path: measurements,
    access: { measurementConsumer: 'own' },
    mutates: true,
    query: object(create),
    body: {
      form: 'resource',
      schema: MeasurementInput,
      resource: Measurement,
      member: 'measurement',
      create: true,
    },
    response: Measurement,
    summary: 'Create a measurement and one requisition per data provider',
  },
  {
    operation: 'getMeasurement',
    method: 'GET',
    path: PATTERNS.measurement,
    access: { measurementConsumer: 'own' },
    query: noQuery,
    response: Measurement,
    summary: 'Read a measurement',
  },
  {
    operation: 'listMeasurements',
    method: 'GET',
    path: measurements,
    access: { measurementConsumer: 'own' },
    query: object({
      ...paging,
      'filter.states': optional(array(enumOf(MEASUREMENT_STATES))),
      'filter.updatedAfter': optional(timestamp()),
      'filter.updatedBefore': optional(timestamp()),
      'filter.createdAfter': optional(timestamp()),
      'filter.createdBefore': optional(timestamp()),
    }),
    response: MeasurementList,
    summary: 'List measurements',
  },
  {
    operation: 'batchGetMeasurements',
    method: 'POST',
    path: measurements,
    verb: 'batchGet',
    access: { measurementConsumer: 'own' },
    query: noQuery,
    body: {
      form: 'message',
      schema: object({ names: array(nameOf('measurement'), { minItems: 1, maxItems: MAX_BATCH }) }),
      also: 'parent',
    },
    response: object({ measurements: array(Measurement) }),
    summary: 'Read several measurements, all or nothing',
  },
  {
    operation: 'cancelMeasurement',
    method: 'POST',
    path: PATTERNS.measurement,
    verb: 'cancel',
    access: { measurementConsumer: 'own' },
    mutates: true,
    query: noQuery,
    body: { form: 'message', schema: object({}), also: 'name' },
    response: Measurement,
    summary: 'Cancel a measurement that is not complete',
  },
  {
    operation: 'getMeasurementTimeline',
    method: 'GET',
    path: PATTERNS.measurement,
    verb: 'timeline',
    access: { measurementConsumer: 'own' },
    query: noQuery,
    response: Timeline,
    summary: 'What happened to a measurement and its requisitions, and why',
  },

  {
    ...getCertificate,
    path: PATTERNS.measurementConsumerCertificate,
    access: { ...certificateAccess, measurementConsumer: 'own' },
    summary: 'Read a certificate of a measurement consumer (`preferred` for its best one)',
  },
  {
    ...getCertificate,
    path: PATTERNS.dataProviderCertificate,
    access: { ...certificateAccess, dataProvider: 'own' },
    summary: 'Read a certificate of a data provider (`preferred` for its best one)',
  },
  {
    ...getCertificate,
    path: PATTERNS.duchyCertificate,
    access: certificateAccess,
    summary: 'Read a certificate of a duchy (`preferred` for its best one)',
  },
] as const satisfies readonly Route[];

export type Routes = (typeof ROUTES)[number];
export type Operation = Routes['operation'];
/** The rows of one operation. */
export type RouteOf<O extends Operation> = Extract<Routes, { operation: O }>;
/** The IDs in the path of an operation. */
export type ParamsOf<R extends Route> = R extends Route ? Record<Vars<R['path']>, string> : never;

export type { PatternName };
