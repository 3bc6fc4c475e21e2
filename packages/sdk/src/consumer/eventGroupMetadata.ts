/** EventGroup.Metadata: what is encrypted about an event group, and how its message is read by reflection. */
import {
  create,
  createFileRegistry,
  type DescMessage,
  type FileRegistry,
  fromBinary,
  type Message,
  toBinary,
} from '@bufbuild/protobuf';
import { protoCamelCase } from '@bufbuild/protobuf/reflect';
import {
  type Any,
  type DescriptorProto,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  type FileDescriptorProto,
  type FileDescriptorSet,
  FileDescriptorSetSchema,
  file_google_protobuf_any,
} from '@bufbuild/protobuf/wkt';
import { readWire, SPEC_LIMITS, WELL_KNOWN_FILES } from '@measurement-exchange/contract';

/** The type of what an event group's `encryptedMetadata.ciphertext` holds. */
export const EVENT_GROUP_METADATA_TYPE_URL =
  'type.googleapis.com/wfa.measurement.api.v2alpha.EventGroup.Metadata';

/** A message about an event group, and the name of the descriptor that explains it. */
export interface PackedMetadata {
  eventGroupMetadataDescriptor: string;
  typeUrl: string;
  value: Uint8Array;
}

/** Numbers as in the public reference system: the descriptor's name is field 1, the message field 2. */
function metadataType(): DescMessage {
  const label = FieldDescriptorProto_Label.OPTIONAL;
  const { STRING, MESSAGE } = FieldDescriptorProto_Type;
  const name = 'event_group_metadata_descriptor';
  const field = [
    { name, number: 1, label, type: STRING, jsonName: 'eventGroupMetadataDescriptor' },
    {
      name: 'metadata',
      number: 2,
      label,
      type: MESSAGE,
      typeName: '.google.protobuf.Any',
      jsonName: 'metadata',
    },
  ];
  const file = create(FileDescriptorSetSchema, {
    file: [
      file_google_protobuf_any.proto,
      {
        name: 'event_group.proto',
        package: 'wfa.measurement.api.v2alpha',
        syntax: 'proto3',
        dependency: [file_google_protobuf_any.proto.name],
        messageType: [{ name: 'EventGroup', nestedType: [{ name: 'Metadata', field }] }],
      },
    ],
  });
  return createFileRegistry(file).getMessage('wfa.measurement.api.v2alpha.EventGroup.Metadata')!;
}

const METADATA = metadataType();
type MetadataMessage = Message & { eventGroupMetadataDescriptor: string; metadata?: Any };

/** The serialized EventGroup.Metadata: what a data provider encrypts for a consumer. */
export function packEventGroupMetadata(metadata: PackedMetadata): Uint8Array {
  const { eventGroupMetadataDescriptor, typeUrl, value } = metadata;
  const message = create(METADATA, { eventGroupMetadataDescriptor, metadata: { typeUrl, value } });
  return toBinary(METADATA, message);
}

/** Throws an Error that says what is wrong. */
export function unpackEventGroupMetadata(bytes: Uint8Array): PackedMetadata {
  const { eventGroupMetadataDescriptor, metadata } = readMessage(METADATA, bytes) as MetadataMessage;
  if (eventGroupMetadataDescriptor === '') throw new Error('it names no descriptor');
  if (metadata === undefined) throw new Error('it holds no message');
  return { eventGroupMetadataDescriptor, typeUrl: metadata.typeUrl, value: metadata.value };
}

/** The bytes as a message of this type, read strictly. Throws an Error that says what is wrong. */
export function readMessage(type: DescMessage, bytes: Uint8Array): Message {
  const wire = readWire(type, bytes, SPEC_LIMITS);
  if ('reason' in wire) throw new Error(`${wire.field || 'the message'} ${wire.reason}`);
  return fromBinary(type, bytes);
}

/** Every type of a descriptor set, and the well-known ones it may leave out. */
export function registryOf(set: FileDescriptorSet): FileRegistry {
  for (const file of set.file) file.messageType.forEach(nameForJson);
  return createFileRegistry(create(FileDescriptorSetSchema, { file: importedFirst(set.file) }));
}

/** Compilers may leave out JSON names, and the runtime needs them. */
function nameForJson(message: DescriptorProto): void {
  for (const field of message.field) field.jsonName ||= protoCamelCase(field.name);
  message.nestedType.forEach(nameForJson);
}

/** Each file after those it imports. Of well-known files ours are taken. */
function importedFirst(files: FileDescriptorProto[]): FileDescriptorProto[] {
  const byName = new Map(files.map((file) => [file.name, file]));
  const ordered = new Set<FileDescriptorProto>();
  const visit = (name: string) => {
    const file = WELL_KNOWN_FILES.get(name)?.proto ?? byName.get(name);
    if (file === undefined || ordered.has(file)) return;
    for (const imported of file.dependency) visit(imported);
    ordered.add(file);
  };
  for (const name of byName.keys()) visit(name);
  return [...ordered];
}
