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
import * as row from './route.ts';

const operator = { operator: 'any' } as const;
const create = {
  ...row.CREATE,
  operation: 'createParty',
  access: operator,
  errors: ['PARTY_ALREADY_EXISTS', 'CHECK_FAILED'],
} as const;
const update = { ...row.UPDATE, operation: 'updateParty' } as const;
const get = { ...row.READ, operation: 'getParty' } as const;
const list = { ...row.LIST, operation: 'listParties', access: operator } as const;
/** Only the operator may do these to a party. */
const administer = { ...row.ACT, access: operator, body: row.NO_MESSAGE } as const;
const suspend = { ...administer, operation: 'suspendParty', verb: 'suspend' } as const;
const resume = { ...administer, operation: 'resumeParty', verb: 'resume' } as const;

const consumer = {
  path: PATTERNS.measurementConsumer,
  response: MeasurementConsumer,
  errors: ['MEASUREMENT_CONSUMER_NOT_FOUND'],
} as const;
const provider = {
  path: PATTERNS.dataProvider,
  response: DataProvider,
  errors: ['DATA_PROVIDER_NOT_FOUND'],
} as const;
const duchy = { path: PATTERNS.duchy, response: Duchy, errors: ['DUCHY_NOT_FOUND'] } as const;

export const PARTY_ROUTES = [
  {
    ...create,
    path: 'measurementConsumers',
    query: s.object({ measurementConsumerId: s.optional(s.chosenId()) }),
    body: row.created('measurementConsumer', PartyInput, MeasurementConsumer),
    response: MeasurementConsumer,
    summary: 'Create a measurement consumer',
  },
  {
    ...list,
    path: 'measurementConsumers',
    response: s.object({
      measurementConsumers: s.array(MeasurementConsumer),
      nextPageToken: row.nextPageToken,
    }),
    summary: 'List the measurement consumers',
  },
  {
    ...get,
    ...consumer,
    access: { ...row.EVERYBODY, measurementConsumer: 'own' },
    summary: 'Read a measurement consumer',
  },
  {
    ...update,
    ...consumer,
    access: { measurementConsumer: 'own', operator: 'any' },
    body: row.updated('measurementConsumer', PartyInput, MeasurementConsumer),
    errors: [...consumer.errors, 'CHECK_FAILED'],
    summary: 'Update a measurement consumer: the fields present are replaced',
  },
  {
    ...suspend,
    ...consumer,
    summary: 'Suspend a measurement consumer: its tokens are rejected, its open work stays',
  },
  { ...resume, ...consumer, summary: 'Resume a suspended measurement consumer' },
  {
    ...create,
    path: 'dataProviders',
    query: s.object({ dataProviderId: s.optional(s.chosenId()) }),
    body: row.created('dataProvider', DataProviderInput, DataProvider),
    response: DataProvider,
    summary: 'Create a data provider',
  },
  {
    ...list,
    path: 'dataProviders',
    access: { measurementConsumer: 'any', operator: 'any' },
    response: s.object({ dataProviders: s.array(DataProvider), nextPageToken: row.nextPageToken }),
    summary: 'List the data providers',
  },
  {
    ...get,
    ...provider,
    access: { ...row.EVERYBODY, dataProvider: 'own' },
    summary: 'Read a data provider',
  },
  {
    ...update,
    ...provider,
    access: { dataProvider: 'own', operator: 'any' },
    body: row.updated('dataProvider', DataProviderInput, DataProvider),
    errors: [...provider.errors, 'CHECK_FAILED'],
    summary: 'Update a data provider: the fields present are replaced',
  },
  {
    ...suspend,
    ...provider,
    summary:
      'Suspend a data provider: its tokens are rejected, it gets no new requisitions, its open work stays',
  },
  { ...resume, ...provider, summary: 'Resume a suspended data provider' },
  {
    ...create,
    path: 'duchies',
    query: s.object({ duchyId: s.optional(s.chosenId()) }),
    body: row.created('duchy', DuchyInput, Duchy),
    response: Duchy,
    summary: 'Create a duchy',
  },
  {
    ...list,
    path: 'duchies',
    response: s.object({ duchies: s.array(Duchy), nextPageToken: row.nextPageToken }),
    summary: 'List the duchies',
  },
  {
    ...get,
    ...duchy,
    access: { dataProvider: 'any', duchy: 'any', operator: 'any' },
    summary: 'Read a duchy',
  },
  {
    ...update,
    ...duchy,
    access: { duchy: 'own', operator: 'any' },
    body: row.updated('duchy', DuchyInput, Duchy),
    errors: [...duchy.errors, 'CHECK_FAILED'],
    summary: 'Update a duchy: the fields present are replaced',
  },
  { ...suspend, ...duchy, summary: 'Suspend a duchy' },
  { ...resume, ...duchy, summary: 'Resume a suspended duchy' },
] as const satisfies readonly row.Route[];
