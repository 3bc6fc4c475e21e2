/**
 * Validates, creates, and updates event groups. An event group describes a data provider's data to a measurement
 * consumer.
 */
import {
  type EncryptedMessage,
  type EncryptionPublicKey,
  type EventGroupAttribute,
  type EventGroupInput,
  ExchangeError,
  type Finding,
  type Interval,
  isObject,
  JsonDecimal,
  type JsonObject,
  type JsonValue,
  MAX_ENTITY_METADATA_BYTES,
  type MediaType,
  REQUIRED,
  type Timestamp,
  TYPE_URLS,
  toPlainJson,
  type Violation,
} from '@measurement-exchange/contract';
import { notFound } from './found.ts';
import { nextVersion } from './time.ts';
import { typeUrlFindings } from './typeUrls.ts';

export interface EventGroupContent {
  referenceId: string | undefined;
  mediaTypes: MediaType[];
  availability: Interval | undefined;
  /** The event attributes that filters can use. Undefined if the provider listed no attributes. */
  attributes: EventGroupAttribute[] | undefined;
  /** The names of the protobuf messages that describe the events of the group. */
  eventTemplates: string[];
  vidModelLines: string[];
  entityKey: { entityType: string; entityId?: string | undefined } | undefined;
  /** A JSON object that describes the entity in `entityKey`. If `entityKey` is undefined, the entity is a campaign. */
  entityMetadata: JsonObject | undefined;
  brandName: string | undefined;
  campaignName: string | undefined;
  /** Metadata that the exchange cannot read. An event group has at most one of `encrypted` and `readable`. */
  encrypted: EncryptedMessage | undefined;
  readable: ReadableMetadata | undefined;
  publicKey: EncryptionPublicKey | undefined;
}

export interface ReadableMetadata {
  descriptor: string;
  typeUrl: string;
  value: Uint8Array;
  /** The size of the metadata as JSON, in bytes. */
  size: number;
}

export interface EventGroupRecord extends EventGroupContent {
  id: string;
  /** A resource name such as `dataProviders/x`. */
  provider: string;
  /** A resource name such as `measurementConsumers/x`. */
  consumer: string;
  state: 'ACTIVE' | 'DELETED';
  version: number;
  createTime: Timestamp;
  updateTime: Timestamp;
}

/**
 * Returns the party's name for an event group. The provider and the consumer use different names, each of which starts
 * with the party's own name.
 */
export function eventGroupName(party: string, id: string): string {
  return `${party}/eventGroups/${id}`;
}

/**
 * The maximum depth of entity metadata. In protobuf, each level takes three nested messages, and many clients read at
 * most 100.
 */
const MAX_ENTITY_METADATA_DEPTH = 16;

