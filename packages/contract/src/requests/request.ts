/** Reads a request's query and body according to its route's schemas, and reports all violations at once. */

import { invalid, type Violation } from '../errors/errors.ts';
import { camelCase, decode, isObject, join, type Keywords, MAX_VIOLATIONS } from '../json/codec.ts';
import type { JsonObject, JsonValue } from '../json/json.ts';
import { boolean, object, optional, type Static, type TSchema, text } from '../json/schema.ts';
import type { Body, Route } from '../routes/route.ts';
import type { Operation, ParamsOf, RouteOf } from '../routes.ts';
import { cut } from '../values/cut.ts';
import { fillIn } from '../values/names.ts';

/** The input of an operation. */
export interface RequestOf<O extends Operation> {
  params: ParamsOf<RouteOf<O>>;
  /** The path after the API prefix, with its IDs filled in: the name of a resource or a collection. */
  path: string;
  query: QueryOf<RouteOf<O>>;
  body: BodyOf<RouteOf<O>>;
  requestId: string | undefined;
  validateOnly: boolean;
  /**
   * Paths of fields that an update leaves unchanged, because the protobuf message of the request cannot express them.
   */
  keeps?: readonly string[] | undefined;
}

/** A request as it was read from HTTP. */
export interface HttpRequest extends RequestOf<Operation> {
  /**
   * The body's property that wraps the resource, as the caller spelled it, or '' if the body is the resource itself.
   */
  wrapper: string;
}
type QueryOf<R> = R extends { query: infer S extends TSchema } ? Static<S> : never;
type BodyOf<R> = R extends { body: { schema: infer S extends TSchema } } ? Static<S> : undefined;
export type ResponseOf<O extends Operation> =
  RouteOf<O> extends { response: infer S extends TSchema } ? Static<S> : never;

const validateOnly = {
  validateOnly: optional(
    boolean(),
    'Runs all checks, writes nothing and does not use the requestId up. The response is the resource as it would ' +
      'be, with its findings.',
  ),
};

/** Returns the schema of a route's query parameters. A mutation also has `validateOnly`. */
export function querySchemaOf(route: Route): TSchema {
  let schema = querySchemas.get(route);
  if (schema === undefined) {
    const { properties = {} } = (route.query ?? {}) as Keywords;
    schema = object({ ...properties, ...(route.mutates ? validateOnly : {}) });
    querySchemas.set(route, schema);
  }
  return schema;
}
const querySchemas = new WeakMap<Route, TSchema>();

/** Reads and validates a request. `body` is undefined for a request without a body. */
export function readRequest(
  route: Route,
  params: Record<string, string>,
  rawQuery: string,
  body: JsonValue | undefined,
): HttpRequest {
  const violations: Violation[] = [];
  const query = readQuery(querySchemaOf(route), rawQuery, violations);
  const path = fillIn(route.path, params);
  const read = route.body === undefined ? {} : readBody(route, route.body, path, body, violations);
  const inQuery = query?.requestId as string | undefined;
  if (inQuery !== undefined && read.requestId !== undefined && inQuery !== read.requestId) {
    violations.push({ field: 'requestId', description: 'differs between the query and the body' });
  }
  if (violations.length > 0) throw invalid(violations);
  return {
    params,
    path,
    query,
    body: read.body,
    requestId: read.requestId ?? inQuery,
    validateOnly: query?.validateOnly === true,
    wrapper: read.wrapper ?? '',
  } as HttpRequest;
}

function readBody(
  route: Route,
  form: Body,
  path: string,
  value: JsonValue | undefined,
  violations: Violation[],
): { body?: unknown; requestId?: string | undefined; wrapper?: string } {
  const given = value === undefined ? {} : value;
  const problem = objectProblem(given);
  if (problem !== undefined) {
    violations.push({ field: '', description: `the body ${problem}` });
    return {};
  }
  const rest: JsonObject = Object.assign(Object.create(null), given);
  if (form.form === 'message') {
    takeEqual(rest, form.also, path, '', violations);
    return { body: decode(form.schema, rest, violations) };
  }

  let requestId: string | undefined;
  if (form.create) {
    takeEqual(rest, 'parent', path, '', violations);
    // If the route has no requestId, the field stays in the body and is rejected as unknown.
    const taken = takesRequestId(route) ? take(rest, 'requestId', violations) : undefined;
    if (taken !== undefined) requestId = decode(requestIdSchema, taken, violations, 'requestId');
  }
  const wrapper = Object.keys(rest).find((key) => camelCase(key) === form.member);
  const resource = wrapper === undefined ? rest : take(rest, form.member, violations)!;
  const at = wrapper ?? '';
  if (wrapper !== undefined) {
    for (const key of Object.keys(rest)) violations.push({ field: key, description: 'is not a known field' });
    const problem = objectProblem(resource);
    if (problem !== undefined) {
      violations.push({ field: wrapper, description: problem });
      return {};
    }
  }
  const fields = resource as JsonObject;
  if (!form.create) takeEqual(fields, 'name', path, at, violations);
  for (const key of Object.keys(fields)) if (isOutputOnly(form, camelCase(key))) delete fields[key];
  return { body: decode(form.schema, fields, violations, at), requestId, wrapper: at };
}

