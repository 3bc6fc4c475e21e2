/** The type of a row of the routes table, and parts that rows share. */
import type { Code, Reason } from '../errors/reasons.ts';
import * as s from '../json/schema.ts';

/** The kinds of callers; the first three are parties and own the names that begin with them. */
export type PrincipalKind = 'measurementConsumer' | 'dataProvider' | 'duchy' | 'operator';

/**
 * own: the first ID of the path is the caller's. any: it may be another party's. all: also the wildcard `-`.
 * A kind that is not mentioned is denied.
 */
export type Access = Partial<Record<PrincipalKind, 'own' | 'any' | 'all'>>;

export type Body =
  /** A request message; `also` names what a generic client may repeat from the path. */
  | { form: 'message'; schema: s.TSchema; also: 'name' | 'parent' }
  /** The resource itself, or wrapped under `member`, beside an optional requestId. */
  | { form: 'resource'; schema: s.TSchema; resource: s.TSchema; member: string; create: boolean };

/** An error of an operation; `code` only where it is not the usual one of the reason. */
export type OperationError = Reason | { reason: Reason; code: Code };

export interface Route {
  operation: string;
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Below the API prefix; IDs in braces. */
  path: string;
  verb?: string;
  access: Access;
  /** The response has no end: each item of it has the shape of the response. */
  streams?: true;
  /** Mutations take `validateOnly`. */
  mutates?: boolean;
  query?: s.TSchema;
  body?: Body;
  response: s.TSchema;
  /** Beyond those that follow from the rest of the row: see errorsOf. */
  errors: readonly OperationError[];
  summary: string;
}

/** A request refers to something that does not exist; a path that does so is NOT_FOUND. */
export const dangling = <R extends Reason>(reason: R) => ({ reason, code: 'FAILED_PRECONDITION' }) as const;

/** The most that any batch may name. */
export const MAX_BATCH = 50;

export const paging = {
  pageSize: s.optional(s.pageSize()),
  pageToken: s.optional(s.text(2000), 'The nextPageToken of the page before.'),
};
/** Descriptions of filters that several lists have. */
export const STATES = 'Only those in one of these states; repeat the parameter.';
export const UPDATED_AFTER = 'Only those updated after this time, exclusive.';
export const nextPageToken = s.optional(s.text(2000));
export const noQuery = s.object({});
export const descriptorSetEncoding = {
  descriptorSetEncoding: s.optional(
    s.enumOf(['JSON', 'BASE64']),
    'How the response holds descriptorSet: proto3 JSON (default) or the exact bytes in base64.',
  ),
};
/** Query parameters of a create. */
export const requestId = {
  requestId: s.optional(
    s.text(255, 1),
    'Makes a retry safe: the same ID with the same content returns the resource that exists already. ' +
      'May stand in the body instead.',
  ),
};

export const EVERYBODY = {
  measurementConsumer: 'any',
  dataProvider: 'any',
  duchy: 'any',
  operator: 'any',
} as const;

/** Parts of rows by what the operation does; a row spreads one first and overrides what differs. */
export const READ = { method: 'GET', query: noQuery } as const;
export const LIST = { method: 'GET', query: s.object(paging), errors: [] } as const;
export const CREATE = { method: 'POST', mutates: true, query: noQuery } as const;
export const UPDATE = { method: 'PATCH', mutates: true, query: noQuery } as const;
export const DELETE = { method: 'DELETE', mutates: true, query: noQuery } as const;
/** An act on a resource, by a verb after its name. */
export const ACT = { method: 'POST', mutates: true, query: noQuery } as const;

/** The body of an act: a message, which may repeat the name of the resource. */
export const message = <S extends s.TSchema>(schema: S) =>
  ({ form: 'message', schema, also: 'name' }) as const;
/** An act that needs no more than the name. */
export const NO_MESSAGE = message(s.object({}));

/** The body of a create: the resource itself, or wrapped under `member`. */
export const created = <S extends s.TSchema, R extends s.TSchema>(member: string, schema: S, resource: R) =>
  ({ form: 'resource', member, schema, resource, create: true }) as const;
/** The body of an update, likewise. */
export const updated = <S extends s.TSchema, R extends s.TSchema>(member: string, schema: S, resource: R) =>
  ({ form: 'resource', member, schema, resource, create: false }) as const;

/** The parts of a row that depend on the kind of the party. */
interface PartyKind {
  /** The access of parties to their own resources. */
  own: Access;
  notFound: Reason;
}
const CONSUMER: PartyKind = {
  own: { measurementConsumer: 'own' },
  notFound: 'MEASUREMENT_CONSUMER_NOT_FOUND',
};
const PROVIDER: PartyKind = { own: { dataProvider: 'own' }, notFound: 'DATA_PROVIDER_NOT_FOUND' };
const DUCHY: PartyKind = { own: { duchy: 'own' }, notFound: 'DUCHY_NOT_FOUND' };

/** The reasons where a party does not exist, whatever its kind. */
export const PARTY_NOT_FOUND = [CONSUMER.notFound, PROVIDER.notFound, DUCHY.notFound];

/** The rows of one operation for each kind of party, on what is below its name: its own, unless the row says otherwise. */
export const ofEachParty = <const P extends string, const R extends Partial<Route>>(
  below: P,
  rowOf: (kind: PartyKind) => R,
) =>
  [
    {
      access: CONSUMER.own,
      ...rowOf(CONSUMER),
      path: `measurementConsumers/{measurementConsumer}/${below}`,
    },
    { access: PROVIDER.own, ...rowOf(PROVIDER), path: `dataProviders/{dataProvider}/${below}` },
    { access: DUCHY.own, ...rowOf(DUCHY), path: `duchies/{duchy}/${below}` },
  ] as const;
