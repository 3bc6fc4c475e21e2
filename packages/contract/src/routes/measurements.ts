import { Explanation } from '../codecs/explanation.ts';
import { Measurement, MeasurementCreation, MeasurementInput } from '../codecs/measurement.ts';
import { Deferral, FulfillDirectRequest, RefuseRequest, Requisition } from '../codecs/requisition.ts';
import { Timeline } from '../codecs/timeline.ts';
import * as s from '../json/schema.ts';
import { PATTERNS } from '../values/names.ts';
import { MEASUREMENT_STATES, REQUISITION_STATES } from '../values/states.ts';
import * as row from './route.ts';

const requisition = { path: PATTERNS.requisition, access: { dataProvider: 'own' } } as const;
const measurement = { path: PATTERNS.measurement, access: { measurementConsumer: 'own' } } as const;
const measurements = {
  path: 'measurementConsumers/{measurementConsumer}/measurements',
  access: { measurementConsumer: 'own' },
} as const;

const createErrors = [
  'DATA_PROVIDER_NOT_FOUND',
  'DATA_PROVIDER_SUSPENDED',
  row.dangling('CERTIFICATE_NOT_FOUND'),
  'CERTIFICATE_IS_INVALID',
  'PROTOCOL_NOT_ALLOWED',
  'TOO_MANY_OPEN_MEASUREMENTS',
  'CHECK_FAILED',
] as const;
const explain = { ...row.READ, verb: 'explain', response: Explanation } as const;
const timeline = { ...row.LIST, verb: 'timeline', response: Timeline } as const;
const getRequisition = { ...row.READ, response: Requisition, errors: ['REQUISITION_NOT_FOUND'] } as const;
const requisitionFilters = {
  ...row.paging,
  'filter.states': s.optional(s.array(s.enumOf(REQUISITION_STATES)), row.STATES),
  'filter.updatedAfter': s.optional(s.timestamp(), row.UPDATED_AFTER),
} as const;
const listRequisitions = {
  ...row.LIST,
  query: s.object(requisitionFilters),
  response: s.object({ requisitions: s.array(Requisition), nextPageToken: row.nextPageToken }),
} as const;
const act = { ...row.ACT, ...requisition, response: Requisition } as const;

