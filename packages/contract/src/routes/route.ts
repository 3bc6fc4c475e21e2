/** What a row of the routes table says. */
import { enumOf, object, optional, pageSize, type TSchema, text } from '../schema.ts';

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
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
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

/** Batches are capped (spec: 50 measurements; the same for every other batch). */
export const MAX_BATCH = 50;

export const paging = { pageSize: optional(pageSize()), pageToken: optional(text(2000)) };
export const nextPageToken = optional(text(2000));
export const noQuery = object({});
export const descriptorSetEncoding = { descriptorSetEncoding: optional(enumOf(['JSON', 'BASE64'])) };
/** What a create takes in the query. */
export const requestId = { requestId: optional(text(255, 1)) };

export const EVERYBODY = {
  measurementConsumer: 'any',
  dataProvider: 'any',
  duchy: 'any',
  operator: 'any',
} as const;
