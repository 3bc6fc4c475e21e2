import * as s from '../json/schema.ts';
import { EncryptionPublicKey, written } from './common.ts';
import { Interval } from './party.ts';

export const MEDIA_TYPES = ['VIDEO', 'DISPLAY', 'OTHER', 'NATIVE'] as const;
export type MediaType = (typeof MEDIA_TYPES)[number];

export const EVENT_GROUP_STATES = ['ACTIVE', 'DELETED'] as const;

/** Readable metadata: a protobuf message, and the descriptor that defines the message's type. */
export const EventGroupMetadata = s.object({
  eventGroupMetadataDescriptor: s.nameOf('eventGroupMetadataDescriptor'),
  metadata: s.anyJson(
    'google.protobuf.Any: proto3 JSON with `@type`, or `{typeUrl, value}` with base64 bytes.',
  ),
});

/** The entity type of an event group if the provider does not set a type. A provider may use any text as the type. */
export const DEFAULT_ENTITY_TYPE = 'campaign';
export const MAX_ENTITY_METADATA_BYTES = 16 * 1024;

/** An event group's metadata: either encrypted (`ciphertext` and `typeUrl`) or readable (`metadata`). */
const EncryptedMetadata = s.object({
  ciphertext: s.optional(s.bytes({ min: 1 })),
  typeUrl: s.optional(s.text(512, 1)),
  metadata: s.optional(EventGroupMetadata),
});

/** The types that an attribute in a filter can have. Each is named after a CEL type. */
export const ATTRIBUTE_TYPES = ['STRING', 'INT', 'UINT', 'DOUBLE', 'BOOL', 'TIMESTAMP'] as const;
export const MAX_ATTRIBUTES = 100;

export const EventGroupAttribute = s.object(
  {
    name: s.attributeName(),
    type: s.enumOf(ATTRIBUTE_TYPES),
    description: s.optional(s.text(500)),
    exampleValues: s.optional(s.array(s.text(100), { maxItems: 20 })),
  },
  'An attribute of the events, which filters can use.',
);
export type EventGroupAttribute = s.Static<typeof EventGroupAttribute>;

const input = {
  measurementConsumer: s.nameOf('measurementConsumer'),
  eventGroupReferenceId: s.optional(s.text(255)),
  mediaTypes: s.optional(s.array(s.enumOf(MEDIA_TYPES), { maxItems: MEDIA_TYPES.length })),
  dataAvailabilityInterval: s.optional(Interval),
  attributes: s.optional(
    s.array(EventGroupAttribute, {
      maxItems: MAX_ATTRIBUTES,
      description: 'The attributes that filters can use. Absent: the data provider does not say.',
    }),
  ),
  eventTemplates: s.optional(
    s.array(s.object({ type: s.text(255, 1) }), {
      maxItems: 20,
      description: 'The types of its events, by the names of their protobuf messages.',
    }),
  ),
  vidModelLines: s.optional(
    s.array(s.text(255, 1), {
      maxItems: 50,
      description: 'The model lines that its events are labeled with.',
    }),
  ),
  entityKey: s.optional(
    s.object({ entityType: s.text(63, 1), entityId: s.optional(s.text(255, 1)) }),
    `What it is in the data provider's own systems. Absent: a ${DEFAULT_ENTITY_TYPE}.`,
  ),
  eventGroupMetadata: s.optional(
    s.object({
      adMetadata: s.object({
        campaignMetadata: s.object({
          brandName: s.optional(s.text(1000)),
          campaignName: s.optional(s.text(1000)),
        }),
      }),
      entityMetadata: s.optional(
        s.anyJson(`An object that describes the entity, at most ${MAX_ENTITY_METADATA_BYTES} bytes as JSON.`),
      ),
    }),
  ),
  encryptedMetadata: s.optional(EncryptedMetadata),
  measurementConsumerPublicKey: s.optional(EncryptionPublicKey),
};

const output = {
  /**
   * The data provider that owns the event group. Needed because an event group's name can contain the consumer instead
   * of the data provider, as in `measurementConsumers/…/eventGroups/…`.
   */
  dataProvider: s.optional(s.nameOf('dataProvider')),
  state: s.enumOf(EVENT_GROUP_STATES),
  ...written,
};
const outputOnly = Object.keys(output);

export const EventGroupInput = s.object(input);
export type EventGroupInput = s.Static<typeof EventGroupInput>;

export const EventGroup = s.object({
  name: s.optional(s.nameOf('eventGroup', 'measurementConsumerEventGroup')),
  ...input,
  ...output,
});
export type EventGroup = s.Static<typeof EventGroup>;

const parent = s.optional(s.nameOf('dataProvider'));
/** One create request in a batch. If `parent` is set, it must equal the parent in the path. */
export const EventGroupCreation = s.object({
  parent,
  eventGroup: s.object(input, undefined, ['name', ...outputOnly]),
  requestId: s.optional(s.text(255, 1)),
});

export const EventGroupReplacement = s.object({
  eventGroup: s.object({ name: s.nameOf('eventGroup'), ...input }, undefined, outputOnly),
});