function depthOf(value: JsonValue): number {
  if (typeof value !== 'object' || value === null || value instanceof JsonDecimal) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

export const METADATA_FIELD = 'encryptedMetadata.metadata';

export function inputViolations(provider: string, input: EventGroupInput): Violation[] {
  const violations: Violation[] = [];
  const report = (field: string, description: string) => violations.push({ field, description });
  const { startTime, endTime } = input.dataAvailabilityInterval ?? {};
  if (startTime !== undefined && endTime !== undefined && startTime >= endTime) {
    report('dataAvailabilityInterval.endTime', 'must be after startTime');
  }
  const names = input.attributes?.map(({ name }) => name) ?? [];
  for (const [i, name] of names.entries()) {
    if (names.indexOf(name) < i) report(`attributes[${i}].name`, `repeats ${name}`);
  }
  const entity = input.eventGroupMetadata?.entityMetadata;
  const size = entity === undefined ? 0 : Buffer.byteLength(JSON.stringify(toPlainJson(entity as JsonValue)));
  if (entity !== undefined && !isObject(entity as JsonValue)) {
    report('eventGroupMetadata.entityMetadata', 'must be an object');
  } else if (size > MAX_ENTITY_METADATA_BYTES) {
    report(
      'eventGroupMetadata.entityMetadata',
      `must have at most ${MAX_ENTITY_METADATA_BYTES} bytes as JSON`,
    );
  } else if (entity !== undefined && depthOf(entity as JsonValue) > MAX_ENTITY_METADATA_DEPTH) {
    report('eventGroupMetadata.entityMetadata', `must nest at most ${MAX_ENTITY_METADATA_DEPTH} levels deep`);
  }
  if (input.encryptedMetadata === undefined) return violations;

  const { ciphertext, typeUrl, metadata } = input.encryptedMetadata;
  const isOpaque = ciphertext !== undefined || typeUrl !== undefined;
  if (isOpaque === (metadata !== undefined)) {
    report('encryptedMetadata', 'must hold either ciphertext and typeUrl, or metadata');
  } else if (isOpaque) {
    if (ciphertext === undefined) report('encryptedMetadata.ciphertext', REQUIRED);
    if (typeUrl === undefined) report('encryptedMetadata.typeUrl', REQUIRED);
    // Require the key, because the consumer must know which of its public keys the metadata is encrypted with.
    if (input.measurementConsumerPublicKey === undefined) report('measurementConsumerPublicKey', REQUIRED);
  }
  if (metadata && !metadata.eventGroupMetadataDescriptor.startsWith(`${provider}/`)) {
    report(`${METADATA_FIELD}.eventGroupMetadataDescriptor`, `must be a descriptor of ${provider}`);
  }
  return violations;
}

/**
 * Returns a finding if the public key has an unexpected type URL. `at` is the prefix of the event group's field paths
 * in the request.
 */
export function inspectEventGroup(input: EventGroupInput, at: string): Finding[] {
  const type = input.measurementConsumerPublicKey?.['@type'];
  if (type === undefined) return [];
  return typeUrlFindings(`${at}measurementConsumerPublicKey.@type`, type, [TYPE_URLS.EncryptionPublicKey]);
}

export function contentOf(input: EventGroupInput, readable: ReadableMetadata | undefined): EventGroupContent {
  const { ciphertext, typeUrl } = input.encryptedMetadata ?? {};
  const { adMetadata, entityMetadata } = input.eventGroupMetadata ?? {};
  const campaign = adMetadata?.campaignMetadata;
  return {
    referenceId: input.eventGroupReferenceId,
    mediaTypes: input.mediaTypes ?? [],
    availability: input.dataAvailabilityInterval,
    attributes: input.attributes,
    eventTemplates: input.eventTemplates?.map(({ type }) => type) ?? [],
    vidModelLines: input.vidModelLines ?? [],
    entityKey: input.entityKey,
    entityMetadata:
      entityMetadata === undefined ? undefined : (toPlainJson(entityMetadata as JsonValue) as JsonObject),
    brandName: campaign?.brandName,
    campaignName: campaign?.campaignName,
    encrypted: ciphertext && { ciphertext, typeUrl: typeUrl! },
    readable,
    publicKey: input.measurementConsumerPublicKey,
  };
}

export function create(
  ids: Pick<EventGroupRecord, 'id' | 'provider' | 'consumer'>,
  content: EventGroupContent,
  now: Timestamp,
): EventGroupRecord {
  return { ...ids, ...content, state: 'ACTIVE', version: 1, createTime: now, updateTime: now };
}

/** Throws the same error for a missing and a deleted event group. */
export function requireActive(
  group: EventGroupRecord | undefined,
  provider: string,
  id: string,
): EventGroupRecord {
  if (group?.state === 'ACTIVE') return group;
  throw notFound('EVENT_GROUP_NOT_FOUND', eventGroupName(provider, id));
}

/** Throws if an update names another measurement consumer. An event group always stays with its first consumer. */
export function requireSameConsumer(group: EventGroupRecord, consumer: string, at: string): void {
  if (group.consumer === consumer) return;
  const field = `${at}measurementConsumer`;
  throw new ExchangeError(
    'EVENT_GROUP_INVALID_ARGS',
    `${field}: an event group stays with ${group.consumer}; create another one for ${consumer}.`,
    {
      metadata: { originalMeasurementConsumer: group.consumer, providedMeasurementConsumer: consumer },
      violations: [{ field, description: `must stay ${group.consumer}` }],
    },
  );
}

export function replace(
  before: EventGroupRecord,
  content: EventGroupContent,
  now: Timestamp,
  keeps: readonly string[] = [],
): EventGroupRecord {
  const { attributes, readable } = before;
  return {
    ...before,
    ...content,
    ...(keeps.includes('attributes') && { attributes }),
    // New encrypted metadata replaces readable metadata.
    ...(keeps.includes(METADATA_FIELD) && content.encrypted === undefined && { readable }),
    ...nextVersion(before, now),
  };
}

/**
 * Deletes an event group. Removes the metadata, public key, attributes, event templates, model lines, brand name,
 * campaign name, entity ID, and entity metadata. Other fields stay readable.
 */
export function remove(before: EventGroupRecord, now: Timestamp): EventGroupRecord {
  return {
    ...before,
    attributes: undefined,
    eventTemplates: [],
    vidModelLines: [],
    entityKey: before.entityKey && { entityType: before.entityKey.entityType },
    entityMetadata: undefined,
    brandName: undefined,
    campaignName: undefined,
    encrypted: undefined,
    readable: undefined,
    publicKey: undefined,
    state: 'DELETED',
    ...nextVersion(before, now),
  };
}
