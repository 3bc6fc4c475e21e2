/** Compares the errors of an exchange with those that the routes list: the API documents no fewer. */
import { API_PREFIX, errorsOf, matchRoute, ROUTES, type Route } from '@measurement-exchange/contract';

interface ErrorResponse {
  status: number;
  code: string;
  reason: string;
}

/** A request line of the log, of a request that failed. */
interface ErrorLine extends ErrorResponse {
  method: string;
  operation: string;
  name?: string;
  /** Set if the request came by gRPC. The routes document the errors of REST. */
  rpc?: string;
}

/** Errors of requests that led to no route: those that every route has, and those of a wrong address. */
const WITHOUT_ROUTE = new Set([
  '404 NOT_FOUND ROUTE_NOT_FOUND',
  '405 UNIMPLEMENTED METHOD_NOT_ALLOWED',
  '400 INVALID_ARGUMENT MALFORMED_NAME',
  ...(ROUTES as readonly Route[]).map(documented).reduce((common, errors) => common.intersection(errors)),
]);

/** `createMeasurement: 404 NOT_FOUND DUCHY_NOT_FOUND` for each error that its route does not list. */
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

/** Whether the route that a request leads to lists this error; `path` is without the query. */
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