export const requestIdSchema = text(255, 1);

/** Returns whether requests of the route may contain a requestId, which makes a create idempotent. */
export function takesRequestId(route: Route): boolean {
  return Object.hasOwn(propertiesOf(querySchemaOf(route)), 'requestId');
}

/**
 * Returns whether the field is output-only. A caller may send such a field back, but it has no effect in a request.
 */
function isOutputOnly(form: Extract<Body, { form: 'resource' }>, key: string): boolean {
  return Object.hasOwn(propertiesOf(form.resource), key) && !Object.hasOwn(propertiesOf(form.schema), key);
}

function propertiesOf(schema: TSchema): Record<string, Keywords> {
  return (schema as Keywords).properties as Record<string, Keywords>;
}

/** Removes a property, spelled in camelCase or snake_case, and returns its value. */
function take(from: JsonObject, name: string, violations: Violation[]): JsonValue | undefined {
  const keys = Object.keys(from).filter((key) => camelCase(key) === name);
  if (keys.length > 1)
    violations.push({ field: keys[1]!, description: `is given twice, as ${keys.join(' and as ')}` });
  const value = keys.length > 0 ? from[keys[0]!] : undefined;
  for (const key of keys) delete from[key];
  return value ?? undefined;
}

/** Removes one property, which is `name` or `parent`, and reports a violation if its value differs from the path. */
function takeEqual(from: JsonObject, name: string, path: string, at: string, violations: Violation[]): void {
  const value = take(from, name, violations);
  // The parent's name is the path without its last segment, which is the collection.
  const expected = name === 'parent' ? path.slice(0, path.lastIndexOf('/')) : path;
  if (value !== undefined && value !== expected) {
    violations.push({ field: join(at, name), description: 'differs from the path' });
  }
}

/**
 * Returns a problem if the value is not an object, or has too many fields. Our largest message has 20 fields. With
 * 300,000 fields, each loop over the fields would take 200 ms.
 */
function objectProblem(value: JsonValue): string | undefined {
  if (!isObject(value)) return 'must be an object';
  return Object.keys(value).length > MAX_VIOLATIONS ? `has more than ${MAX_VIOLATIONS} fields` : undefined;
}

function readQuery(
  schema: TSchema,
  raw: string,
  violations: Violation[],
): Record<string, unknown> | undefined {
  const properties = propertiesOf(schema);
  const values: JsonObject = Object.create(null);
  for (const pair of raw === '' ? [] : raw.split('&')) {
    if (violations.length >= MAX_VIOLATIONS) break;
    const [rawKey, ...rawValue] = pair.split('=');
    const key = percentDecode(rawKey!);
    const value = percentDecode(rawValue.join('='));
    if (key === undefined || value === undefined || !value.isWellFormed() || value.includes('\0')) {
      violations.push({ field: cut(key ?? rawKey!, 100), description: 'is not percent-encoded UTF-8' });
      continue;
    }
    const name = Object.hasOwn(properties, key) ? key : camelCase(key);
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined) {
      violations.push({ field: cut(key, 100), description: 'is not a known parameter' });
    } else if (property.items !== undefined) {
      values[name] = [...((values[name] as JsonValue[] | undefined) ?? []), value];
    } else if (name in values) {
      violations.push({ field: key, description: 'is given twice' });
    } else if (value !== '' || property.format === 'date-time') {
      values[name] = queryValue(property, value);
    }
  }
  return decode(schema, values, violations) as Record<string, unknown> | undefined;
}

function queryValue(property: Keywords, value: string): JsonValue {
  if (property.type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  if (property.type === 'integer' && /^-?\d{1,100}$/.test(value)) {
    return value.length <= 15 ? Number(value) : BigInt(value);
  }
  // Restore the plus sign of a UTC offset. In a query, an unescaped `+01:00` is decoded as a space and `01:00`.
  return property.format === 'date-time' ? value.replace(' ', '+') : value;
}

function percentDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
