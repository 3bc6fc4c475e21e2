/**
 * Converts JSON values to typed values. The reader for each schema is compiled once. `writer.ts` converts typed values
 * to JSON.
 *
 * Readers also accept native values from APIs without JSON, such as gRPC: a Uint8Array for bytes, and undefined for
 * an absent property. The same readers check JSON values and native values, so each rule is written only once.
 */

import { REQUIRED, type Violation } from '../errors/errors.ts';
import { ATTRIBUTE_NAME_RULE, isAttributeName } from '../values/attributeNames.ts';
import { cut } from '../values/cut.ts';
import { isId, isName, PATTERNS, type PatternName, PREFERRED, WILDCARD } from '../values/names.ts';
import { fromBase64, fromHex, MAX_UINT64, parseTimestamp } from '../values/scalars.ts';
import { JsonDecimal, type JsonObject, type JsonValue, toPlainJson } from './json.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, type Static, type TSchema } from './schema.ts';

/** Reads one value. If the value is invalid, reports the problem under `path` and returns undefined. */
type Reader = (value: NativeValue, path: string, report: (path: string, problem: string) => void) => unknown;

/** A JSON value that may contain bytes and absent properties. */
export type NativeValue = JsonValue | Uint8Array | NativeValue[] | NativeObject | undefined;
export interface NativeObject {
  [key: string]: NativeValue;
}

/**
 * The source of the value. A request must follow every rule. A response may come from a newer exchange, so readers
 * ignore its unknown fields and do not check its enum values and limits.
 */
type Direction = 'request' | 'response';

/** The schema keywords that readers and writers use. They come from JSON Schema, except for our own `x-` keywords. */
export interface Keywords {
  type?: string | string[];
  format?: string;
  enum?: readonly string[];
  properties?: Record<string, TSchema>;
  required?: string[];
  items?: TSchema;
  additionalProperties?: TSchema | false;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  exclusiveMinimum?: number;
  minimum?: number;
  maximum?: number;
  'x-ignored'?: string[];
  'x-min-bytes'?: number;
  'x-max-bytes'?: number;
  'x-patterns'?: PatternName[];
  'x-key-pattern'?: PatternName;
}

/** Reading stops after this many violations, because finding all of them in a 4 MiB body would take seconds. */
export const MAX_VIOLATIONS = 50;
const ENOUGH = new Error('enough violations');

const readers = { request: new WeakMap<TSchema, Reader>(), response: new WeakMap<TSchema, Reader>() };

/**
 * Returns the typed value, or undefined if the JSON value is invalid. Adds violations, up to a total of MAX_VIOLATIONS.
 */
export function decode<S extends TSchema>(
  schema: S,
  value: NativeValue,
  violations: Violation[],
  path = '',
  direction: Direction = 'request',
): Static<S> | undefined {
  const before = violations.length;
  try {
    const result = readerOf(schema, direction)(value, path, (field, description) => {
      violations.push({ field, description });
      if (violations.length >= MAX_VIOLATIONS) throw ENOUGH;
    });
    return violations.length === before ? (result as Static<S>) : undefined;
  } catch (error) {
    if (error !== ENOUGH) throw error;
    return undefined;
  }
}

/** Converts `measurement_spec` to `measurementSpec`, because a proto3 JSON reader must accept both spellings. */
export function camelCase(key: string): string {
  return key.includes('_') ? key.replace(/_([a-z0-9])/g, (_, c: string) => c.toUpperCase()) : key;
}

export function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function readerOf(schema: TSchema, direction: Direction): Reader {
  let reader = readers[direction].get(schema);
  if (reader === undefined) {
    const keywords = schema as Keywords;
    reader = compileReader(direction === 'response' ? withoutLimits(keywords) : keywords, direction);
    readers[direction].set(schema, reader);
  }
  return reader;
}

/**
 * Returns the schema for responses. Keeps the types and required properties, drops all limits, and allows any string as
 * an enum value or a name.
 */
function withoutLimits(schema: Keywords): Keywords {
  const isText = schema.enum !== undefined || TEXT_FORMATS.has(schema.format!);
  if (isText) return { type: 'string' };
  const { type, format, properties, required, items } = schema;
  const rest = { type, format, properties, required, items } as Keywords;
  return format === 'map' ? { ...rest, additionalProperties: schema.additionalProperties! } : rest;
}
const TEXT_FORMATS = new Set(['resource-name', 'chosen-id', 'attribute-name']);

