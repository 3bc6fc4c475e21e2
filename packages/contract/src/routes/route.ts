/** The type of a route, and the constants and functions from which routes are built. */
import type { Code, Reason } from '../errors/reasons.ts';
import * as s from '../json/schema.ts';

/** The kinds of callers. The first three are parties, which own the resources under their names. */
export type PrincipalKind = 'measurementConsumer' | 'dataProvider' | 'duchy' | 'operator';

/**
 * The values that each kind of caller may use as the first ID in the path. `own`: only the caller's own ID. `any`:
 * every ID. `all`: every ID and the wildcard `-`. A kind of caller that is not listed has no access.
 */
export type Access = Partial<Record<PrincipalKind, 'own' | 'any' | 'all'>>;

export type Body =
  /** A request message. `also` is the property that may repeat the resource name from the URL. */
  | { form: 'message'; schema: s.TSchema; also: 'name' | 'parent' }
  /**
   * The resource itself, or a message with the resource in `member`. In a create, either form may contain a requestId.
   */
  | { form: 'resource'; schema: s.TSchema; resource: s.TSchema; member: string; create: boolean };

/** An error that an operation can return. `code` is set only if it differs from the usual code for `reason`. */
export type OperationError = Reason | { reason: Reason; code: Code };

export interface Route {
  operation: string;
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** The path after the API prefix, with IDs in braces. */
  path: string;
  verb?: string;
  access: Access;
  /** Set if the response is an endless stream. Each item of the stream has the schema `response`. */
  streams?: true;
  /** Whether the operation changes data. If so, it accepts `validateOnly`. */
  mutates?: boolean;
  query?: s.TSchema;
  body?: Body;
  response: s.TSchema;
  /** Errors in addition to those that `errorsOf` derives from the rest of the route. */
  errors: readonly OperationError[];
  summary: string;
}

/**
 * Returns the error for a body that refers to a missing resource. A missing resource in the path is NOT_FOUND instead.
 */
export const dangling = <R extends Reason>(reason: R) => ({ reason, code: 'FAILED_PRECONDITION' }) as const;

/** The maximum number of resources in a batch. */
export const MAX_BATCH = 50;

export const paging = {
  pageSize: s.optional(s.pageSize()),
  pageToken: s.optional(s.text(2000), 'The nextPageToken of the page before.'),
};
/** Descriptions of filters that several lists share. */
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

/**
 * Default properties of routes. Most routes include one of these constants, and may override the constant's properties.
 */
export const READ = { method: 'GET', query: noQuery } as const;
export const LIST = { method: 'GET', query: s.object(paging), errors: [] } as const;
export const CREATE = { method: 'POST', mutates: true, query: noQuery } as const;
export const UPDATE = { method: 'PATCH', mutates: true, query: noQuery } as const;
export const DELETE = { method: 'DELETE', mutates: true, query: noQuery } as const;
/** Default properties of an action on a resource. The path of an action ends with a verb. */
export const ACT = { method: 'POST', mutates: true, query: noQuery } as const;

/** The body of an action: a message that may repeat the resource's name from the URL. */
export const message = <S extends s.TSchema>(schema: S) =>
  ({ form: 'message', schema, also: 'name' }) as const;
/** The body of an action that needs only the resource's name. */
export const NO_MESSAGE = message(s.object({}));

/** The body of a create: the resource itself, or a message with the resource in `member`. */
export const created = <S extends s.TSchema, R extends s.TSchema>(member: string, schema: S, resource: R) =>
  ({ form: 'resource', member, schema, resource, create: true }) as const;
/** The body of an update: the resource itself, or a message with the resource in `member`. */
export const updated = <S extends s.TSchema, R extends s.TSchema>(member: string, schema: S, resource: R) =>
  ({ form: 'resource', member, schema, resource, create: false }) as const;

interface PartyKind {
  own: Access;
  notFound: Reason;
}
const CONSUMER: PartyKind = {
  own: { measurementConsumer: 'own' },
  notFound: 'MEASUREMENT_CONSUMER_NOT_FOUND',
};
const PROVIDER: PartyKind = { own: { dataProvider: 'own' }, notFound: 'DATA_PROVIDER_NOT_FOUND' };
const DUCHY: PartyKind = { own: { duchy: 'own' }, notFound: 'DUCHY_NOT_FOUND' };

/** The error reasons for a missing party, one per kind of party. */
export const PARTY_NOT_FOUND = [CONSUMER.notFound, PROVIDER.notFound, DUCHY.notFound];

/**
 * Returns one route per kind of party. Each path starts with the party's name. By default, only the party itself has
 * access.
 */
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