export const MEASUREMENT_ROUTES = [
  {
    ...listRequisitions,
    operation: 'listRequisitions',
    path: 'dataProviders/{dataProvider}/requisitions',
    access: { dataProvider: 'own' },
    query: s.object({
      ...requisitionFilters,
      orderBy: s.optional(
        s.enumOf(['createTime', 'createTime desc']),
        'Oldest or newest first. Default: oldest first, or by update time if a filter is on it.',
      ),
    }),
    summary: 'List the requisitions of a data provider',
  },
  {
    ...listRequisitions,
    operation: 'listMeasurementRequisitions',
    path: `${PATTERNS.measurement}/requisitions`,
    access: { measurementConsumer: 'own' },
    errors: ['MEASUREMENT_NOT_FOUND'],
    summary: 'List the requisitions of a measurement',
  },
  { ...getRequisition, ...requisition, operation: 'getRequisition', summary: 'Read a requisition' },
  {
    ...getRequisition,
    operation: 'getMeasurementRequisition',
    path: PATTERNS.measurementRequisition,
    access: { measurementConsumer: 'own' },
    summary: 'Read a requisition of a measurement',
  },
  {
    ...act,
    operation: 'fulfillDirectRequisition',
    verb: 'fulfillDirect',
    body: row.message(FulfillDirectRequest),
    errors: [
      'REQUISITION_NOT_FOUND',
      'REQUISITION_ETAG_MISMATCH',
      'REQUISITION_STATE_ILLEGAL',
      'PROTOCOL_NOT_DIRECT',
      'NONCE_MISMATCH',
      row.dangling('CERTIFICATE_NOT_FOUND'),
      'CERTIFICATE_IS_INVALID',
      'CHECK_FAILED',
    ],
    summary: 'Fulfill a requisition with an encrypted result',
  },
  {
    ...act,
    operation: 'refuseRequisition',
    verb: 'refuse',
    body: row.message(RefuseRequest),
    errors: ['REQUISITION_NOT_FOUND', 'REQUISITION_ETAG_MISMATCH', 'REQUISITION_STATE_ILLEGAL'],
    summary: 'Refuse a requisition permanently, which fails its measurement',
  },
  {
    ...act,
    operation: 'deferRequisition',
    verb: 'defer',
    body: row.message(Deferral),
    errors: ['REQUISITION_NOT_FOUND', 'REQUISITION_STATE_ILLEGAL', 'DEFERRED_TOO_OFTEN'],
    summary: 'Say why a requisition has to wait, and until when',
  },
  {
    ...explain,
    ...requisition,
    operation: 'explainRequisition',
    errors: ['REQUISITION_NOT_FOUND'],
    summary: 'What a requisition waits for, or why it ended',
  },
  {
    ...timeline,
    ...requisition,
    operation: 'getRequisitionTimeline',
    errors: ['REQUISITION_NOT_FOUND'],
    summary: 'What happened to a requisition, and why',
  },

  {
    ...row.CREATE,
    ...measurements,
    operation: 'createMeasurement',
    query: s.object(row.requestId),
    body: row.created('measurement', MeasurementInput, Measurement),
    response: Measurement,
    errors: createErrors,
    summary: 'Create a measurement and one requisition per data provider',
  },
  {
    ...row.ACT,
    ...measurements,
    operation: 'batchCreateMeasurements',
    verb: 'batchCreate',
    body: {
      form: 'message',
      schema: s.object({ requests: s.array(MeasurementCreation, { minItems: 1, maxItems: row.MAX_BATCH }) }),
      also: 'parent',
    },
    response: s.object({ measurements: s.array(Measurement) }),
    errors: [...createErrors, 'REQUEST_ID_REUSED'],
    summary: 'Create up to 50 measurements and their requisitions, all or nothing',
  },
  {
    ...row.READ,
    ...measurement,
    operation: 'getMeasurement',
    response: Measurement,
    errors: ['MEASUREMENT_NOT_FOUND'],
    summary: 'Read a measurement',
  },
  {
    ...row.LIST,
    ...measurements,
    operation: 'listMeasurements',
    query: s.object({
      ...row.paging,
      'filter.states': s.optional(s.array(s.enumOf(MEASUREMENT_STATES)), row.STATES),
      'filter.updatedAfter': s.optional(s.timestamp(), row.UPDATED_AFTER),
      'filter.updatedBefore': s.optional(s.timestamp(), 'Only those updated before this time, exclusive.'),
      'filter.createdAfter': s.optional(s.timestamp(), 'Only those created after this time, exclusive.'),
      'filter.createdBefore': s.optional(s.timestamp(), 'Only those created before this time, exclusive.'),
      'filter.measurementReferenceId': s.optional(s.text(255), 'Only those with exactly this reference.'),
      orderBy: s.optional(
        s.enumOf(['createTime', 'createTime desc']),
        'Oldest or newest first. Default: oldest first, or by update time if a filter is on it.',
      ),
    }),
    response: s.object({ measurements: s.array(Measurement), nextPageToken: row.nextPageToken }),
    summary: 'List measurements',
  },
  {
    ...measurements,
    operation: 'batchGetMeasurements',
    method: 'POST',
    verb: 'batchGet',
    query: row.noQuery,
    body: {
      form: 'message',
      schema: s.object({ names: s.array(s.nameOf('measurement'), { minItems: 1, maxItems: row.MAX_BATCH }) }),
      also: 'parent',
    },
    response: s.object({ measurements: s.array(Measurement) }),
    errors: ['MEASUREMENT_NOT_FOUND', 'RESPONSE_TOO_LARGE'],
    summary: 'Read several measurements, all or nothing',
  },
  {
    ...row.ACT,
    ...measurement,
    operation: 'cancelMeasurement',
    verb: 'cancel',
    body: row.NO_MESSAGE,
    response: Measurement,
    errors: ['MEASUREMENT_NOT_FOUND', 'MEASUREMENT_STATE_ILLEGAL'],
    summary: 'Cancel a measurement that is not complete',
  },
  {
    ...explain,
    ...measurement,
    operation: 'explainMeasurement',
    errors: ['MEASUREMENT_NOT_FOUND'],
    summary: 'What a measurement waits for and for whom, or why it ended',
  },
  {
    ...timeline,
    ...measurement,
    operation: 'getMeasurementTimeline',
    errors: ['MEASUREMENT_NOT_FOUND'],
    summary: 'What happened to a measurement and its requisitions, and why',
  },
] as const satisfies readonly row.Route[];
