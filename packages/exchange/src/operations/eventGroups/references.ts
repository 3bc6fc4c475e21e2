/** Loads the consumers and descriptors that event groups refer to, and decodes the event groups' metadata. */
import {
  type EventGroupInput,
  exactJson,
  invalid,
  type JsonValue,
  MAX_VIOLATIONS,
  parseName,
  type Violation,
} from '@measurement-exchange/contract';
import type { ReadMessage } from '../../compute/jobs.ts';
import type { Queryable, Transaction } from '../../database/db.ts';
import { descriptorVersions, shareDescriptors } from '../../database/eventGroups.ts';
import { getParties } from '../../database/parties.ts';
import {
  contentOf,
  type EventGroupContent,
  METADATA_FIELD,
  type ReadableMetadata,
} from '../../domain/eventGroup.ts';
import { notFound } from '../../domain/found.ts';
import { within } from '../../protobuf/metadata/metadata.ts';
import type { Call } from '../context.ts';
import { UNLINKABLE, withSchemas } from '../descriptors/schemas.ts';

/**
 * One event group of a request. `at` is the prefix of the event group's field paths. In a batch, an example of this
 * prefix is `requests[0].eventGroup.`, including the final dot. For a single event group, the prefix is empty.
 */
export interface Part {
  at: string;
  input: EventGroupInput;
}
/** The consumers and descriptors that event groups refer to. Descriptors are locked until the transaction ends. */
export interface References {
  consumers: ReadonlyMap<string, unknown>;
  descriptors: ReadonlySet<string>;
  messages: Messages;
}

export interface Messages {
  versions: Map<string, number>;
  /**
   * The decoded metadata of each event group, or the reasons why the metadata is invalid. Undefined if the schema of
   * the metadata cannot be linked.
   */
  read: Map<Part, ReadMessage | { violations: Violation[] } | undefined>;
}

export async function loadReferences(
  tx: Transaction,
  call: Call,
  provider: string,
  parts: Part[],
  expected: Messages,
): Promise<References> {
  const descriptors = new Set(parts.flatMap(({ input }) => descriptorOf(input)?.id ?? []));
  const [consumers, shared] = await Promise.all([
    getParties(tx, [...new Set(parts.map(({ input }) => input.measurementConsumer))]),
    shareDescriptors(tx, provider, [...descriptors]),
  ]);
  const isCurrent = shared.every(({ id, version }) => expected.versions.get(id) === version);
  const messages = isCurrent ? expected : await readMessages(tx, call, parts);
  return { consumers, descriptors: new Set(shared.map(({ id }) => id)), messages };
}

/**
 * Decodes the metadata. Decoding takes time, so call this before locking rows, and again only if a descriptor has
 * changed.
 */
export async function readMessages(db: Queryable, call: Call, parts: Part[]): Promise<Messages> {
  const named = Map.groupBy(parts, ({ input }) => descriptorOf(input)?.id);
  named.delete(undefined);
  const messages: Messages = { versions: new Map(), read: new Map() };
  for (const schema of await descriptorVersions(db, [...named.keys()] as string[])) {
    const ofSchema = named.get(schema.id)!;
    const texts = ofSchema.map(({ input }) => ({
      descriptor: schema.id,
      any: exactJson(input.encryptedMetadata!.metadata!.metadata as JsonValue),
    }));
    const read = await withSchemas(db, [schema], (schemas) => {
      messages.versions.set(schema.id, schemas[0]!.version);
      return call.compute('readMetadata', { schemas, messages: texts });
    });
    for (const [i, part] of ofSchema.entries()) messages.read.set(part, read[i]);
  }
  return messages;
}

export function requireConsumers(parts: Part[], { consumers }: References): void {
  for (const { input } of parts) {
    if (consumers.has(input.measurementConsumer)) continue;
    throw notFound('MEASUREMENT_CONSUMER_NOT_FOUND', input.measurementConsumer, 'FAILED_PRECONDITION');
  }
}

function descriptorOf(input: EventGroupInput): { name: string; id: string } | undefined {
  const name = input.encryptedMetadata?.metadata?.eventGroupMetadataDescriptor;
  if (name === undefined) return undefined;
  return { name, id: parseName('eventGroupMetadataDescriptor', name)!.eventGroupMetadataDescriptor };
}

export function readContents<P extends Part>(
  parts: P[],
  { descriptors, messages }: References,
): Map<P, EventGroupContent> {
  const violations: Violation[] = [];
  for (const { input } of parts) {
    const descriptor = descriptorOf(input);
    if (descriptor === undefined || descriptors.has(descriptor.id)) continue;
    throw notFound('EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND', descriptor.name, 'FAILED_PRECONDITION');
  }
  const contents = parts.map((part) => {
    const read = readReadable(part, messages);
    if (read && 'violations' in read) {
      violations.push(...within(`${part.at}${METADATA_FIELD}`, read.violations));
    }
    return contentOf(part.input, read && 'value' in read ? read : undefined);
  });
  if (violations.length > 0) throw invalid(violations.slice(0, MAX_VIOLATIONS));
  return new Map(parts.map((part, i) => [part, contents[i]!]));
}

function readReadable(
  part: Part,
  messages: Messages,
): ReadableMetadata | { violations: Violation[] } | undefined {
  const descriptor = descriptorOf(part.input)?.id;
  if (descriptor === undefined) return undefined;
  const read = messages.read.get(part);
  if (read === undefined) {
    return { violations: [{ field: 'eventGroupMetadataDescriptor', description: UNLINKABLE }] };
  }
  if ('violations' in read) return { violations: within('metadata', read.violations) };
  const { typeUrl, value, text } = read;
  return { descriptor, typeUrl, value, size: Buffer.byteLength(text) };
}

export function textOf(read: ReadMessage | { violations: Violation[] } | undefined): string | undefined {
  return read && 'text' in read ? read.text : undefined;
}
