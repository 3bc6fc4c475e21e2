/** Compares the errors that an exchange logged with those that the routes list: the API documents no fewer. */
import { API_PREFIX, errorsOf, matchRoute, ROUTES, type Route } from '@measurement-exchange/contract';

/** What a request line of the log says of an error. */
interface ErrorLine {
  method: string;
  operation: string;
  name?: string;
  status: number;
  code: string;
  reason: string;
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
    .filter((line) => line.operation !== 'page' && !expectedOf(line).has(textOf(line)))
    .map((line) => `${line.operation}: ${textOf(line)} is not documented`);
  return [...new Set(undocumented)];
}

function expectedOf({ method, name }: ErrorLine): Set<string> {
  return name === undefined ? WITHOUT_ROUTE : documented(matchRoute(method, `${API_PREFIX}/${name}`).route);
}

function documented(route: Route): Set<string> {
  return new Set(
    errorsOf(route).map(({ httpStatus, code, reason }) => textOf({ status: httpStatus, code, reason })),
  );
}

function textOf({ status, code, reason }: Pick<ErrorLine, 'status' | 'code' | 'reason'>): string {
  return `${status} ${code} ${reason}`;
}
