import {
  DataProvider,
  DataProviderInput,
  Duchy,
  DuchyInput,
  MeasurementConsumer,
  PartyInput,
} from '../codecs/party.ts';
import { PartySummary } from '../codecs/summary.ts';
import type { Reason } from '../errors/reasons.ts';
import * as s from '../json/schema.ts';
import { wordsOf } from '../values/names.ts';
import * as row from './route.ts';

const operator = { operator: 'any' } as const;
const chosenId = s.optional(s.chosenId());

/** Returns the routes for one kind of party. `get` and `list` say which callers may read and list these parties. */
const routesOf = <const C extends string, const M extends string, I extends s.TSchema, R extends s.TSchema>(
  collection: C,
  member: M,
  of: { input: I; resource: R; notFound: Reason; get: row.Access; list: row.Access; suspension: string },
) => {
  const { input, resource, notFound } = of;
  const noun = wordsOf(member);
  const party = { path: `${collection}/{${member}}`, response: resource, errors: [notFound] } as const;
  const created = { [`${member}Id`]: chosenId } as Record<`${M}Id`, typeof chosenId>;
  const listed = { [collection]: s.array(resource) } as Record<C, ReturnType<typeof s.array<R>>>;
  const administer = { ...row.ACT, ...party, access: operator, body: row.NO_MESSAGE } as const;
  return [
    {
      ...row.CREATE,
      operation: 'createParty',
      path: collection,
      access: operator,
      query: s.object(created),
      body: row.created(member, input, resource),
      response: resource,
      errors: ['PARTY_ALREADY_EXISTS', 'CHECK_FAILED'],
      summary: `Create a ${noun}`,
    },
    {
      ...row.LIST,
      operation: 'listParties',
      path: collection,
      access: of.list,
      response: s.object({ ...listed, nextPageToken: row.nextPageToken }),
      summary: `List the ${wordsOf(collection)}`,
    },
    { ...row.READ, ...party, operation: 'getParty', access: of.get, summary: `Read a ${noun}` },
    {
      ...row.READ,
      operation: 'getPartySummary',
      path: party.path,
      verb: 'summary',
      access: { [member]: 'own' } as row.Access,
      response: PartySummary,
      errors: [],
      summary: `Count what a ${noun} has by state, and list what needs its attention`,
    },
    {
      ...row.UPDATE,
      ...party,
      operation: 'updateParty',
      access: { [member]: 'own', ...operator } as row.Access,
      body: row.updated(member, input, resource),
      errors: [notFound, 'CHECK_FAILED'],
      summary: `Update a ${noun}: the fields present are replaced`,
    },
    {
      ...administer,
      operation: 'suspendParty',
      verb: 'suspend',
      summary: `Suspend a ${noun}${of.suspension}`,
    },
    { ...administer, operation: 'resumeParty', verb: 'resume', summary: `Resume a suspended ${noun}` },
  ] as const;
};

export const PARTY_ROUTES = [
  ...routesOf('measurementConsumers', 'measurementConsumer', {
    input: PartyInput,
    resource: MeasurementConsumer,
    notFound: 'MEASUREMENT_CONSUMER_NOT_FOUND',
    get: { ...row.EVERYBODY, measurementConsumer: 'own' },
    list: operator,
    suspension: ': its tokens are rejected, its open work stays',
  }),
  ...routesOf('dataProviders', 'dataProvider', {
    input: DataProviderInput,
    resource: DataProvider,
    notFound: 'DATA_PROVIDER_NOT_FOUND',
    get: { ...row.EVERYBODY, dataProvider: 'own' },
    list: { measurementConsumer: 'any', ...operator },
    suspension: ': its tokens are rejected, it gets no new requisitions, its open work stays',
  }),
  ...routesOf('duchies', 'duchy', {
    input: DuchyInput,
    resource: Duchy,
    notFound: 'DUCHY_NOT_FOUND',
    get: { dataProvider: 'any', duchy: 'any', ...operator },
    list: operator,
    suspension: '',
  }),
] as const satisfies readonly row.Route[];
