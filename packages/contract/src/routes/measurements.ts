import { Measurement, MeasurementInput } from '../codecs/measurement.ts';
import { FulfillDirectRequest, RefuseRequest, Requisition } from '../codecs/requisition.ts';
import { Timeline } from '../codecs/timeline.ts';
import { PATTERNS } from '../names.ts';
import { array, enumOf, nameOf, object, optional, timestamp } from '../schema.ts';
import { MEASUREMENT_STATES, REQUISITION_STATES } from '../states.ts';
import { MAX_BATCH, nextPageToken, noQuery, paging, type Route, requestId } from './route.ts';

const measurements = 'measurementConsumers/{measurementConsumer}/measurements' as const;

const RequisitionList = object({ requisitions: array(Requisition), nextPageToken });
const requisitionFilters = object({
  ...paging,
  'filter.states': optional(array(enumOf(REQUISITION_STATES))),
  'filter.updatedAfter': optional(timestamp()),
});

export const MEASUREMENT_ROUTES = [
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
    query: object(requestId),
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
    response: object({ measurements: array(Measurement), nextPageToken }),
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
] as const satisfies readonly Route[];
