/**
 * Writers compiled from a schema, once each: typed values to JSON text. The schema knows which members hold base64
 * and numbers, so nothing is copied into plain objects first and no ciphertext is searched for what to escape.
 */
import type { Keywords } from './codec.ts';
import { JsonDecimal } from './json.ts';
import { toBase64 } from './scalars.ts';
import type { Static, TSchema } from './schema.ts';

type Writer = (value: never) => string;

/** Members in the order of the schema, or of their names. */
type Order = 'schema' | 'sorted';

const writers = { schema: new WeakMap<TSchema, Writer>(), sorted: new WeakMap<TSchema, Writer>() };

/** Absent members stay absent. */
export function toJson<S extends TSchema>(schema: S, value: Static<S>): string {
  return writerOf(schema, 'schema')(value as never);
}

/** One text per content: the same decoded value gives the same text, whatever the key order it came in. */
export function canonicalJson<S extends TSchema>(schema: S, value: Static<S>): string {
  return writerOf(schema, 'sorted')(value as never);
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
  if (schema.format === 'byte' || schema.format === 'sha256')
    return (value: Uint8Array) => `"${toBase64(value)}"`;
  if (schema.format === 'uint64') return (value: bigint) => value.toString();
  if (schema.format === 'json')
    return order === 'sorted' ? (value) => writeFree(sorted(value) as never) : writeFree;
  if (schema.type === 'array') {
    const write = writerOf(schema.items!, order);
    return (value: never[]) => `[${value.map((item) => write(item)).join(',')}]`;
  }
  if (schema.format === 'map')
    return mapWriter(writerOf(schema.additionalProperties as TSchema, order), order);
  if (schema.type === 'object') return objectWriter(schema.properties!, order);
  return writeFree;
}

function objectWriter(properties: Record<string, TSchema>, order: Order): Writer {
  const members = inOrder(Object.entries(properties), order).map(
    ([key, schema]) => [key, `${JSON.stringify(key)}:`, writerOf(schema, order)] as const,
  );
  return (value: Record<string, never>) => {
    let text = '{';
    for (const [key, label, write] of members) {
      const member = value[key];
      if (member !== undefined) text += (text.length > 1 ? ',' : '') + label + write(member);
    }
    return `${text}}`;
  };
}

function mapWriter(write: Writer, order: Order): Writer {
  return (value: Record<string, never>) => {
    const members = inOrder(Object.entries(value), order);
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${write(member)}`).join(',')}}`;
  };
}

function inOrder<T>(entries: [string, T][], order: Order): [string, T][] {
  return order === 'sorted' ? entries.sort(([a], [b]) => (a < b ? -1 : 1)) : entries;
}

/** Text, true and false, and free JSON, which may hold what the exact reader gave: it goes back as it came. */
const writeFree: Writer = (value: unknown) => JSON.stringify(value, exactly) ?? 'null';

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
