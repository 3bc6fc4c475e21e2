/** Compares the errors that an exchange returned with the errors that the routes list, to find undocumented errors. */
import { API_PREFIX, errorsOf, matchRoute, ROUTES, type Route } from '@measurement-exchange/contract';

interface ErrorResponse {
  status: number;
  code: string;
  reason: string;
}

/** The log line of a request that failed. */
interface ErrorLine extends ErrorResponse {
  method: string;
  operation: string;
  name?: string;
  /** Set if the request came by gRPC. The routes list only the errors of REST. */
  rpc?: string;
}

/** Errors of requests that match no route: the errors that every route lists, and errors for a wrong method or path. */
const WITHOUT_ROUTE = new Set([
  '404 NOT_FOUND ROUTE_NOT_FOUND',
  '405 UNIMPLEMENTED METHOD_NOT_ALLOWED',
  '400 INVALID_ARGUMENT MALFORMED_NAME',
  ...(ROUTES as readonly Route[]).map(documented).reduce((common, errors) => common.intersection(errors)),
]);

/**
 * Finds logged errors that are undocumented: the route of the failed REST request does not list them. Returns one line
 * for each distinct error, such as `createMeasurement: 404 NOT_FOUND DUCHY_NOT_FOUND is not documented`.
 */
export function undocumentedErrors(logs: string[]): string[] {
  const undocumented = logs
    .flatMap((text) => text.split('\n'))
    .filter((line) => line.includes('"reason"') && line.includes('"operation"'))
    .map((line) => JSON.parse(line) as ErrorLine)
    .filter((line) => line.operation !== 'page' && line.rpc === undefined)
    .filter((line) => !isDocumented(line, line.method, pathOf(line)))
    .map((line) => `${line.operation}: ${textOf(line)} is not documented`);
  return [...new Set(undocumented)];
}

/**
 * Returns whether the route of this request lists the error. If `path` is undefined or no route matches, returns
 * whether WITHOUT_ROUTE contains the error. `path` excludes the query.
 */
export function isDocumented(error: ErrorResponse, method: string, path: string | undefined): boolean {
  return expectedOf(method, path).has(textOf(error));
}

function pathOf({ name }: ErrorLine): string | undefined {
  return name === undefined ? undefined : `${API_PREFIX}/${name}`;
}

function expectedOf(method: string, path: string | undefined): Set<string> {
  if (path === undefined) return WITHOUT_ROUTE;
  try {
    return documented(matchRoute(method, path).route);
  } catch {
    return WITHOUT_ROUTE;
  }
}

function documented(route: Route): Set<string> {
  return new Set(
    errorsOf(route).map(({ httpStatus, code, reason }) => textOf({ status: httpStatus, code, reason })),
  );
}

function textOf({ status, code, reason }: ErrorResponse): string {
  return `${status} ${code} ${reason}`;
}
