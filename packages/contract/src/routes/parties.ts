import {
  DataProvider,
  DataProviderInput,
  Duchy,
  DuchyInput,
  MeasurementConsumer,
  PartyInput,
} from '../codecs/party.ts';
import * as s from '../json/schema.ts';
import { PATTERNS } from '../values/names.ts';
import { nextPageToken, noQuery, paging, type Route } from './route.ts';

const create = {
  operation: 'createParty',
  method: 'POST',
  access: { operator: 'any' },
  mutates: true,
  errors: ['PARTY_ALREADY_EXISTS', 'CHECK_FAILED'],
} as const;
const update = { operation: 'updateParty', method: 'PATCH', mutates: true, query: noQuery } as const;
const get = { operation: 'getParty', method: 'GET', query: noQuery } as const;
const list = { operation: 'listParties', method: 'GET', query: s.object(paging), errors: [] } as const;
/** Only the operator may do these to a party. */
const administer = {
  method: 'POST',
  access: { operator: 'any' },
  mutates: true,
  query: noQuery,
  body: { form: 'message', schema: s.object({}), also: 'name' },
} as const;
const suspend = { ...administer, operation: 'suspendParty', verb: 'suspend' } as const;
const resume = { ...administer, operation: 'resumeParty', verb: 'resume' } as const;

const consumerBody = {
  form: 'resource',
  schema: PartyInput,
  resource: MeasurementConsumer,
  member: 'measurementConsumer',
} as const;
const providerBody = {
  form: 'resource',
  schema: DataProviderInput,
  resource: DataProvider,
  member: 'dataProvider',
} as const;
const duchyBody = { form: 'resource', schema: DuchyInput, resource: Duchy, member: 'duchy' } as const;

export const PARTY_ROUTES = [
  {
    ...create,
    path: 'measurementConsumers',
    query: s.object({ measurementConsumerId: s.optional(s.chosenId()) }),
    body: { ...consumerBody, create: true },
    response: MeasurementConsumer,
    summary: 'Create a measurement consumer',
  },
  {
    ...list,
    path: 'measurementConsumers',
    access: { operator: 'any' },
    response: s.object({ measurementConsumers: s.array(MeasurementConsumer), nextPageToken }),
    summary: 'List the measurement consumers',
  },
  {
    ...get,
    path: PATTERNS.measurementConsumer,
    access: { measurementConsumer: 'own', dataProvider: 'any', duchy: 'any', operator: 'any' },
    response: MeasurementConsumer,
    errors: ['MEASUREMENT_CONSUMER_NOT_FOUND'],
    summary: 'Read a measurement consumer',
  },
  {
    ...update,
    path: PATTERNS.measurementConsumer,
    access: { measurementConsumer: 'own', operator: 'any' },
    body: { ...consumerBody, create: false },
    response: MeasurementConsumer,
    errors: ['MEASUREMENT_CONSUMER_NOT_FOUND', 'CHECK_FAILED'],
    summary: 'Update a measurement consumer: the fields present are replaced',
  },
  {
    ...suspend,
    path: PATTERNS.measurementConsumer,
    response: MeasurementConsumer,
    errors: ['MEASUREMENT_CONSUMER_NOT_FOUND'],
    summary: 'Suspend a measurement consumer: its tokens are rejected, its open work stays',
  },
  {
    ...resume,
    path: PATTERNS.measurementConsumer,
    response: MeasurementConsumer,
    errors: ['MEASUREMENT_CONSUMER_NOT_FOUND'],
    summary: 'Resume a suspended measurement consumer',
  },
  {
    ...create,
    path: 'dataProviders',
    query: s.object({ dataProviderId: s.optional(s.chosenId()) }),
    body: { ...providerBody, create: true },
    response: DataProvider,
    summary: 'Create a data provider',
  },
  {
    ...list,
    path: 'dataProviders',
    access: { measurementConsumer: 'any', operator: 'any' },
    response: s.object({ dataProviders: s.array(DataProvider), nextPageToken }),
    summary: 'List the data providers',
  },
  {
    ...get,
    path: PATTERNS.dataProvider,
    access: { measurementConsumer: 'any', dataProvider: 'own', duchy: 'any', operator: 'any' },
    response: DataProvider,
    errors: ['DATA_PROVIDER_NOT_FOUND'],
    summary: 'Read a data provider',
  },
  {
    ...update,
    path: PATTERNS.dataProvider,
    access: { dataProvider: 'own', operator: 'any' },
    body: { ...providerBody, create: false },
    response: DataProvider,
    errors: ['DATA_PROVIDER_NOT_FOUND', 'CHECK_FAILED'],
    summary: 'Update a data provider: the fields present are replaced',
  },
  {
    ...suspend,
    path: PATTERNS.dataProvider,
    response: DataProvider,
    errors: ['DATA_PROVIDER_NOT_FOUND'],
    summary:
      'Suspend a data provider: its tokens are rejected, it gets no new requisitions, its open work stays',
  },
  {
    ...resume,
    path: PATTERNS.dataProvider,
    response: DataProvider,
    errors: ['DATA_PROVIDER_NOT_FOUND'],
    summary: 'Resume a suspended data provider',
  },
  {
    ...create,
    path: 'duchies',
    query: s.object({ duchyId: s.optional(s.chosenId()) }),
    body: { ...duchyBody, create: true },
    response: Duchy,
    summary: 'Create a duchy',
  },
  {
    ...list,
    path: 'duchies',
    access: { operator: 'any' },
    response: s.object({ duchies: s.array(Duchy), nextPageToken }),
    summary: 'List the duchies',
  },
  {
    ...get,
    path: PATTERNS.duchy,
    access: { dataProvider: 'any', duchy: 'any', operator: 'any' },
    response: Duchy,
    errors: ['DUCHY_NOT_FOUND'],
    summary: 'Read a duchy',
  },
  {
    ...update,
    path: PATTERNS.duchy,
    access: { duchy: 'own', operator: 'any' },
    body: { ...duchyBody, create: false },
    response: Duchy,
    errors: ['DUCHY_NOT_FOUND', 'CHECK_FAILED'],
    summary: 'Update a duchy: the fields present are replaced',
  },
  {
    ...suspend,
    path: PATTERNS.duchy,
    response: Duchy,
    errors: ['DUCHY_NOT_FOUND'],
    summary: 'Suspend a duchy',
  },
  {
    ...resume,
    path: PATTERNS.duchy,
    response: Duchy,
    errors: ['DUCHY_NOT_FOUND'],
    summary: 'Resume a suspended duchy',
  },
] as const satisfies readonly Route[];
