/** Converts event groups to API resources. The provider and the consumer use different names for an event group. */
import { type EventGroup, JsonText, toBase64 } from '@measurement-exchange/contract';
import type { Queryable } from '../../database/db.ts';
import { type DescriptorVersion, descriptorVersions, type Side } from '../../database/eventGroups.ts';
import { partyName } from '../../domain/access.ts';
import { type EventGroupRecord, eventGroupName, type ReadableMetadata } from '../../domain/eventGroup.ts';
import type { Call } from '../context.ts';
import { withSchemas } from '../descriptors/schemas.ts';
import { descriptorName, isTooCostly } from '../descriptors/view.ts';
import type { Version } from '../mutate.ts';

export function sideOf(params: { dataProvider: string } | { measurementConsumer: string }): {
  side: Side;
  party: string;
} {
  return 'dataProvider' in params
    ? { side: 'provider', party: partyName('dataProvider', params.dataProvider) }
    : { side: 'consumer', party: partyName('measurementConsumer', params.measurementConsumer) };
}

export function versionOf(group: EventGroupRecord): Version {
  return { name: eventGroupName(group.provider, group.id), version: group.version, time: group.updateTime };
}

/** The maximum total size of the descriptor sets that one job compiles. More would take too much memory. */
const MAX_SCHEMA_BYTES = 2 * 1024 * 1024;

/**
 * Returns as many event groups as fit into `maxBytes` of JSON, but at least one. Metadata that does not match the
 * current version of its descriptor is returned as base64.
 */
export async function viewEventGroups(
  db: Queryable,
  call: Call,
  side: Side,
  groups: EventGroupRecord[],
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<EventGroup[]> {
  const messages = groups.flatMap(({ readable }) => readable ?? []);
  const ids = new Set(messages.map(({ descriptor }) => descriptor));
  const schemas = new Map((await descriptorVersions(db, [...ids])).map((schema) => [schema.id, schema]));
  const texts: (string | undefined)[] = [];
  for (const batch of batchesOf(messages, schemas)) {
    const printed = await printMetadata(db, call, batch, schemas, maxBytes);
    texts.push(...printed);
    if (printed.length < batch.length) break;
  }
  const views: EventGroup[] = [];
  let bytes = 0;
  for (const group of groups) {
    if (group.readable && texts.length === 0) break;
    const text = group.readable && texts.shift();
    bytes += bytesOf(group, text);
    if (bytes > maxBytes && views.length > 0) break;
    views.push(viewEventGroup(group, side, text));
  }
  return views;
}

function bytesOf(group: EventGroupRecord, json: string | undefined): number {
  const {
    encrypted,
    readable,
    publicKey,
    attributes,
    entityMetadata,
    brandName = '',
    campaignName = '',
  } = group;
  const bytes = [encrypted?.ciphertext, publicKey?.data, json === undefined ? readable?.value : undefined];
  const base64 = bytes.reduce((sum, one) => sum + (one === undefined ? 0 : one.length * (4 / 3)), 0);
  return (
    2_000 +
    base64 +
    (attributes === undefined ? 0 : Buffer.byteLength(JSON.stringify(attributes))) +
    (entityMetadata === undefined ? 0 : Buffer.byteLength(JSON.stringify(entityMetadata))) +
    [...group.eventTemplates, ...group.vidModelLines].reduce(
      (sum, one) => sum + Buffer.byteLength(one) + 20,
      0,
    ) +
    Buffer.byteLength(brandName) +
    Buffer.byteLength(campaignName) +
    Buffer.byteLength(json ?? '')
  );
}

/** Splits messages into batches, so that the schemas of one batch take at most MAX_SCHEMA_BYTES. */
function* batchesOf(messages: ReadableMetadata[], schemas: Map<string, DescriptorVersion>) {
  let batch: ReadableMetadata[] = [];
  let bytes = 0;
  let seen = new Set<string>();
  for (const message of messages) {
    const more = seen.has(message.descriptor) ? 0 : (schemas.get(message.descriptor)?.bytes ?? 0);
    if (bytes + more > MAX_SCHEMA_BYTES && batch.length > 0) {
      yield batch;
      [batch, bytes, seen] = [[], 0, new Set()];
    }
    batch.push(message);
    bytes += more;
    seen.add(message.descriptor);
  }
  if (batch.length > 0) yield batch;
}

async function printMetadata(
  db: Queryable,
  call: Call,
  metadata: ReadableMetadata[],
  schemas: Map<string, DescriptorVersion>,
  maxBytes: number,
): Promise<(string | undefined)[]> {
  const messages = metadata.map(({ descriptor, typeUrl, value }) => ({ descriptor, typeUrl, value }));
  const used = [...new Set(messages.map(({ descriptor }) => schemas.get(descriptor)!))];
  try {
    return await withSchemas(db, used, (schemas) =>
      call.compute('printMetadata', { schemas, messages, maxBytes }),
    );
  } catch (error) {
    // If a descriptor is too costly to process, return the metadata as base64. Only an earlier version of the exchange
    // accepted such descriptors.
    if (isTooCostly(error)) return messages.map(() => undefined);
    throw error;
  }
}

/**
 * Converts an event group to an API resource. `json` is the metadata as JSON text. Without it, the metadata is returned
 * as base64.
 */
export function viewEventGroup(g: EventGroupRecord, side: Side, json: string | undefined): EventGroup {
  const { brandName, campaignName, entityMetadata } = g;
  const isDescribed = [brandName, campaignName, entityMetadata].some((one) => one !== undefined);
  return {
    name: eventGroupName(g[side], g.id),
    dataProvider: g.provider,
    measurementConsumer: g.consumer,
    eventGroupReferenceId: g.referenceId,
    mediaTypes: given(g.mediaTypes),
    dataAvailabilityInterval: g.availability,
    attributes: g.attributes,
    eventTemplates: given(g.eventTemplates.map((type) => ({ type }))),
    vidModelLines: given(g.vidModelLines),
    entityKey: g.entityKey,
    eventGroupMetadata: isDescribed
      ? { adMetadata: { campaignMetadata: { brandName, campaignName } }, entityMetadata }
      : undefined,
    encryptedMetadata: g.readable
      ? {
          metadata: {
            eventGroupMetadataDescriptor: descriptorName(g.provider, g.readable.descriptor),
            metadata: viewMetadata(g.readable, json),
          },
        }
      : g.encrypted,
    measurementConsumerPublicKey: g.publicKey,
    state: g.state,
    createTime: g.createTime,
    updateTime: g.updateTime,
  };
}

function given<T>(items: T[]): T[] | undefined {
  return items.length === 0 ? undefined : items;
}

function viewMetadata({ typeUrl, value }: ReadableMetadata, json: string | undefined): object {
  return json === undefined ? { typeUrl, value: toBase64(value) } : new JsonText(json);
}
