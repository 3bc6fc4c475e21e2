/** Reads a request that consists of native values, with the same schemas as an HTTP request. */
import { invalid, type Violation } from '../errors/errors.ts';
import { decode, type NativeObject } from '../json/codec.ts';
import type { Route } from '../routes/route.ts';
import type { Operation } from '../routes.ts';
import { fillIn } from '../values/names.ts';
import { querySchemaOf, type RequestOf, requestIdSchema } from './request.ts';

/** The parts of a request besides its path. Absent parts are undefined. */
export interface NativeRequest {
  query?: NativeObject;
  /** The resource, or the request message, without the names that the path contains. */
  body?: NativeObject | undefined;
  requestId?: string | undefined;
  keeps?: readonly string[];
}

/** Throws one error that contains all violations. `at` is the path of `body` in the caller's message. */
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
