/**
 * Jobs that process descriptor sets and metadata. Short jobs run on the event loop. Long jobs run in a worker thread,
 * because a malicious set of 1 MiB would block the event loop for most of a second. Inputs and outputs are plain values
 * that can be sent to a thread.
 */
import { parseJson, toPlainJson, type Violation } from '@measurement-exchange/contract';
import { LRUCache } from 'lru-cache';
import {
  type DescriptorSetResult,
  printDescriptorSet,
  readDescriptorSet,
} from '../protobuf/descriptor/descriptorSet.ts';
import {
  anyText,
  decodeMetadata,
  type Metadata,
  readMetadata as read,
} from '../protobuf/metadata/metadata.ts';
import { compileSchema, type MetadataSchema } from '../protobuf/metadata/schema.ts';
import { diffDescriptorSets, type SetDiff } from '../protobuf/schemaDiff/schemaDiff.ts';

function readSet({ set }: { set: { bytes: Uint8Array } | { json: string } }): DescriptorSetResult {
  return readDescriptorSet('bytes' in set ? set : { json: toPlainJson(parseJson(set.json)) });
}

function diff({ before, after }: { before: Uint8Array; after: Uint8Array }): SetDiff {
  return diffDescriptorSets(before, after);
}

/**
 * Converts descriptor sets to JSON text until the total size of the texts would exceed `maxBytes`. The text of a set
 * that cannot be converted is undefined.
 */
function printSets({ sets, maxBytes }: { sets: Uint8Array[]; maxBytes: number }): (string | undefined)[] {
  return upTo(maxBytes, sets, printDescriptorSet);
}

/** A schema's descriptor set, whose size is `bytes`. `set` may be omitted if the thread has cached the schema. */
export interface SchemaSource {
  id: string;
  version: number;
  bytes: number;
  set?: Uint8Array;
}

/**
 * The result of a job that could not run. `missing` has the IDs of the descriptor sets that are neither in the job's
 * input nor in the cache.
 */
export interface Missing {
  missing: string[];
}

export interface StoredMessage {
  descriptor: string;
  typeUrl: string;
  value: Uint8Array;
}

/**
 * Converts messages to protobuf Anys in JSON, until the total size of the texts would exceed `maxBytes`. The text of a
 * message is undefined if the message does not match its schema, or if the schema cannot be linked.
 */
function printMetadata(input: {
  schemas: SchemaSource[];
  messages: StoredMessage[];
  maxBytes: number;
}): (string | undefined)[] | Missing {
  return withSchemas(input.schemas, (schemas) =>
    upTo(input.maxBytes, input.messages, ({ descriptor, typeUrl, value }) => {
      const schema = schemas.get(descriptor);
      const message = schema && decodeMetadata(schema, typeUrl, value);
      return message && 'text' in message ? anyText(message) : undefined;
    }),
  );
}

/**
 * Converts a message to JSON without `@type`. Returns violations if the message is invalid, or undefined if its schema
 * cannot be linked.
 */
function decode(input: {
  schema: SchemaSource;
  message: StoredMessage;
}): { text: string } | { violations: Violation[] } | undefined | Missing {
  return withSchemas([input.schema], (schemas) => {
    const { descriptor, typeUrl, value } = input.message;
    const schema = schemas.get(descriptor);
    if (schema === undefined) return undefined;
    const message = decodeMetadata(schema, typeUrl, value);
    return 'text' in message ? { text: message.text } : message;
  });
}

/** A message from a request. `text` is a protobuf Any in JSON, with `@type`. */
export type ReadMessage = Pick<Metadata, 'typeUrl' | 'value' | 'text'>;

/** Reads protobuf Anys in JSON. The result for a message is undefined if its schema cannot be linked. */
function readMetadata(input: {
  schemas: SchemaSource[];
  messages: { descriptor: string; any: string }[];
}): (ReadMessage | { violations: Violation[] } | undefined)[] | Missing {
  return withSchemas(input.schemas, (schemas) =>
    input.messages.map(({ descriptor, any }) => {
      const schema = schemas.get(descriptor);
      if (schema === undefined) return undefined;
      const message = read(schema, parseJson(any));
      if ('violations' in message) return message;
      return { typeUrl: message.typeUrl, value: message.value, text: anyText(message) };
    }),
  );
}

