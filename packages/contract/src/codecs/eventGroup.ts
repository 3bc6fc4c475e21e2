import {
  anyJson,
  array,
  bytes,
  enumOf,
  nameOf,
  object,
  optional,
  type Static,
  text,
  timestamp,
} from '../json/schema.ts';
import { EncryptionPublicKey, Finding } from './common.ts';
import { Interval } from './party.ts';

export const MEDIA_TYPES = ['VIDEO', 'DISPLAY', 'OTHER', 'NATIVE'] as const;
export type MediaType = (typeof MEDIA_TYPES)[number];

export const EVENT_GROUP_STATES = ['ACTIVE', 'DELETED'] as const;

/** Readable metadata: the descriptor that explains it, and a message of a type it defines. */
export const EventGroupMetadata = object({
  eventGroupMetadataDescriptor: nameOf('eventGroupMetadataDescriptor'),
  metadata: anyJson(
    'google.protobuf.Any: proto3 JSON with `@type`, or `{typeUrl, value}` with base64 bytes.',
  ),
});
export type EventGroupMetadata = Static<typeof EventGroupMetadata>;

/** Either opaque (`ciphertext` and `typeUrl`) or readable (`metadata`). */
const EncryptedMetadata = object({
  ciphertext: optional(bytes({ min: 1 })),
  typeUrl: optional(text(512, 1)),
  metadata: optional(EventGroupMetadata),
});

const input = {
  measurementConsumer: nameOf('measurementConsumer'),
  eventGroupReferenceId: optional(text(255)),
  mediaTypes: optional(array(enumOf(MEDIA_TYPES), { maxItems: MEDIA_TYPES.length })),
  dataAvailabilityInterval: optional(Interval),
  eventGroupMetadata: optional(
    object({
      adMetadata: object({
        campaignMetadata: object({ brandName: optional(text(1000)), campaignName: optional(text(1000)) }),
      }),
    }),
  ),
  encryptedMetadata: optional(EncryptedMetadata),
  measurementConsumerPublicKey: optional(EncryptionPublicKey),
};

const output = {
  /** Whose it is: its name under the consumer does not say. */
  dataProvider: optional(nameOf('dataProvider')),
  state: enumOf(EVENT_GROUP_STATES),
  createTime: optional(timestamp()),
  updateTime: optional(timestamp()),
  findings: optional(array(Finding)),
};
const outputOnly = Object.keys(output);

export const EventGroupInput = object(input);
export type EventGroupInput = Static<typeof EventGroupInput>;

export const EventGroup = object({
  name: optional(nameOf('eventGroup', 'measurementConsumerEventGroup')),
  ...input,
  ...output,
});
export type EventGroup = Static<typeof EventGroup>;

const parent = optional(nameOf('dataProvider'));
/** One part of a batch; `parent` may repeat that of the batch. */
export const EventGroupCreation = object({
  parent,
  eventGroup: object(input, undefined, ['name', ...outputOnly]),
  requestId: optional(text(255, 1)),
});
export type EventGroupCreation = Static<typeof EventGroupCreation>;

export const EventGroupReplacement = object({
  eventGroup: object({ name: nameOf('eventGroup'), ...input }, undefined, outputOnly),
});
export type EventGroupReplacement = Static<typeof EventGroupReplacement>;