function compileReader(schema: Keywords, direction: Direction): Reader {
  const { format = '', type } = schema;
  const readerFor = COMPILERS[format] ?? COMPILERS[schema.enum === undefined ? String(type) : 'enum'];
  if (readerFor === undefined) throw new Error(`no reader for schema ${JSON.stringify(schema)}`);
  return readerFor(schema, direction);
}

/**
 * Functions that compile a reader. The keys are formats, types, and `enum`. A schema uses the function for its format
 * if there is one. Otherwise, a schema with enum values uses `enum`, and any other schema uses its type.
 */
const COMPILERS: Record<string, (schema: Keywords, direction: Direction) => Reader> = {
  json: (_, direction) =>
    direction === 'response' ? (value) => toPlainJson(value as JsonValue) : (value) => value,
  map: mapReader,
  byte: bytesReader,
  sha256: sha256Reader,
  uint64: () => readUint64,
  'page-size': () => readPageSize,
  'date-time': () => readTimestamp,
  'resource-name': nameReader,
  'chosen-id': () => readChosenId,
  'attribute-name': () => readAttributeName,
  enum: enumReader,
  object: objectReader,
  array: arrayReader,
  string: textReader,
  number: numberReader,
  integer: integerReader,
  boolean: () => readBoolean,
};

function objectReader(schema: Keywords, direction: Direction): Reader {
  const members = new Map(
    Object.entries(schema.properties!).map(([name, member]) => [name, readerOf(member, direction)]),
  );
  const required = schema.required ?? [];
  return (value, path, report) => {
    if (!isObject(value)) return report(path, 'must be an object');
    const result: Record<string, unknown> = {};
    for (const key of Object.keys(value)) {
      const name = members.has(key) ? key : camelCase(key);
      if (schema['x-ignored']?.includes(name)) continue;
      const read = members.get(name);
      if (read === undefined) {
        if (schema.additionalProperties === false) report(join(path, key), 'is not a known field');
        continue;
      }
      if (name !== key && name in value) {
        report(join(path, key), `is given twice, as ${key} and as ${name}`);
        continue;
      }
      // In proto3 JSON, null means that the field is absent.
      const member = value[key];
      if (member !== null && member !== undefined) result[name] = read(member, join(path, key), report);
    }
    for (const key of required) if (!(key in result)) report(join(path, key), REQUIRED);
    return result;
  };
}

function mapReader(schema: Keywords, direction: Direction): Reader {
  const pattern = schema['x-key-pattern'];
  const read = readerOf(schema.additionalProperties as TSchema, direction);
  return (value, path, report) => {
    if (!isObject(value)) return report(path, 'must be an object');
    const keys = Object.keys(value);
    const { minProperties = 0 } = schema;
    if (keys.length < minProperties) {
      report(path, minProperties === 1 ? 'must not be empty' : `must have at least ${minProperties} members`);
    }
    const result: Record<string, unknown> = Object.create(null);
    for (const key of keys) {
      const keyPath = `${path}[${cut(key, 200)}]`;
      if (pattern !== undefined && !isName(pattern, key)) {
        report(keyPath, `the key must match ${PATTERNS[pattern]}`);
      } else result[key] = read(value[key]!, keyPath, report);
    }
    return result;
  };
}

function arrayReader(schema: Keywords, direction: Direction): Reader {
  const read = readerOf(schema.items!, direction);
  return (value, path, report) => {
    if (!Array.isArray(value)) return report(path, 'must be an array');
    if (value.length < (schema.minItems ?? 0))
      return report(path, `must have at least ${schema.minItems} items`);
    if (schema.maxItems !== undefined && value.length > schema.maxItems) {
      return report(path, `must have at most ${schema.maxItems} items`);
    }
    return value.map((item, i) => read(item, `${path}[${i}]`, report));
  };
}

function textReader({ minLength: min = 0, maxLength: max = Number.POSITIVE_INFINITY }: Keywords): Reader {
  return (value, path, report) => {
    if (typeof value !== 'string') return report(path, 'must be a string');
    if (value.length < min || value.length > max) {
      return report(
        path,
        min > 0 ? `must have ${min} to ${max} characters` : `must have at most ${max} characters`,
      );
    }
    // Reject NUL, because PostgreSQL cannot store it. The JSON parser rejects it too, but native values are not parsed.
    return value.includes('\0') ? report(path, 'must not contain NUL') : value;
  };
}

