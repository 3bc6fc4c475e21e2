/** Translates event groups between protobuf messages and the resources of the exchange. */
import { create, type JsonObject, type JsonValue } from '@bufbuild/protobuf';
import {
  type EventGroup as EventGroupResource,
  equalBytes,
  formatName,
  invalid,
  type NativeObject,
  parseName,
  TYPE_URLS,
} from '@measurement-exchange/contract';
import {
  type EventGroup,
  EventGroup_State,
  EventGroupSchema,
  MediaType,
  MediaTypeSchema,
} from '@measurement-exchange/contract/rpc';
import { fromInterval, toInterval } from './intervals.ts';
import { unsupported } from './unsupported.ts';
import { enumNames, fromPublicKey, given, olderCopy, toPublicKey } from './values.ts';

/**
 * Translates an event group of a request. `field` is the request's field that contains the event group. Output-only
 * fields have no effect.
 */
export function fromEventGroup(group: EventGroup, field: string): NativeObject {
  const instead = 'is not supported by this exchange: use measurement_consumer_public_key';
  unsupported(field, group, ['signedMeasurementConsumerPublicKey'], instead);
  const { eventGroupMetadata: metadata, entityKey } = group;
  const { campaignMetadata: campaign } = metadata?.selector.value ?? {};
  const encryptedMetadata = fromEncryptedMetadata(group, field);
  return {
    measurementConsumer: given(group.measurementConsumer),
    eventGroupReferenceId: given(group.eventGroupReferenceId),
    mediaTypes: enumNames(MediaTypeSchema, group.mediaTypes),
    dataAvailabilityInterval: fromInterval(group.dataAvailabilityInterval),
    eventGroupMetadata: metadata && {
      adMetadata: metadata.selector.value && {
        campaignMetadata: {
          brandName: given(campaign?.brandName),
          campaignName: given(campaign?.campaignName),
        },
      },
      entityMetadata: entityMetadataIn(metadata.entityMetadata, `${field}.eventGroupMetadata.entityMetadata`),
    },
    eventTemplates: listed(group.eventTemplates.map(({ type }) => ({ type }))),
    vidModelLines: listed(group.vidModelLines),
    entityKey: entityKey && {
      entityType: given(entityKey.entityType),
      entityId: given(entityKey.entityId),
    },
    ...(encryptedMetadata !== undefined && { encryptedMetadata }),
    measurementConsumerPublicKey: fromPublicKey(
      group.measurementConsumerPublicKey,
      `${field}.measurementConsumerPublicKey`,
    ),
  };
}

function entityMetadataIn(metadata: JsonObject | undefined, field: string): NativeObject | undefined {
  if (metadata === undefined || isJson(metadata)) return metadata;
  throw invalid([{ field, description: 'must have only finite numbers, and texts without NUL' }]);
}

/**
 * Returns whether REST accepts the value. JSON has no NaN or infinite numbers, and REST rejects texts that contain NUL.
 */
function isJson(value: JsonValue): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value === 'string') return !value.includes('\0');
  return typeof value !== 'object' || value === null || Object.entries(value).flat().every(isJson);
}

/**
 * Translates encrypted metadata. Older clients set only `serializedEncryptedMetadata`. Newer clients set
 * `encryptedMetadata`, and may repeat its ciphertext in the older field.
 */
function fromEncryptedMetadata(group: EventGroup, field: string): NativeObject | undefined {
  const { encryptedMetadata: encrypted, serializedEncryptedMetadata: older } = group;
  if (encrypted === undefined && older.length === 0) return undefined;
  const { ciphertext, typeUrl } = encrypted ?? { ciphertext: older, typeUrl: '' };
  if (older.length > 0 && !equalBytes(older, ciphertext)) {
    const description = 'differs from encrypted_metadata.ciphertext';
    throw invalid([{ field: `${field}.serializedEncryptedMetadata`, description }]);
  }
  return { ciphertext: given(ciphertext), typeUrl: given(typeUrl) ?? TYPE_URLS.EventGroupMetadata };
}

export function toEventGroup(group: EventGroupResource): EventGroup {
  const { ciphertext, typeUrl } = group.encryptedMetadata ?? {};
  const { adMetadata, entityMetadata } = group.eventGroupMetadata ?? {};
  return create(EventGroupSchema, {
    name: canonicalName(group),
    measurementConsumer: group.measurementConsumer,
    eventGroupReferenceId: group.eventGroupReferenceId,
    mediaTypes: group.mediaTypes?.map((type) => MediaType[type]),
    // Always set the selector, because clients read the kind of an event group from its selector.
    eventGroupMetadata: {
      selector: {
        case: 'adMetadata',
        value: { campaignMetadata: adMetadata?.campaignMetadata ?? {} },
      },
      entityMetadata: entityMetadata as JsonObject | undefined,
    },
    vidModelLines: group.vidModelLines,
    eventTemplates: group.eventTemplates,
    encryptedMetadata: ciphertext && { ciphertext, typeUrl },
    serializedEncryptedMetadata: olderCopy(ciphertext),
    measurementConsumerPublicKey: toPublicKey(group.measurementConsumerPublicKey),
    state: EventGroup_State[group.state],
    dataAvailabilityInterval: toInterval(group.dataAvailabilityInterval),
    entityKey: group.entityKey,
  });
}

/**
 * Returns the name that starts with the data provider. In REST, a consumer sees a name that starts with the consumer,
 * which gRPC clients do not expect.
 */
function canonicalName({ name, dataProvider }: EventGroupResource): string {
  const ids = parseName('dataProvider', dataProvider!)!;
  const eventGroup = name!.slice(name!.lastIndexOf('/') + 1);
  return formatName('eventGroup', { ...ids, eventGroup });
}

function listed<T>(values: T[]): T[] | undefined {
  return values.length === 0 ? undefined : values;
}
