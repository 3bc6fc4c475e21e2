/**
 * Writes typed values as JSON text. The writer for each schema is compiled once and knows every property's type.
 * Writers therefore do not copy values into plain objects first, and do not search ciphertexts for characters to
 * escape.
 */

import { toBase64 } from '../values/scalars.ts';
import type { Keywords } from './codec.ts';
import { JsonDecimal, type JsonValue } from './json.ts';
import type { Static, TSchema } from './schema.ts';

type Writer = (value: never, out: Out) => void;

interface Out {
  text: string;
  /** The finished output that comes before `text`. */
  readonly parts: string[];
}

/** Properties are written in schema order, or sorted by name. */
type Order = 'schema' | 'sorted';

const writers = { schema: new WeakMap<TSchema, Writer>(), sorted: new WeakMap<TSchema, Writer>() };

/** JSON that is already text. Writers output it unchanged. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Returns a value's JSON text, without properties that are undefined. */
export function toJson<S extends TSchema>(schema: S, value: Static<S>): string {
  return toJsonParts(schema, value).join('');
}

/**
 * Returns a value's JSON text in parts, split between array items. A single string for a whole page of resources would
 * be slow to build and send.
 */
export function toJsonParts<S extends TSchema>(
  schema: S,
  value: Static<S>,
  order: Order = 'schema',
): string[] {
  const out: Out = { text: '', parts: [] };
  writerOf(schema, order)(value as never, out);
  out.parts.push(out.text);
  return out.parts;
}

/** Yields the same text as `toJson`, in chunks. Each item of a top-level array property is a separate chunk. */
export function* toJsonChunks<S extends TSchema>(schema: S, value: Static<S>): Generator<string> {
  let mark = '{';
  for (const [key, member] of Object.entries((schema as Keywords).properties!)) {
    const inner = (value as Record<string, unknown>)[key];
    if (inner === undefined) continue;
    const label = `${mark}${JSON.stringify(key)}:`;
    const { type, items } = member as Keywords;
    if (type === 'array') yield* arrayChunks(label, items!, inner as unknown[]);
    else yield label + toJson(member, inner as never);
    mark = ',';
  }
  yield mark === '{' ? '{}' : '}';
}

function* arrayChunks(label: string, items: TSchema, values: unknown[]): Generator<string> {
  let mark = `${label}[`;
  for (const value of values) {
    yield mark + toJson(items, value as never);
    mark = ',';
  }
  yield values.length === 0 ? `${mark}]` : ']';
}

/** Returns the JSON text of a value that the parser in json.ts returned. */
export function exactJson(value: JsonValue): string {
  return JSON.stringify(value, exactly);
}

/** Returns a value's JSON text with sorted keys, so that equal values have the same text. */
export function canonicalJson<S extends TSchema>(schema: S, value: Static<S>): string {
  return toJsonParts(schema, value, 'sorted').join('');
}

function writerOf(schema: TSchema, order: Order): Writer {
  let writer = writers[order].get(schema);
  if (writer === undefined) {
    writer = compileWriter(schema as Keywords, order);
    writers[order].set(schema, writer);
  }
  return writer;
}

function compileWriter(schema: Keywords, order: Order): Writer {
  if (schema.format === 'byte' || schema.format === 'sha256') return writeBytes;
  if (schema.format === 'uint64') return writeInteger;
  if (schema.format === 'json')
    return order === 'sorted' ? (value, out) => writeFree(sorted(value) as never, out) : writeFree;
  if (schema.type === 'array') return arrayWriter(writerOf(schema.items!, order));
  if (schema.format === 'map')
    return mapWriter(writerOf(schema.additionalProperties as TSchema, order), order);
  if (schema.type === 'object') return objectWriter(schema.properties!, order);
  return writeFree;
}

const writeBytes: Writer = (value: Uint8Array, out) => {
  out.text += `"${toBase64(value)}"`;
};

const writeInteger: Writer = (value: bigint, out) => {
  out.text += value.toString();
};

const PART_LENGTH = 4_096;

function arrayWriter(write: Writer): Writer {
  return (value: never[], out) => {
    let mark = '[';
    value.forEach((item) => {
      if (out.text.length > PART_LENGTH) {
        out.parts.push(out.text);
        out.text = '';
      }
      out.text += mark;
      write(item, out);
      mark = ',';
    });
    out.text += mark === '[' ? '[]' : ']';
  };
}

function objectWriter(properties: Record<string, TSchema>, order: Order): Writer {
  const members = inOrder(Object.entries(properties), order).map(
    ([key, schema]) => [key, `${JSON.stringify(key)}:`, writerOf(schema, order)] as const,
  );
  return (value: Record<string, never>, out) => {
    let mark = '{';
    for (const [key, label, write] of members) {
      const member = value[key];
      if (member === undefined) continue;
      out.text += mark + label;
      write(member, out);
      mark = ',';
    }
    out.text += mark === '{' ? '{}' : '}';
  };
}

function mapWriter(write: Writer, order: Order): Writer {
  return (value: Record<string, never>, out) => {
    let mark = '{';
    for (const [key, member] of inOrder(Object.entries(value), order)) {
      out.text += `${mark}${JSON.stringify(key)}:`;
      write(member, out);
      mark = ',';
    }
    out.text += mark === '{' ? '{}' : '}';
  };
}

function inOrder<T>(entries: [string, T][], order: Order): [string, T][] {
  return order === 'sorted' ? entries.sort(([a], [b]) => (a < b ? -1 : 1)) : entries;
}

const PLAIN = /^[ !#-[\]-~]*$/;

/** Writes text, numbers, booleans, and untyped JSON. Does not round numbers that the parser in json.ts returned. */
const writeFree: Writer = (value: unknown, out) => {
  if (typeof value === 'string') out.text += PLAIN.test(value) ? `"${value}"` : JSON.stringify(value);
  else if (value instanceof JsonText) out.text += value.text;
  else out.text += JSON.stringify(value, exactly) ?? 'null';
};

function exactly(_key: string, value: unknown): unknown {
  if (value instanceof JsonDecimal) return JSON.rawJSON(value.text);
  return typeof value === 'bigint' ? JSON.rawJSON(value.toString()) : value;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null || value instanceof JsonDecimal) return value;
  return Object.fromEntries(
    inOrder(Object.entries(value), 'sorted').map(([key, member]) => [key, sorted(member)]),
  );
}
