/**
 * Serializes and decodes EventGroup.Metadata, which describes an event group. A data provider encrypts this description
 * for a consumer, and defines its own message types for the description.
 */
import { create, createFileRegistry, type FileRegistry, toBinary } from '@bufbuild/protobuf';
import { protoCamelCase } from '@bufbuild/protobuf/reflect';
import {
  type DescriptorProto,
  type FileDescriptorSet,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';
import { importedFirst, readMessage, specs, TYPE_URLS } from '@measurement-exchange/contract';

const METADATA = specs.EventGroup_MetadataSchema;

/** The type URL of the plaintext in an event group's `encryptedMetadata.ciphertext`. */
export const EVENT_GROUP_METADATA_TYPE_URL: string = TYPE_URLS.EventGroupMetadata;

/** A message that describes an event group, and the name of the descriptor for decoding it. */
export interface PackedMetadata {
  eventGroupMetadataDescriptor: string;
  typeUrl: string;
  value: Uint8Array;
}

/** Serializes an EventGroup.Metadata, which a data provider then encrypts for a consumer. */
export function packEventGroupMetadata(metadata: PackedMetadata): Uint8Array {
  const { eventGroupMetadataDescriptor, typeUrl, value } = metadata;
  const message = create(METADATA, { eventGroupMetadataDescriptor, metadata: { typeUrl, value } });
  return toBinary(METADATA, message);
}

/** Decodes an EventGroup.Metadata. Throws an Error with the reason if it is invalid. */
export function unpackEventGroupMetadata(bytes: Uint8Array): PackedMetadata {
  const { eventGroupMetadataDescriptor, metadata } = readMessage(METADATA, bytes);
  if (eventGroupMetadataDescriptor === '') throw new Error('it names no descriptor');
  if (metadata === undefined) throw new Error('it holds no message');
  return { eventGroupMetadataDescriptor, typeUrl: metadata.typeUrl, value: metadata.value };
}

/** Returns all types in a descriptor set, plus the well-known types, which the set does not have to contain. */
export function registryOf(set: FileDescriptorSet): FileRegistry {
  for (const file of set.file) file.messageType.forEach(nameForJson);
  return createFileRegistry(create(FileDescriptorSetSchema, { file: importedFirst(set.file) }));
}

/** Fills in the JSON names of fields. Protobuf compilers may omit these names, but the protobuf library needs them. */
function nameForJson(message: DescriptorProto): void {
  for (const field of message.field) field.jsonName ||= protoCamelCase(field.name);
  message.nestedType.forEach(nameForJson);
}
