/**
 * Schema builders that use TypeBox's types. One declaration provides the static type, the JSON Schema for the OpenAPI
 * document, the reader and the writer. `unsafe` declares the in-memory type if it differs from the JSON type: bytes are
 * Uint8Array, and 64-bit integers are bigint.
 */
import type {
  Static,
  TAddOptional,
  TArray,
  TBoolean,
  TInteger,
  TNumber,
  TObject,
  TSchema,
  TString,
  TUnsafe,
} from 'typebox';
import { ATTRIBUTE_NAME_RULE } from '../values/attributeNames.ts';
import { PATTERNS, type PatternName } from '../values/names.ts';
import type { Timestamp } from '../values/scalars.ts';

export type { Static, TObject, TSchema };

/**
 * Builds a schema without loading TypeBox, because loading it would double this package's load time. TypeBox's schemas
 * are plain JSON, so only its types are imported.
 */
const schema = <T extends TSchema>(json: object) => json as T;
const unsafe = <T>(json: object) => schema<TUnsafe<T>>(json);

/** Every string has a maximum length, so that it fits in its database column. */
export const text = (maxLength: number, minLength = 0) =>
  schema<TString>({ type: 'string', minLength, maxLength });

export const boolean = () => schema<TBoolean>({ type: 'boolean' });

/** A JSON number, rounded to a double. Use it for settings, not for values that a party signs. */
export const number = (options: { exclusiveMinimum?: number; minimum?: number } = {}) =>
  schema<TNumber>({ type: 'number', ...options });

export const integer = (minimum: number, maximum: number) =>
  schema<TInteger>({ type: 'integer', minimum, maximum });

export const bytes = ({ min = 0, max }: { min?: number; max?: number } = {}) =>
  unsafe<Uint8Array>({
    type: 'string',
    format: 'byte',
    contentEncoding: 'base64',
    'x-min-bytes': min,
    ...(max !== undefined && { 'x-max-bytes': max }),
  });

export const sha256 = () =>
  unsafe<Uint8Array>({
    type: 'string',
    format: 'sha256',
    description: 'SHA-256, 32 bytes in base64; 64 hexadecimal digits are accepted too.',
  });

export const uint64 = () =>
  unsafe<bigint>({
    type: ['integer', 'string'],
    format: 'uint64',
    description: 'An integer from 0 to 18446744073709551615, exact; a decimal string is accepted too.',
  });

export const timestamp = () => unsafe<Timestamp>({ type: 'string', format: 'date-time' });

export const enumOf = <const T extends readonly string[]>(values: T) =>
  unsafe<T[number]>({ type: 'string', enum: values });

export const nameOf = (...patterns: PatternName[]) =>
  unsafe<string>({
    type: 'string',
    format: 'resource-name',
    'x-patterns': patterns,
    description: patterns.map((p) => `\`${PATTERNS[p]}\``).join(' or '),
  });

/** `ignored` lists output-only fields. A caller may send them back, but they have no effect in a request. */
export const object = <P extends Record<string, TSchema>>(
  properties: P,
  description?: string,
  ignored: readonly string[] = [],
) => {
  const required = Object.keys(properties).filter((key) => !Object.hasOwn(properties[key]!, '~optional'));
  return schema<TObject<P>>({
    type: 'object',
    ...(required.length > 0 ? { required } : {}),
    properties,
    additionalProperties: false,
    ...(description ? { description } : {}),
    ...(ignored.length > 0 ? { 'x-ignored': ignored } : {}),
  });
};

export const optional = <T extends TSchema>(of: T, description?: string) => {
  const json = description === undefined ? { ...of } : { ...of, description };
  // Make `~optional` non-enumerable, because it is not part of the JSON Schema.
  return schema<TAddOptional<T>>(Object.defineProperty(json, '~optional', { value: true }));
};

/** Returns the same properties, all optional. */
export const partial = <P extends Record<string, TSchema>>(properties: P) =>
  Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, optional(schema)])) as {
    [K in keyof P]: ReturnType<typeof optional<P[K]>>;
  };

export const array = <T extends TSchema>(
  items: T,
  options: { minItems?: number; maxItems?: number; description?: string } = {},
) => schema<TArray<T>>({ type: 'array', items, ...options });

/** A JSON object whose keys are resource names. */
export const mapOf = <T extends TSchema>(key: PatternName, value: T, minProperties = 0) =>
  unsafe<Record<string, Static<T>>>({
    type: 'object',
    format: 'map',
    'x-key-pattern': key,
    propertyNames: { description: `\`${PATTERNS[key]}\`` },
    additionalProperties: value,
    minProperties,
  });

/** A JSON object with any keys. */
export const recordOf = <T extends TSchema>(value: T) =>
  unsafe<Record<string, Static<T>>>({ type: 'object', format: 'map', additionalProperties: value });

/**
 * Any JSON value. In a request, readers keep the value exactly as the parser in json.ts returned it. In a response,
 * readers convert the value with `toPlainJson`.
 */
export const anyJson = (description: string) => unsafe<unknown>({ format: 'json', description });

export const DEFAULT_PAGE_SIZE = 50;
export const MAX_PAGE_SIZE = 1000;
export const pageSize = () =>
  unsafe<number>({
    type: 'integer',
    format: 'page-size',
    minimum: 0,
    default: DEFAULT_PAGE_SIZE,
    description: `At most ${MAX_PAGE_SIZE} (more is coerced); 0 or absent: ${DEFAULT_PAGE_SIZE}.`,
  });

export const chosenId = () =>
  unsafe<string>({
    type: 'string',
    format: 'chosen-id',
    description: '1 to 63 letters, digits, `-` or `_`; not `-` or `preferred`.',
  });

export const attributeName = () =>
  unsafe<string>({ type: 'string', format: 'attribute-name', description: `${ATTRIBUTE_NAME_RULE}.` });
