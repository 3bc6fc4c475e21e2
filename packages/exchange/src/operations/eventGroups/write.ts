/** Creating and replacing event groups, one or many: all or nothing, in the order they came in. */
import {
  canonicalJson,
  type EventGroup,
  EventGroupInput,
  ExchangeError,
  exactJson,
  invalid,
  type JsonValue,
  type Operation,
  parseName,
  type Violation,
} from '@measurement-exchange/contract';
import type { ReadMessage } from '../../compute/jobs.ts';
import { type Queryable, type Transaction, uniqueViolation } from '../../database/db.ts';
import {
  descriptorVersions,
  findByRequestIds,
  insertEventGroup,
  lockEventGroups,
  shareDescriptors,
  updateEventGroup,
} from '../../database/eventGroups.ts';
import { getParties } from '../../database/parties.ts';
import {
  contentOf,
  create,
  type EventGroupContent,
  type EventGroupRecord,
  eventGroupName,
  inputViolations,
  inspectEventGroup,
  METADATA_FIELD,
  type ReadableMetadata,
  replace,
  requireActive,
  requireSameConsumer,
} from '../../domain/eventGroup.ts';
import { within } from '../../protobuf/metadata/metadata.ts';
import type { Call, Exchange } from '../context.ts';
import { UNLINKABLE, withSchemas } from '../descriptors/schemas.ts';
import { descriptorNotFound } from '../descriptors/view.ts';
import { contentHash, requireSameContent } from '../idempotency.ts';
import { asValidated, type Decision, mutate } from '../mutate.ts';
import { versionOf, viewEventGroup, viewEventGroups } from './view.ts';

/** One event group of a request. `at` is the path of its fields: empty, or `requests[0].eventGroup.` */
interface Part {
  at: string;
  input: EventGroupInput;
}
export type CreatePart = Part & { requestId: string | undefined };
export type UpdatePart = Part & { id: string };

interface Write<P> {
  operation: Operation;
  provider: string;
  parts: P[];
  validateOnly: boolean;
}

export async function createEventGroups(
  exchange: Exchange,
  call: Call,
  { operation, provider, parts, validateOnly }: Write<CreatePart>,
): Promise<EventGroup[]> {
  requireConsistent(provider, parts);
  const expected = await readMessages(exchange.db, call, parts);
  const hashes = new Map(
    parts.map((part) => [part, contentHash(canonicalJson(EventGroupInput, part.input))]),
  );
  return untilUnique(parts.length, () =>
    mutate(operation, exchange, call, { validateOnly }, async (tx) => {
      const [earlier, references] = await Promise.all([
        findByRequestIds(tx, provider, requestIdsOf(parts)),
        loadReferences(tx, call, provider, parts, expected),
      ]);
      const groups = new Map<CreatePart, EventGroupRecord>();
      for (const part of parts) {
        const found = part.requestId === undefined ? undefined : earlier.get(part.requestId);
        if (found === undefined) continue;
        const name = eventGroupName(provider, found.group.id);
        requireSameContent(found.hash, hashes.get(part)!, part.requestId!, name);
        groups.set(part, found.group);
      }
      const fresh = parts.filter((part) => !groups.has(part));
      requireConsumers(fresh, references);
      const contents = readContents(fresh, references);

      const now = exchange.clock();
      // Batches with the same request IDs wait for each other: in one order, or they would deadlock.
      const ordered = fresh.toSorted((a, b) => compare(a.requestId, b.requestId));
      for (const part of ordered) {
        const ids = { id: exchange.newId(), provider, consumer: part.input.measurementConsumer };
        groups.set(part, create(ids, contents.get(part)!, now));
      }
      const save = () => {
        for (const part of ordered) {
          const { requestId: id } = part;
          const request = id === undefined ? undefined : { id, hash: hashes.get(part)! };
          insertEventGroup(tx, groups.get(part)!, request);
        }
      };
      return {
        ...(await written(tx, call, groups, parts, references.messages, fresh)),
        save: fresh.length === 0 ? undefined : save,
        versions: ordered.map((part) => versionOf(groups.get(part)!)),
      };
    }),
  );
}

export async function updateEventGroups(
  exchange: Exchange,
  call: Call,
  { operation, provider, parts, validateOnly }: Write<UpdatePart>,
): Promise<EventGroup[]> {
  requireConsistent(provider, parts);
  const expected = await readMessages(exchange.db, call, parts);
  return mutate(operation, exchange, call, { validateOnly }, async (tx) => {
    const ids = parts.map(({ id }) => id);
    const [locked, references] = await Promise.all([
      lockEventGroups(tx, provider, ids),
      loadReferences(tx, call, provider, parts, expected),
    ]);
    // All of them exist before any of them is judged.
    const before = parts.map(({ id }) => requireActive(locked.get(id), provider, id));
    for (const [i, part] of parts.entries()) {
      requireSameConsumer(before[i]!, part.input.measurementConsumer, part.at);
    }
    const contents = readContents(parts, references);
    const now = exchange.clock();
    const after = parts.map((part, i) => replace(before[i]!, contents.get(part)!, now));
    const groups = new Map(parts.map((part, i) => [part, after[i]!]));
    return {
      ...(await written(tx, call, groups, parts, references.messages, parts)),
      save: () => {
        for (const group of after) updateEventGroup(tx, group);
      },
      versions: after.map(versionOf),
    };
  });
}

