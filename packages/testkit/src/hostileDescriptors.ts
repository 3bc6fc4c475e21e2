/** Descriptor sets that a hostile provider could register: few bytes on the wire, but large or deep when decoded. */
import { create, type Message, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import {
  type DescriptorProtoSchema,
  FieldOptionsSchema,
  type FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  FileOptionsSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt';

export type FileInit = MessageInitShape<typeof FileDescriptorProtoSchema>;
export type MessageInit = MessageInitShape<typeof DescriptorProtoSchema>;

export function setOf(...file: FileInit[]): Uint8Array {
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));
}

export const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

/**
 * Adds a length-delimited field with the number `no` and any content. The message's schema need not define the field,
 * which can be a custom option.
 */
export function withUnknown<M extends Message>(message: M, no: number, content: Uint8Array): M {
  const data = new BinaryWriter().bytes(content).finish();
  message.$unknown = [{ no, wireType: WireType.LengthDelimited, data }];
  return message;
}

/** Returns a name with `length` characters that ends with `last`. */
export const longName = (length: number, last = 'x') => `V${'v'.repeat(length - 1 - last.length)}${last}`;

const OPTION = 50_000;
const ENUM = 'E';

/**
 * Returns a set with a custom option in which every byte is an enum value with a long name: `bytes` bytes on the wire
 * become `bytes * nameLength` characters of JSON.
 */
export function expandingOption(bytes: number, nameLength = 500, name = 'bomb'): Uint8Array {
  return setOf({
    name: `${name}.proto`,
    package: name,
    dependency: ['google/protobuf/descriptor.proto'],
    messageType: [{ name: 'M' }],
    enumType: [{ name: ENUM, value: [{ name: longName(nameLength), number: 0 }] }],
    extension: [
      {
        name: 'o',
        number: OPTION,
        extendee: '.google.protobuf.FileOptions',
        label: Label.REPEATED,
        type: Type.ENUM,
        typeName: `.${name}.${ENUM}`,
        options: { packed: true },
      },
    ],
    options: withUnknown(create(FileOptionsSchema), OPTION, new Uint8Array(bytes)),
  });
}

/**
 * Returns a set with the field option `targets`, which descriptor.proto itself defines. Each of the option's `bytes`
 * bytes becomes an enum name of 27 characters in JSON.
 */
export function expandingTargets(bytes: number): Uint8Array {
  const TARGETS = 19;
  const options = withUnknown(create(FieldOptionsSchema), TARGETS, new Uint8Array(bytes).fill(2));
  const field = [{ name: 'f', number: 1, label: Label.OPTIONAL, type: Type.INT32, options }];
  return setOf({ name: 't.proto', package: 't', messageType: [{ name: 'M', field }] });
}

/**
 * Returns a set with `length` messages M0, M1, …. Each message except the last has a field of the next message's type.
 * If `isCycle`, the last message has a field of the first message's type.
 */
export function chain(length: number, { name = 'chain', isCycle = false } = {}): Uint8Array {
  const messageType = Array.from({ length }, (_, i): MessageInit => {
    const next = i + 1 < length ? i + 1 : isCycle ? 0 : undefined;
    const field = { name: 'f', number: 1, label: Label.OPTIONAL, type: Type.MESSAGE };
    return {
      name: `M${i}`,
      field: next === undefined ? [] : [{ ...field, typeName: `.${name}.M${next}` }],
    };
  });
  return setOf({ name: `${name}.proto`, package: name, syntax: 'proto3', messageType });
}

/**
 * Returns a set with a message M that has a packed repeated field of an enum type. The enum's only value has a name of
 * `nameLength` characters.
 */
export function enumList(nameLength: number, name = 'list'): Uint8Array {
  return setOf({
    name: `${name}.proto`,
    package: name,
    syntax: 'proto3',
    enumType: [{ name: ENUM, value: [{ name: longName(nameLength), number: 0 }] }],
    messageType: [
      {
        name: 'M',
        field: [
          { name: 'e', number: 1, label: Label.REPEATED, type: Type.ENUM, typeName: `.${name}.${ENUM}` },
        ],
      },
    ],
  });
}

/** A serialized value of the message from `enumList`, with `count` list entries. */
export function enumListValue(count: number): Uint8Array {
  return new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(new Uint8Array(count)).finish();
}

/** A set of about `bytes` bytes with 130 small fields per message. No legitimate set has more fields per byte. */
export function manyFields(bytes: number, name = 'ads', prefix = 'f'): Uint8Array {
  const field = Array.from({ length: 130 }, (_, i) => ({
    name: `${prefix}${i}`,
    number: i + 1,
    label: Label.OPTIONAL,
    type: Type.INT32,
  }));
  const messageType = Array.from({ length: Math.floor(bytes / 1722) }, (_, i) => ({ name: `M${i}`, field }));
  return setOf({ name: `${name}.proto`, package: name, syntax: 'proto3', messageType });
}
