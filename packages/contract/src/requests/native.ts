/**
 * Reads requests that arrive as native values instead of JSON, such as gRPC requests. These requests and HTTP requests
 * have the same schemas.
 */
import { invalid, type Violation } from '../errors/errors.ts';
import { decode, type NativeObject } from '../json/codec.ts';
import type { Route } from '../routes/route.ts';
import type { Operation } from '../routes.ts';
import { fillIn } from '../values/names.ts';
import { querySchemaOf, type RequestOf, requestIdSchema } from './request.ts';

/** A request without its path. A field is undefined if the request does not contain it. */
export interface NativeRequest {
  query?: NativeObject;
  /** The resource or the request message, without the fields that repeat the path, such as `name` and `parent`. */
  body?: NativeObject | undefined;
  requestId?: string | undefined;
  keeps?: readonly string[];
}

/**
 * Reads and validates a request. Throws one error that contains all violations. `at` is the path of `body` in the
 * caller's message. The field paths of all violations in `body` start with `at`.
 */
export function readNativeRequest(
  route: Route,
  params: Record<string, string>,
  { query = {}, body = {}, requestId, keeps }: NativeRequest,
  at = '',
): RequestOf<Operation> {
  const violations: Violation[] = [];
  const read = {
    params,
    path: fillIn(route.path, params),
    query: decode(querySchemaOf(route), query, violations),
    body: route.body && decode(route.body.schema, body, violations, at),
    requestId:
      requestId === undefined ? undefined : decode(requestIdSchema, requestId, violations, 'requestId'),
    validateOnly: false,
    keeps,
  };
  if (violations.length > 0) throw invalid(violations);
  return read as RequestOf<Operation>;
}