/** Findings and views. Only fresh parts are written; an earlier request wrote the others. */
async function written<P extends Part>(
  tx: Transaction,
  call: Call,
  groups: Map<P, EventGroupRecord>,
  parts: P[],
  messages: Messages,
  fresh: P[],
): Promise<Pick<Decision<EventGroup[]>, 'findings' | 'view' | 'viewValidated'>> {
  const findings = new Map(fresh.map((part) => [part, inspectEventGroup(part.input, part.at)]));
  const written = new Set(fresh);
  const earlier = parts.filter((part) => !written.has(part)).map((part) => groups.get(part)!);
  const earlierViews = (await viewEventGroups(tx, call, 'provider', earlier)).values();
  const views = parts.map((part) =>
    written.has(part)
      ? viewEventGroup(groups.get(part)!, 'provider', textOf(messages.read.get(part)))
      : earlierViews.next().value!,
  );
  return {
    findings: [...findings.values()].flat(),
    view: () => views,
    viewValidated: () =>
      parts.map((part, i) => (findings.has(part) ? asValidated(views[i]!, findings.get(part)!) : views[i]!)),
  };
}

/**
 * The loser of a race on a requestId finds what the winner made. A batch can lose once for each of its IDs, to as
 * many other batches.
 */
async function untilUnique<T>(races: number, attempt: () => Promise<T>): Promise<T> {
  for (let lost = 0; ; lost++) {
    try {
      return await attempt();
    } catch (error) {
      if (uniqueViolation(error) !== 'event_groups_request_id' || lost >= races) throw error;
    }
  }
}

function compare(a = '', b = ''): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function requestIdsOf(parts: CreatePart[]): string[] {
  return parts.flatMap(({ requestId }) => requestId ?? []);
}

function requireConsistent(provider: string, parts: Part[]): void {
  const violations = parts.flatMap(({ at, input }) =>
    inputViolations(provider, input).map((v) => ({ ...v, field: at + v.field })),
  );
  if (violations.length > 0) throw invalid(violations);
}

/** The rows that event groups refer to, locked until the transaction ends. */
interface References {
  consumers: ReadonlyMap<string, unknown>;
  /** IDs of the descriptors that there are. */
  descriptors: ReadonlySet<string>;
  messages: Messages;
}

/** The readable metadata of the parts, read by these versions of descriptors. */
interface Messages {
  versions: Map<string, number>;
  /** Undefined where the schema cannot be linked. */
  read: Map<Part, ReadMessage | { violations: Violation[] } | undefined>;
}

async function loadReferences(
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

/** Reads the metadata before anything is locked: it takes time, and is wrong only if a descriptor changes meanwhile. */
async function readMessages(db: Queryable, call: Call, parts: Part[]): Promise<Messages> {
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

function requireConsumers(parts: Part[], { consumers }: References): void {
  for (const { input } of parts) {
    const { measurementConsumer } = input;
    if (consumers.has(measurementConsumer)) continue;
    throw new ExchangeError('MEASUREMENT_CONSUMER_NOT_FOUND', `${measurementConsumer} does not exist.`, {
      code: 'FAILED_PRECONDITION',
      metadata: { measurementConsumer },
    });
  }
}

function descriptorOf(input: EventGroupInput): { name: string; id: string } | undefined {
  const name = input.encryptedMetadata?.metadata?.eventGroupMetadataDescriptor;
  if (name === undefined) return undefined;
  return { name, id: parseName('eventGroupMetadataDescriptor', name)!.eventGroupMetadataDescriptor };
}

/** Returns the contents of all parts, or throws with every fault of every part. */
function readContents<P extends Part>(
  parts: P[],
  { descriptors, messages }: References,
): Map<P, EventGroupContent> {
  const violations: Violation[] = [];
  for (const { input } of parts) {
    const descriptor = descriptorOf(input);
    if (descriptor && !descriptors.has(descriptor.id))
      throw descriptorNotFound(descriptor.name, 'FAILED_PRECONDITION');
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

/** More violations than these help nobody. */
const MAX_VIOLATIONS = 50;

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

function textOf(read: ReadMessage | { violations: Violation[] } | undefined): string | undefined {
  return read && 'text' in read ? read.text : undefined;
}