function numberReader({ exclusiveMinimum: above, minimum: least }: Keywords): Reader {
  const bound = above !== undefined ? ` above ${above}` : least !== undefined ? `, ${least} or more` : '';
  return (value, path, report) => {
    const isNumber = typeof value === 'number' || typeof value === 'bigint' || value instanceof JsonDecimal;
    const number = isNumber ? Number(value instanceof JsonDecimal ? value.text : value) : Number.NaN;
    const isInBounds = number > (above ?? Number.NEGATIVE_INFINITY) && number >= (least ?? number);
    return isInBounds ? number : report(path, `must be a number${bound}`);
  };
}

function integerReader(schema: Keywords): Reader {
  const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = schema;
  return (value, path, report) => {
    if (typeof value === 'number' && value >= minimum && value <= maximum) return value;
    report(path, `must be an integer from ${minimum} to ${maximum}`);
  };
}

const readBoolean: Reader = (value, path, report) =>
  typeof value === 'boolean' ? value : report(path, 'must be true or false');

function enumReader({ enum: values = [] }: Keywords): Reader {
  return (value, path, report) => {
    if (typeof value === 'string' && values.includes(value)) return value;
    report(path, `must be one of ${values.join(', ')}`);
  };
}

function bytesReader({ 'x-min-bytes': min = 0, 'x-max-bytes': max }: Keywords, direction: Direction): Reader {
  return (value, path, report) => {
    const result = value instanceof Uint8Array ? value : fromBase64(typeof value === 'string' ? value : '!');
    if (result === undefined) return report(path, 'must be base64');
    if (result.length < min) return report(path, 'must not be empty');
    if (max !== undefined && result.length > max) return report(path, `must have at most ${max} bytes`);
    return bytesFor(direction, result);
  };
}

function sha256Reader(_: Keywords, direction: Direction): Reader {
  return (value, path, report) => {
    if (value instanceof Uint8Array) return value.length === 32 ? value : report(path, 'must be 32 bytes');
    if (typeof value === 'string') {
      const result = value.length === 64 ? fromHex(value) : fromBase64(value);
      if (result?.length === 32) return bytesFor(direction, result);
    }
    report(path, 'must be 32 bytes in base64 (or 64 hexadecimal digits)');
  };
}

/** Copies a response's bytes into a plain Uint8Array, because a Node Buffer may share its memory with other Buffers. */
function bytesFor(direction: Direction, bytes: Uint8Array): Uint8Array {
  return direction === 'response' ? new Uint8Array(bytes) : bytes;
}

const readUint64: Reader = (value, path, report) => {
  if (!(value instanceof JsonDecimal)) {
    const exact = typeof value === 'number' ? BigInt(value) : value;
    if (typeof exact === 'bigint' && exact >= 0n && exact <= MAX_UINT64) return exact;
    if (typeof exact === 'string' && /^(?:0|[1-9]\d{0,19})$/.test(exact) && BigInt(exact) <= MAX_UINT64) {
      return BigInt(exact);
    }
  }
  report(path, 'must be an integer from 0 to 18446744073709551615');
};

const readPageSize: Reader = (value, path, report) => {
  if ((typeof value === 'number' || typeof value === 'bigint') && value >= 0) {
    return Math.min(Number(value), MAX_PAGE_SIZE) || DEFAULT_PAGE_SIZE;
  }
  report(path, 'must be an integer that is not negative');
};

const readTimestamp: Reader = (value, path, report) => {
  const result = typeof value === 'string' ? parseTimestamp(value) : undefined;
  if (result === undefined) return report(path, 'must be an RFC 3339 timestamp');
  return result;
};

function nameReader({ 'x-patterns': patterns = [] }: Keywords): Reader {
  return (value, path, report) => {
    if (typeof value === 'string' && patterns.some((p) => isName(p, value))) return value;
    report(path, `must match ${patterns.map((p) => PATTERNS[p]).join(' or ')}`);
  };
}

const readChosenId: Reader = (value, path, report) => {
  if (typeof value === 'string' && isId(value) && value !== WILDCARD && value !== PREFERRED) return value;
  report(path, 'must be 1 to 63 letters, digits, - or _, and neither - nor preferred');
};

const readAttributeName: Reader = (value, path, report) => {
  if (typeof value === 'string' && isAttributeName(value)) return value;
  report(path, `must be a name that filters can use: ${ATTRIBUTE_NAME_RULE}`);
};

export function isObject<T extends NativeValue>(value: T): value is T & JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof JsonDecimal) &&
    !(value instanceof Uint8Array)
  );
}
