import {
  anyJson,
  array,
  boolean,
  bytes,
  nameOf,
  number,
  object,
  optional,
  type Static,
  text,
} from '../json/schema.ts';
import { Finding } from './common.ts';

const descriptorSet = anyJson(
  'google.protobuf.FileDescriptorSet: proto3 JSON, or on input a base64 string of its serialized form. ' +
    'With `descriptorSetEncoding=BASE64` the response holds the exact bytes, and so it does where an earlier version ' +
    'accepted a set whose JSON would be above 8 MiB.',
);

export const EventGroupMetadataDescriptorInput = object({ descriptorSet });
export type EventGroupMetadataDescriptorInput = Static<typeof EventGroupMetadataDescriptorInput>;

export const EventGroupMetadataDescriptor = object({
  name: optional(nameOf('eventGroupMetadataDescriptor')),
  descriptorSet,
  findings: optional(array(Finding)),
});
export type EventGroupMetadataDescriptor = Static<typeof EventGroupMetadataDescriptor>;

export const DiffRequest = object({ descriptorSet });
export type DiffRequest = Static<typeof DiffRequest>;

/** One difference between two descriptor sets. */
export const SchemaChange = object({
  kind: text(100),
  path: text(1000),
  breaking: boolean(),
  message: text(2000),
});
export type SchemaChange = Static<typeof SchemaChange>;

export const SchemaDiff = object({
  compatible: boolean(),
  changes: array(SchemaChange),
  omittedChanges: optional(
    number(),
    'How many more changes there are: `changes` lists the first 1,000 that break and the first 1,000 that do not.',
  ),
});
export type SchemaDiff = Static<typeof SchemaDiff>;

export const DecodeRequest = object({ typeUrl: text(512, 1), value: bytes() });
export type DecodeRequest = Static<typeof DecodeRequest>;

export const DecodedMessage = object({
  typeUrl: text(512),
  message: anyJson('The message in proto3 JSON.'),
});
export type DecodedMessage = Static<typeof DecodedMessage>;
