/** Metadata schemas: registered and replaced by their data provider, read by consumers. */
import {
  type EventGroupMetadataDescriptor,
  ExchangeError,
  fromBase64,
  invalid,
  type JsonValue,
  parseName,
  type RequestOf,
  type ResponseOf,
  type SchemaDiff,
  toBase64,
  toPlainJson,
  WILDCARD,
} from '@measurement-exchange/contract';
import type { Transaction } from '../database/db.ts';
import {
  countEventGroups,
  type DescriptorRecord,
  findDescriptorByRequestId,
  getDescriptor,
  getDescriptors,
  insertDescriptor,
  listDescriptors,
  lockDescriptor,
  updateDescriptor,
} from '../database/descriptors.ts';
import { insertTypes, lockTypes, registeredTypes, replaceTypes } from '../database/descriptorTypes.ts';
import { getParties } from '../database/parties.ts';
import { partyName } from '../domain/access.ts';
import {
  type DescriptorSet,
  descriptorSetToJson,
  readDescriptorSet,
} from '../domain/descriptor/descriptorSet.ts';
import { packageFindings, schemaChangeFindings, typeFindings } from '../domain/descriptor/findings.ts';
import { enforce } from '../domain/findings.ts';
import { diffDescriptorSets } from '../domain/schemaDiff/schemaDiff.ts';
import { strictlyAfter } from '../domain/time.ts';
import { type Call, type Exchange, record } from './context.ts';
import { contentHash, idempotently, requireSameContent } from './idempotency.ts';
import { DEFAULT_PAGE_SIZE, type ListScope, MAX_BATCH_BYTES, MAX_PAGE_BYTES } from './paging.ts';
import { asValidated } from './views.ts';

type Encoding = 'JSON' | 'BASE64' | undefined;

function nameOf(d: Pick<DescriptorRecord, 'provider' | 'id'>): string {
  return `${d.provider}/eventGroupMetadataDescriptors/${d.id}`;
}

function view(d: DescriptorRecord, encoding: Encoding): EventGroupMetadataDescriptor {
  const descriptorSet =
    encoding === 'BASE64' ? toBase64(d.descriptorSet) : descriptorSetToJson(d.descriptorSet);
  return { name: nameOf(d), descriptorSet };
}

/** How much larger a set is in an answer. In JSON, the fields of messages take up to six times their bytes. */
function growth(encoding: Encoding): number {
  return encoding === 'BASE64' ? 4 / 3 : 6;
}

function madeOf(d: DescriptorRecord) {
  return { name: nameOf(d), version: d.version, time: d.updateTime };
}

function notFound(name: string): ExchangeError {
  return new ExchangeError('EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND', `${name} does not exist.`, {
    metadata: { eventGroupMetadataDescriptor: name },
  });
}

/** The set, when its structure is sound. */
function readSet(input: unknown): DescriptorSet {
  const field = 'descriptorSet';
  const bytes = typeof input === 'string' ? fromBase64(input) : undefined;
  if (typeof input === 'string' && bytes === undefined)
    throw invalid([{ field, description: 'must be base64' }]);
  const read = readDescriptorSet(bytes ? { bytes } : { json: toPlainJson(input as JsonValue) });
  if ('violations' in read) {
    throw invalid(
      read.violations.map((v) => ({ ...v, field: v.field === '' ? field : `${field}.${v.field}` })),
    );
  }
  return read;
}

/** Types of the set that other descriptors define. Where that can refuse a request, none is added meanwhile. */
async function findTypes(x: Exchange, tx: Transaction, provider: string, id: string, set: DescriptorSet) {
  const [, registered] = await Promise.all([
    x.checks === 'strict' && lockTypes(tx, provider),
    registeredTypes(tx, provider, id, set.messageTypes),
  ]);
  return typeFindings(
    registered.map(({ type, own }) => ({ type, own: own && nameOf({ provider, id: own }) })),
  );
}

