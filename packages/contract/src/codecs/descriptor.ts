import * as s from '../json/schema.ts';
import { Finding } from './common.ts';

const descriptorSet = s.anyJson(
  'google.protobuf.FileDescriptorSet: proto3 JSON, or on input a base64 string of its serialized form. ' +
    'With `descriptorSetEncoding=BASE64` the response holds the exact bytes, and so it does where an earlier version ' +
    'accepted a set whose JSON would be above 8 MiB.',
);

export const EventGroupMetadataDescriptorInput = s.object({ descriptorSet });

export const EventGroupMetadataDescriptor = s.object({
  name: s.optional(s.nameOf('eventGroupMetadataDescriptor')),
  descriptorSet,
  findings: s.optional(s.array(Finding)),
});
export type EventGroupMetadataDescriptor = s.Static<typeof EventGroupMetadataDescriptor>;

export const DiffRequest = s.object({ descriptorSet });

/** One difference between two descriptor sets. */
export const SchemaChange = s.object({
  kind: s.text(100),
  path: s.text(1000),
  breaking: s.boolean(),
  message: s.text(2000),
});
export type SchemaChange = s.Static<typeof SchemaChange>;

export const SchemaDiff = s.object({
  compatible: s.boolean(),
  changes: s.array(SchemaChange),
  omittedChanges: s.optional(
    s.number(),
    'How many more changes there are: `changes` lists the first 1,000 that break and the first 1,000 that do not.',
  ),
});

export const DecodeRequest = s.object({ typeUrl: s.text(512, 1), value: s.bytes() });

export const DecodedMessage = s.object({
  typeUrl: s.text(512),
  message: s.anyJson('The message in proto3 JSON.'),
});
