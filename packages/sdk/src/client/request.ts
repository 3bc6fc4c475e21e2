/** Converts an operation and its arguments to an HTTP request, once per call. Retries send the same request. */
import {
  type Body,
  cut,
  ExchangeError,
  formatPath,
  invalid,
  isId,
  type Keywords,
  querySchemaOf,
  type Route,
  type TSchema,
  takesRequestId,
  toJson,
  type Violation,
} from '@measurement-exchange/contract';

export interface CallArguments {
  name?: string;
  parent?: string;
  collection?: string;
  body?: object;
  signal?: AbortSignal;
  [parameter: string]: unknown;
}

/** A request that is ready to be sent. Every attempt sends the same bytes. */
export interface PreparedCall {
  route: Route;
  /** The path relative to the base URL, including the query. */
  path: string;
  body: string | undefined;
  /** Whether it is safe to retry the call after an attempt with an unknown outcome. */
  retryable: boolean;
}

/** Creates the request for a call. `routes` contains all rows of the operation in the routes table. */
export function prepareCall(routes: readonly Route[], args: CallArguments): PreparedCall {
  const { route, path } = findRoute(routes, args);
  const { name: _n, parent: _p, collection: _c, body: given, signal: _s, ...parameters } = args;
  if (takesRequestId(route)) parameters.requestId ??= newRequestId();
  const body = withRequestIds(route, given);
  const violations = [
    ...unknownMembers(querySchemaOf(route), parameters, ''),
    ...bodyViolations(route.body, body),
  ];
  if (violations.length > 0) throw invalid(violations);
  const query = queryOf(route, parameters);
  return {
    route,
    path: query === '' ? path : `${path}?${query}`,
    body: route.body === undefined || body === undefined ? undefined : bodyText(route.body, body),
    retryable: isRetryable(route, parameters, body),
  };
}

/**
 * Returns whether the call can be retried safely. Reads and dry runs change nothing, and a requestId makes a create
 * idempotent. An etag is valid for only one change, so a retry either makes the change or fails with ABORTED.
 */
function isRetryable(route: Route, parameters: object, body: object | undefined): boolean {
  if (!route.mutates || ('validateOnly' in parameters && parameters.validateOnly === true)) return true;
  return (
    takesRequestId(route) ||
    partsTakeRequestIds(route) ||
    (body !== undefined && propertiesOf(route.body!.schema).etag !== undefined)
  );
}

function findRoute(routes: readonly Route[], args: CallArguments): { route: Route; path: string } {
  const first = routes[0]!;
  const target = targetOf(first.path);
  if (target === 'collection') {
    const route = routes.length > 1 ? routes.find((r) => r.path === args.collection) : first;
    if (route !== undefined) return { route, path: formatPath(route, {}) };
  } else if (typeof args[target] === 'string') {
    for (const route of routes) {
      const params = idsIn(patternOf(route.path), args[target]);
      if (params !== undefined) return { route, path: formatPath(route, params) };
    }
  }
  const patterns = [...new Set(routes.map((r) => patternOf(r.path)))].join(' or ');
  const found = args[target] === undefined ? 'is missing' : `is ${cut(JSON.stringify(args[target]), 200)}`;
  throw new ExchangeError(
    'MALFORMED_NAME',
    `${first.operation}: ${target} ${found} and must be ${patterns}`,
    {
      violations: [{ field: target, description: `must match ${patterns}` }],
      metadata: { fieldName: target },
    },
  );
}

function targetOf(path: string): 'name' | 'parent' | 'collection' {
  if (path.endsWith('}')) return 'name';
  return path.includes('/') ? 'parent' : 'collection';
}

/**
 * Returns the pattern that the `name` or `parent` argument must match. For a parent, this is the path without its last
 * collection.
 */
function patternOf(path: string): string {
  return targetOf(path) === 'parent' ? path.slice(0, path.lastIndexOf('/')) : path;
}

function idsIn(pattern: string, name: string): Record<string, string> | undefined {
  const [expected, segments] = [pattern.split('/'), name.split('/')];
  const fits = (segment: string, i: number) => (i % 2 === 0 ? segment === expected[i] : isId(segment));
  if (segments.length !== expected.length || !segments.every(fits)) return undefined;
  return Object.fromEntries(
    segments.flatMap((id, i) => (i % 2 === 0 ? [] : [[expected[i]!.slice(1, -1), id]])),
  );
}

function queryOf(route: Route, parameters: Record<string, unknown>): string {
  const query = new URLSearchParams();
  const values: Record<string, unknown> = JSON.parse(toJson(querySchemaOf(route), parameters));
  for (const [key, value] of Object.entries(values)) {
    for (const one of Array.isArray(value) ? value : [value]) query.append(key, String(one));
  }
  return query.toString();
}

function bodyText(form: Body, body: object): string {
  try {
    return toJson(form.schema, body as never);
  } catch (error) {
    throw invalid([{ field: 'body', description: `does not have the expected shape (${error})` }]);
  }
}

function bodyViolations(form: Body | undefined, body: object | undefined): Violation[] {
  if (form === undefined)
    return body === undefined ? [] : [{ field: 'body', description: 'is not accepted here' }];
  if (body === undefined) {
    const { required = [] } = form.schema as Keywords;
    return required.length === 0 ? [] : [{ field: 'body', description: 'is required' }];
  }
  if (typeof body !== 'object' || body === null) return [{ field: 'body', description: 'must be an object' }];
  // Accept fields that only the exchange sets, because callers often read a resource, change it, and send it back.
  const outputOnly = form.form === 'resource' ? Object.keys(propertiesOf(form.resource)) : [];
  return unknownMembers(form.schema, body, 'body', outputOnly);
}

/** Returns a violation for each unknown member, because the encoder would silently drop it. */
function unknownMembers(
  schema: TSchema,
  value: unknown,
  path: string,
  outputOnly: string[] = [],
): Violation[] {
  const { properties, items, additionalProperties, 'x-ignored': ignored = [] } = schema as Keywords;
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) {
    return items ? value.flatMap((item, i) => unknownMembers(items, item, `${path}[${i}]`)) : [];
  }
  // Skip bytes and arbitrary JSON, because their schemas list no members.
  if (properties === undefined && !additionalProperties) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const at = path === '' ? key : `${path}.${key}`;
    if (member === undefined) return [];
    if (properties === undefined)
      return unknownMembers(additionalProperties as TSchema, member, `${path}[${key}]`);
    if (Object.hasOwn(properties, key)) return unknownMembers(properties[key]!, member, at);
    return outputOnly.includes(key) || ignored.includes(key)
      ? []
      : [{ field: at, description: 'is not a known field' }];
  });
}

function propertiesOf(schema: TSchema): Record<string, TSchema> {
  return (schema as Keywords).properties ?? {};
}

/** Returns whether the body is a batch of creates, each with its own requestId. */
function partsTakeRequestIds(route: Route): boolean {
  const parts = route.body && (propertiesOf(route.body.schema).requests as Keywords | undefined);
  return parts?.items !== undefined && propertiesOf(parts.items).requestId !== undefined;
}

function withRequestIds(route: Route, body: object | undefined): object | undefined {
  const requests = (body as { requests?: unknown } | undefined)?.requests;
  if (!partsTakeRequestIds(route) || !Array.isArray(requests)) return body;
  return {
    ...body,
    requests: requests.map((part) => ({ ...part, requestId: part?.requestId ?? newRequestId() })),
  };
}

/**
 * Returns 128 random bits in hex. `crypto.randomUUID` cannot be used, because browsers offer it only on secure pages.
 */
function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