export async function createEventGroupMetadataDescriptor(
  x: Exchange,
  call: Call,
  request: RequestOf<'createEventGroupMetadataDescriptor'>,
): Promise<EventGroupMetadataDescriptor> {
  const provider = partyName('dataProvider', request.params.dataProvider);
  const set = readSet(request.body.descriptorSet);
  const hash = contentHash(set.bytes);
  const encoding = request.query.descriptorSetEncoding;
  return idempotently('descriptors_request_id', () =>
    x.db.tx('createEventGroupMetadataDescriptor', async (tx) => {
      const id = x.newId();
      // In this order: who waited for the lock finds what the same request made meanwhile.
      const [types, earlier] = await Promise.all([
        findTypes(x, tx, provider, id, set),
        findDescriptorByRequestId(tx, provider, request.requestId),
      ]);
      if (earlier !== undefined) {
        tx.rollback();
        requireSameContent(earlier.hash, hash, request.requestId!, nameOf(earlier.descriptor));
        const existing = view(earlier.descriptor, encoding);
        return request.validateOnly ? asValidated(existing, []) : existing;
      }
      const refusable = [...packageFindings(set.messagesWithoutPackage), ...types.own];
      call.findings = [...refusable, ...types.others];
      const now = x.clock();
      const descriptor: DescriptorRecord = {
        id,
        provider,
        descriptorSet: set.bytes,
        version: 1,
        createTime: now,
        updateTime: now,
      };
      if (request.validateOnly) {
        tx.rollback();
        return asValidated(view(descriptor, encoding), call.findings);
      }
      enforce(x.checks, refusable);
      insertDescriptor(
        tx,
        descriptor,
        request.requestId === undefined ? undefined : { id: request.requestId, hash },
      );
      insertTypes(tx, id, set.messageTypes);
      record(tx, call, 'createEventGroupMetadataDescriptor', madeOf(descriptor));
      return view(descriptor, encoding);
    }),
  );
}

export async function updateEventGroupMetadataDescriptor(
  x: Exchange,
  call: Call,
  request: RequestOf<'updateEventGroupMetadataDescriptor'>,
): Promise<EventGroupMetadataDescriptor> {
  const provider = partyName('dataProvider', request.params.dataProvider);
  const id = request.params.eventGroupMetadataDescriptor;
  const set = readSet(request.body.descriptorSet);
  const encoding = request.query.descriptorSetEncoding;
  return x.db.tx('updateEventGroupMetadataDescriptor', async (tx) => {
    const [types, before] = await Promise.all([
      findTypes(x, tx, provider, id, set),
      lockDescriptor(tx, provider, id),
    ]);
    if (before === undefined) throw notFound(nameOf({ provider, id }));
    const breaking = diffDescriptorSets(before.descriptorSet, set.bytes).filter((c) => c.breaking);
    const eventGroups = breaking.length === 0 ? 0 : await countEventGroups(tx, id);
    const refusable = [
      ...packageFindings(set.messagesWithoutPackage),
      ...types.own,
      ...schemaChangeFindings(breaking, eventGroups),
    ];
    call.findings = [...refusable, ...types.others];
    const after: DescriptorRecord = {
      ...before,
      descriptorSet: set.bytes,
      version: before.version + 1,
      updateTime: strictlyAfter(x.clock(), before.updateTime),
    };
    if (request.validateOnly) {
      tx.rollback();
      return asValidated(view(after, encoding), call.findings);
    }
    enforce(x.checks, refusable);
    updateDescriptor(tx, after);
    replaceTypes(tx, id, set.messageTypes);
    record(tx, call, 'updateEventGroupMetadataDescriptor', madeOf(after));
    return view(after, encoding);
  });
}