/**
 * Converts items to text until the total size of the texts would exceed `maxBytes`. Always returns the text of the
 * first item.
 */
function upTo<T>(
  maxBytes: number,
  items: T[],
  print: (item: T) => string | undefined,
): (string | undefined)[] {
  const texts: (string | undefined)[] = [];
  let bytes = 0;
  for (const item of items) {
    const text = print(item);
    bytes += text === undefined ? 0 : Buffer.byteLength(text);
    if (bytes > maxBytes && texts.length > 0) break;
    texts.push(text);
  }
  return texts;
}

type Schemas = Map<string, MetadataSchema | undefined>;

/**
 * Compiled schemas by descriptor ID and version. `maxSize` counts bytes of descriptor sets. A compiled schema takes up
 * to 100 times as much memory as its descriptor set.
 */
const compiled = new LRUCache<string, { schema: MetadataSchema | undefined }>({ maxSize: 2 * 1024 * 1024 });

function withSchemas<T>(sources: SchemaSource[], use: (schemas: Schemas) => T): T | Missing {
  const schemas: Schemas = new Map();
  const missing: string[] = [];
  for (const { id, version, set } of sources) {
    const key = `${id} ${version}`;
    let entry = compiled.get(key);
    if (entry === undefined) {
      if (set === undefined) {
        missing.push(id);
        continue;
      }
      entry = { schema: compileSchema(set) };
      compiled.set(key, entry, { size: Math.max(1, set.length) });
    }
    schemas.set(id, entry.schema);
  }
  return missing.length > 0 ? { missing } : use(schemas);
}

export const jobs = { readSet, diff, printSets, printMetadata, decode, readMetadata };
export type JobName = keyof typeof jobs;
export type Input<J extends JobName> = Parameters<(typeof jobs)[J]>[0];
export type Output<J extends JobName> = ReturnType<(typeof jobs)[J]>;

const sum = (sizes: number[]) => sizes.reduce((total, size) => total + size, 0);

/** The maximum input of a short job. The slowest job of this size takes a few milliseconds. */
const SHORT_BYTES = 8 * 1024;

/**
 * A descriptor set that imports this file may have custom options. Processing custom options takes tens of
 * milliseconds, even in a small set, so `readSet` and `printSets` are not short jobs for such a set.
 */
const DESCRIPTOR_PROTO = 'google/protobuf/descriptor.proto';
const hasOptions = (set: Uint8Array) =>
  Buffer.from(set.buffer, set.byteOffset, set.length).includes(DESCRIPTOR_PROTO);

const sizeOfSchemas = (schemas: SchemaSource[]) => sum(schemas.map(({ bytes }) => bytes));

export const isShort: { [J in JobName]: (input: Input<J>) => boolean } = {
  readSet: ({ set }) =>
    'bytes' in set
      ? set.bytes.length <= SHORT_BYTES && !hasOptions(set.bytes)
      : set.json.length <= SHORT_BYTES && !set.json.includes(DESCRIPTOR_PROTO),
  diff: ({ before, after }) => before.length + after.length <= SHORT_BYTES,
  printSets: ({ sets }) => sum(sets.map((set) => set.length)) <= SHORT_BYTES && !sets.some(hasOptions),
  printMetadata: ({ schemas, messages }) =>
    sizeOfSchemas(schemas) + sum(messages.map(({ value }) => value.length)) <= SHORT_BYTES,
  decode: ({ schema, message }) => schema.bytes + message.value.length <= SHORT_BYTES,
  readMetadata: ({ schemas, messages }) =>
    sizeOfSchemas(schemas) + sum(messages.map(({ any }) => any.length)) <= SHORT_BYTES,
};
