/** Creates or updates event groups. Either all of them are written, or none. */
import {
  canonicalJson,
  type EventGroup,
  EventGroupInput,
  invalid,
  type Operation,
} from '@measurement-exchange/contract';
import type { Transaction } from '../../database/db.ts';
import {
  findByRequestIds,
  insertEventGroup,
  lockEventGroups,
  updateEventGroup,
} from '../../database/eventGroups.ts';
import { partyOf } from '../../domain/access.ts';
import {
  create,
  type EventGroupRecord,
  eventGroupName,
  inputViolations,
  inspectEventGroup,
  replace,
  requireActive,
  requireSameConsumer,
} from '../../domain/eventGroup.ts';
import type { Call, Exchange } from '../context.ts';
import { contentHash, idempotently, requireSameContent, withoutFormat } from '../idempotency.ts';
import { asValidated, type Decision, mutate } from '../mutate.ts';
import {
  loadReferences,
  type Messages,
  type Part,
  readContents,
  readMessages,
  requireConsumers,
  textOf,
} from './references.ts';
import { versionOf, viewEventGroup, viewEventGroups } from './view.ts';

type CreatePart = Part & { requestId: string | undefined };
type UpdatePart = Part & { id: string };

interface WriteRequest {
  path: string;
  validateOnly: boolean;
  keeps?: readonly string[] | undefined;
}

export async function createEventGroups(
  operation: Operation,
  exchange: Exchange,
  call: Call,
  request: WriteRequest,
  parts: CreatePart[],
): Promise<EventGroup[]> {
  const provider = partyOf(request.path);
  requireConsistent(provider, parts);
  const expected = await readMessages(exchange.db, call, parts);
  const hashes = new Map(parts.map((part) => [part, hashOf(part.input)]));
  const requestIds = parts.flatMap(({ requestId }) => requestId ?? []);
  // Allow one retry per event group: for each request ID, a concurrent request may create the event group first.
  return idempotently('event_groups_request_id', parts.length, () =>
    mutate(operation, exchange, call, request, async (tx) => {
      const [earlier, references] = await Promise.all([
        requestIds.length === 0 ? undefined : findByRequestIds(tx, provider, requestIds),
        loadReferences(tx, call, provider, parts, expected),
      ]);
      const groups = new Map<CreatePart, EventGroupRecord>();
      for (const part of parts) {
        const found = part.requestId === undefined ? undefined : earlier?.get(part.requestId);
        if (found === undefined) continue;
        const name = eventGroupName(provider, found.group.id);
        requireSameContent(found.hash, hashes.get(part)!, part.requestId!, name);
        groups.set(part, found.group);
      }
      const fresh = parts.filter((part) => !groups.has(part));
      requireConsumers(fresh, references);
      const contents = readContents(fresh, references);

      const now = exchange.clock();
      // Insert in the order of request IDs. Batches with the same request IDs wait for each other, and different orders
      // would cause a deadlock.
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

/**
 * Returns a hash for recognizing a repeated request. The hash omits values that may differ when a client repeats a JSON
 * request in protobuf, or the reverse. Protobuf does not distinguish empty text or an empty list from an absent field.
 */
function hashOf({ measurementConsumerPublicKey: key, ...rest }: EventGroupInput): Uint8Array {
  const fields = Object.entries({
    ...rest,
    ...(key && { measurementConsumerPublicKey: withoutFormat(key) }),
  });
  const content = Object.fromEntries(fields.filter(([, value]) => !isEmpty(value)));
  return contentHash(canonicalJson(EventGroupInput, content as EventGroupInput));
}

function isEmpty(value: unknown): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0);
}

export async function updateEventGroups(
  operation: Operation,
  exchange: Exchange,
  call: Call,
  request: WriteRequest,
  parts: UpdatePart[],
): Promise<EventGroup[]> {
  const provider = partyOf(request.path);
  requireConsistent(provider, parts);
  const expected = await readMessages(exchange.db, call, parts);
  return mutate(operation, exchange, call, request, async (tx) => {
    const ids = parts.map(({ id }) => id);
    const [locked, references] = await Promise.all([
      lockEventGroups(tx, provider, ids),
      loadReferences(tx, call, provider, parts, expected),
    ]);
    // Report a missing event group before a changed consumer or invalid metadata.
    const before = parts.map(({ id }) => requireActive(locked.get(id), provider, id));
    for (const [i, part] of parts.entries()) {
      requireSameConsumer(before[i]!, part.input.measurementConsumer, part.at);
    }
    const contents = readContents(parts, references);
    const now = exchange.clock();
    const after = parts.map((part, i) => replace(before[i]!, contents.get(part)!, now, request.keeps));
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

/**
 * Returns the findings and the response. `fresh` are the parts that this request writes. An earlier request with the
 * same request IDs wrote the other parts.
 */
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

function compare(a = '', b = ''): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function requireConsistent(provider: string, parts: Part[]): void {
  const violations = parts.flatMap(({ at, input }) =>
    inputViolations(provider, input).map((v) => ({ ...v, field: at + v.field })),
  );
  if (violations.length > 0) throw invalid(violations);
}