export async function diffEventGroupMetadataDescriptor(
  x: Exchange,
  _call: Call,
  { params, body }: RequestOf<'diffEventGroupMetadataDescriptor'>,
): Promise<SchemaDiff> {
  const provider = partyName('dataProvider', params.dataProvider);
  const id = params.eventGroupMetadataDescriptor;
  const { bytes } = readSet(body.descriptorSet);
  const found = await getDescriptor(x.db, provider, id);
  if (found === undefined) throw notFound(nameOf({ provider, id }));
  const changes = diffDescriptorSets(found.descriptorSet, bytes);
  return { compatible: !changes.some((change) => change.breaking), changes };
}

export async function getEventGroupMetadataDescriptor(
  x: Exchange,
  _call: Call,
  { params, query }: RequestOf<'getEventGroupMetadataDescriptor'>,
): Promise<EventGroupMetadataDescriptor> {
  const provider = partyName('dataProvider', params.dataProvider);
  const id = params.eventGroupMetadataDescriptor;
  const found = await getDescriptor(x.db, provider, id);
  if (found === undefined) throw notFound(nameOf({ provider, id }));
  return view(found, query.descriptorSetEncoding);
}

export async function batchGetEventGroupMetadataDescriptors(
  x: Exchange,
  _call: Call,
  { params, query }: RequestOf<'batchGetEventGroupMetadataDescriptors'>,
): Promise<ResponseOf<'batchGetEventGroupMetadataDescriptors'>> {
  const anyProvider = params.dataProvider === WILDCARD;
  const ids = query.names.map((name, i) => {
    const { dataProvider, eventGroupMetadataDescriptor } = parseName('eventGroupMetadataDescriptor', name)!;
    if (anyProvider ? dataProvider === WILDCARD : dataProvider !== params.dataProvider) {
      const description = anyProvider
        ? 'must name one provider'
        : `must be under dataProviders/${params.dataProvider}`;
      throw invalid([{ field: `names[${i}]`, description }]);
    }
    return eventGroupMetadataDescriptor;
  });
  const found = await getDescriptors(x.db, [...new Set(ids)]);
  const byName = new Map(found.map((d) => [nameOf(d), d]));
  const descriptors = query.names.map((name) => {
    const descriptor = byName.get(name);
    if (descriptor === undefined) throw notFound(name);
    return descriptor;
  });
  const encoding = query.descriptorSetEncoding;
  const bytes = descriptors.reduce((sum, d) => sum + d.descriptorSet.length, 0);
  if (bytes * growth(encoding) > MAX_BATCH_BYTES) {
    throw new ExchangeError('RESPONSE_TOO_LARGE', 'The answer would be above 64 MiB: ask for fewer names.');
  }
  return { eventGroupMetadataDescriptors: descriptors.map((d) => view(d, encoding)) };
}

export async function listEventGroupMetadataDescriptors(
  x: Exchange,
  _call: Call,
  { params, query }: RequestOf<'listEventGroupMetadataDescriptors'>,
): Promise<ResponseOf<'listEventGroupMetadataDescriptors'>> {
  const provider =
    params.dataProvider === WILDCARD ? undefined : partyName('dataProvider', params.dataProvider);
  const scope: ListScope = ['listEventGroupMetadataDescriptors', params.dataProvider];
  const after = x.pageTokens.read(scope, query.pageToken);
  const limit = query.pageSize ?? DEFAULT_PAGE_SIZE;
  const maxBytes = Math.floor(MAX_PAGE_BYTES / growth(query.descriptorSetEncoding));
  const { items, more } = await listDescriptors(x.db, provider, after, limit, maxBytes);
  if (items.length === 0 && provider !== undefined && !(await getParties(x.db, [provider])).has(provider)) {
    throw new ExchangeError('DATA_PROVIDER_NOT_FOUND', `${provider} does not exist.`, {
      metadata: { dataProvider: provider },
    });
  }
  const last = items.at(-1);
  return {
    eventGroupMetadataDescriptors: items.map((d) => view(d, query.descriptorSetEncoding)),
    nextPageToken: more ? x.pageTokens.write(scope, { time: last!.createTime, id: last!.id }) : undefined,
  };
}
