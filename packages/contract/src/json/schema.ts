/**
 * The vocabulary of our shapes, on TypeBox: one declaration gives the static type, the JSON Schema of the
 * OpenAPI document, and (in codec.ts) the reader and the writer. `Unsafe` states the type a value has in
 * memory where that differs from its JSON: bytes are Uint8Array, 64-bit integers are bigint.
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
import { PATTERNS, type PatternName } from '../values/names.ts';
import type { Timestamp } from '../values/scalars.ts';

export type { Static, TObject, TSchema };

/** TypeBox gives only the types. Its schemas are plain JSON, and loading it would double the time to load the contract. */
const schema = <T extends TSchema>(json: object) => json as T;
const unsafe = <T>(json: object) => schema<TUnsafe<T>>(json);

/** Every text is capped, so that no field can hold what its table column cannot. */
export const text = (maxLength: number, minLength = 0) =>
  schema<TString>({ type: 'string', minLength, maxLength });

export const boolean = () => schema<TBoolean>({ type: 'boolean' });

/** Any JSON number, rounded to a double: for settings, not for what is signed. */
export const number = (options: { exclusiveMinimum?: number; minimum?: number } = {}) =>
  schema<TNumber>({ type: 'number', ...options });

export const integer = (minimum: number, maximum: number) =>
  schema<TInteger>({ type: 'integer', minimum, maximum });

export const bytes = (options: { min?: number; description?: string } = {}) =>
  unsafe<Uint8Array>({
    type: 'string',
    format: 'byte',
    contentEncoding: 'base64',
    'x-min-bytes': options.min ?? 0,
    ...(options.description ? { description: options.description } : {}),
  });

/** 32 bytes; base64, and 64 hexadecimal digits are accepted too. */
export const sha256 = () =>
  unsafe<Uint8Array>({
    type: 'string',
    format: 'sha256',
    description: 'SHA-256, 32 bytes in base64; 64 hexadecimal digits are accepted too.',
  });

/** A JSON integer from 0 to 2^64-1; a decimal string is accepted too. */
export const uint64 = () =>
  unsafe<bigint>({
    type: ['integer', 'string'],
    format: 'uint64',
    description: 'An integer from 0 to 18446744073709551615, exact; a decimal string is accepted too.',
  });

export const timestamp = () => unsafe<Timestamp>({ type: 'string', format: 'date-time' });

export const enumOf = <const T extends readonly string[]>(values: T) =>
  unsafe<T[number]>({ type: 'string', enum: values });

/** A resource name of one of the given patterns. */
export const nameOf = (...patterns: PatternName[]) =>
  unsafe<string>({
    type: 'string',
    format: 'resource-name',
    'x-patterns': patterns,
    description: patterns.map((p) => `\`${PATTERNS[p]}\``).join(' or '),
  });

/** `ignored` names what a caller may send back as read and that means nothing in a request. */
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

/** `description` says what the member means here, where the schema alone does not. */
export const optional = <T extends TSchema>(of: T, description?: string) => {
  const json = description === undefined ? { ...of } : { ...of, description };
  // Not enumerable, because it does not belong to the JSON Schema.
  return schema<TAddOptional<T>>(Object.defineProperty(json, '~optional', { value: true }));
};

/** The same members, none of them required. */
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

/** Any JSON, handed on as the exact reader gave it. */
export const anyJson = (description: string) => unsafe<unknown>({ format: 'json', description });

/** Default 50, at most 1000; 0 means the default, more is coerced. */
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

/** An ID that a caller chooses; the wildcard and the alias may not be chosen. */
export const chosenId = () =>
  unsafe<string>({
    type: 'string',
    format: 'chosen-id',
    description: '1 to 63 letters, digits, `-` or `_`; not `-` or `preferred`.',
  });
