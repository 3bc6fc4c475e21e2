/** Finds the route for a request's method and raw path. IDs are decoded after the route has been found. */
import { ExchangeError } from '../errors/errors.ts';
import type { Route } from '../routes/route.ts';
import { API_PREFIX, ROUTES } from '../routes.ts';
import { isId } from '../values/names.ts';

export interface Match {
  route: Route;
  params: Record<string, string>;
}

/**
 * Returns the path with `*` in place of every ID, followed by the verb. In all our paths, every second segment is an
 * ID.
 */
function shapeOf(segments: readonly string[], verb: string | undefined): string {
  let shape = segments[0]!;
  for (let i = 1; i < segments.length; i++) shape += i % 2 === 0 ? `/${segments[i]}` : '/*';
  return verb === undefined ? shape : `${shape}:${verb}`;
}

interface Row {
  route: Route;
  ids: string[];
}

const BY_SHAPE = new Map<string, Map<string, Row>>();
for (const route of ROUTES as readonly Route[]) {
  const segments = route.path.split('/');
  const shape = shapeOf(segments, route.verb);
  const methods = BY_SHAPE.get(shape) ?? new Map<string, Row>();
  if (methods.has(route.method)) throw new Error(`two routes for ${route.method} ${shape}`);
  const ids = segments.filter((_, i) => i % 2 === 1).map((segment) => segment.slice(1, -1));
  BY_SHAPE.set(shape, methods.set(route.method, { route, ids }));
}

/**
 * Returns the route for a request, with the IDs in the path. Rejects an unknown path (404), then an unknown method
 * (405), then a malformed ID (400).
 */
export function matchRoute(method: string, rawPath: string): Match {
  const segments = rawPath.slice(API_PREFIX.length + 1).split('/');
  const last = segments.at(-1)!;
  const colon = last.lastIndexOf(':');
  const verb = colon < 0 ? undefined : last.slice(colon + 1);
  if (colon >= 0) segments[segments.length - 1] = last.slice(0, colon);

  const methods = BY_SHAPE.get(shapeOf(segments, verb));
  if (methods === undefined || !rawPath.startsWith(`${API_PREFIX}/`)) {
    throw new ExchangeError('ROUTE_NOT_FOUND', 'No operation has this path.');
  }
  const row = methods.get(method);
  if (row === undefined) {
    const allow = [...methods.keys()].join(', ');
    throw new ExchangeError('METHOD_NOT_ALLOWED', `This path takes ${allow}.`, { metadata: { allow } });
  }
  const params: Record<string, string> = {};
  for (let i = 0; i < row.ids.length; i++) params[row.ids[i]!] = decodeId(segments[2 * i + 1]!);
  return { route: row.route, params };
}

/** Percent-decodes a path segment once. The result must be an ID, so an encoded `/`, `:` or NUL is rejected. */
function decodeId(segment: string): string {
  if (isId(segment)) return segment;
  let id: string;
  try {
    id = decodeURIComponent(segment);
  } catch {
    id = '';
  }
  if (!isId(id)) {
    throw new ExchangeError('MALFORMED_NAME', 'An ID in the path must be 1 to 63 letters, digits, - or _.');
  }
  return id;
}

export function formatPath(route: Pick<Route, 'path' | 'verb'>, params: Record<string, string>): string {
  const path = route.path.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(params[key]!));
  return `${API_PREFIX}/${path}${route.verb === undefined ? '' : `:${route.verb}`}`;
}
