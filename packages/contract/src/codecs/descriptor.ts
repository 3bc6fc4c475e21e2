import { anyJson, array, nameOf, object, optional, type Static } from '../schema.ts';
import { Finding } from './common.ts';

const descriptorSet = anyJson(
  'google.protobuf.FileDescriptorSet: proto3 JSON, or on input a base64 string of its serialized form. ' +
    'With `descriptorSetEncoding=BASE64` the answer holds the exact bytes.',
);

export const EventGroupMetadataDescriptorInput = object({ descriptorSet });
export type EventGroupMetadataDescriptorInput = Static<typeof EventGroupMetadataDescriptorInput>;

export const EventGroupMetadataDescriptor = object({
  name: optional(nameOf('eventGroupMetadataDescriptor')),
  descriptorSet,
  findings: optional(array(Finding)),
});
export type EventGroupMetadataDescriptor = Static<typeof EventGroupMetadataDescriptor>;
