/** Links a descriptor set's types, so that messages of these types can be read and written. */
import {
  create,
  createFileRegistry,
  createMutableRegistry,
  type DescEnum,
  type DescExtension,
  type DescField,
  type DescMessage,
  fromBinary,
  type Registry,
} from '@bufbuild/protobuf';
import { protoCamelCase } from '@bufbuild/protobuf/reflect';
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  FeatureSet_EnumType,
  FeatureSet_FieldPresence,
  type FieldDescriptorProto,
  type FileDescriptorProto,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';
import {
  importedFirst,
  isWellKnownFile,
  WELL_KNOWN_FILES,
  type WireLimits,
} from '@measurement-exchange/contract';
import { fullName } from '../descriptor/model.ts';
import { openEnum } from '../descriptor/options.ts';
import { TypeChains } from '../descriptor/typeChains.ts';

export interface MetadataSchema {
  /** Every type that an Any is allowed to have: the set's own types and the well-known types. */
  registry: Registry;
  limits: WireLimits;
  isClosed: (type: DescEnum) => boolean;
  /** Returns the field's name in its .proto file. The linker renames all fields. */
  nameOf: (field: DescField) => string;
}

/** Finds a type that the descriptor set defines. Well-known types are not accepted as metadata. */
export function findType(schema: MetadataSchema, typeUrl: string): DescMessage | undefined {
  const type = findAnyType(schema, typeUrl);
  return type && !isWellKnownFile(type.file.proto.name) ? type : undefined;
}

export function findAnyType(schema: MetadataSchema, typeUrl: string): DescMessage | undefined {
  const slash = typeUrl.lastIndexOf('/');
  return slash < 0 ? undefined : schema.registry.getMessage(typeUrl.slice(slash + 1));
}

export function isRequired({ presence }: DescField): boolean {
  return presence === FeatureSet_FieldPresence.LEGACY_REQUIRED;
}

/**
 * The limits on the cost of reading a metadata message. For each nested message, the runtime takes a microsecond per
 * field of the nested message's type. The depth is limited to 28, so that every allowed message can also be sent as
 * JSON: each level of the message takes at most two levels of JSON, and a request's JSON may have 64 levels.
 */
const MAX_FIELDS = 500_000;
const MAX_MESSAGES = 10_000;
const MAX_DEPTH = 28;

/**
 * Links a descriptor set. Returns undefined if linking fails: for example, if the set's well-known files differ too
 * much from ours, or if a chain of message types is too long. In a chain, each type has a field of the next type.
 */
export function compileSchema(descriptorSet: Uint8Array): MetadataSchema | undefined {
  try {
    return new Linker().link(fromBinary(FileDescriptorSetSchema, descriptorSet).file);
  } catch {
    return undefined;
  }
}

class Linker {
  private readonly closedEnums = new Set<string>();
  private readonly names = new Map<FieldDescriptorProto, string>();

  link(set: FileDescriptorProto[]): MetadataSchema {
    const files = importedFirst(set);
    for (const file of files) if (!WELL_KNOWN_FILES.has(file.name)) this.file(file);
    const linked = create(FileDescriptorSetSchema);
    linked.file = files;
    const types = [...createFileRegistry(linked)];
    for (const type of types) if (type.kind === 'extension') addAsField(type);

    const registry = createMutableRegistry(...WELL_KNOWN_FILES.values());
    const chains = new TypeChains();
    let widest = 1;
    for (const type of types) {
      if (type.kind !== 'message') continue;
      registry.add(type);
      widest = Math.max(widest, type.fields.length);
      for (const { message } of type.fields) if (message) chains.add(type.typeName, message.typeName);
    }
    if (chains.tooLong() !== undefined) throw new Error('the chains of message types are too long');
    return {
      registry,
      limits: {
        maxMessages: Math.min(MAX_MESSAGES, Math.ceil(MAX_FIELDS / widest)),
        maxDepth: MAX_DEPTH,
        refuseUnknown: true,
      },
      isClosed: ({ typeName }) => this.closedEnums.has(typeName),
      // Use the JSON name for an extension, such as `[my.pkg.extension]`.
      nameOf: ({ proto, jsonName }) =>
        proto.extendee === '' ? (this.names.get(proto) ?? proto.name) : jsonName,
    };
  }

  private file(file: FileDescriptorProto): void {
    // The runtime recognizes well-known types such as Timestamp by name, so no other file may declare those names.
    if (file.package === 'google.protobuf') throw new Error(`${file.name} declares well-known types`);
    for (const type of file.enumType) this.enum(type, file.package, file);
    for (const type of file.messageType) this.message(type, file.package, file);
  }

  /**
   * Renames each field to its number, because the runtime would give `a_b` and `aB` the same property name. Also adds
   * JSON names that a compiler may omit.
   */
  private message(message: DescriptorProto, scope: string, file: FileDescriptorProto): void {
    const name = fullName(scope, message.name);
    for (const field of message.field) {
      this.names.set(field, field.name);
      field.jsonName ||= protoCamelCase(field.name);
      field.name = `f${field.number}`;
    }
    for (const [i, oneof] of message.oneofDecl.entries()) oneof.name = `o${i}`;
    for (const type of message.enumType) this.enum(type, name, file);
    for (const type of message.nestedType) this.message(type, name, file);
  }

  /**
   * Records closed enums for `checkMessage`. Marks every enum as open, because the runtime is slow with closed enums.
   */
  private enum(type: EnumDescriptorProto, scope: string, file: FileDescriptorProto): void {
    if (isClosed(type, file)) this.closedEnums.add(fullName(scope, type.name));
    openEnum(type);
  }
}

/**
 * Returns whether an enum allows only the values that it lists. With editions, an option of the enum or of its file
 * decides, and enums are open by default.
 */
function isClosed(type: EnumDescriptorProto, file: FileDescriptorProto): boolean {
  if (file.syntax !== 'editions') return file.syntax !== 'proto3';
  const set = type.options?.features?.enumType || file.options?.features?.enumType;
  return set === FeatureSet_EnumType.CLOSED;
}

/**
 * Turns an extension into a field of the message that it extends, with the JSON name `[my.pkg.extension]`. Without such
 * fields, the runtime would search all unknown fields once per extension, which is slow.
 */
function addAsField(extension: DescExtension): void {
  const { extendee, number } = extension;
  if (isWellKnownFile(extendee.file.proto.name)) return;
  const field = {
    ...extension,
    kind: 'field',
    parent: extendee,
    name: `f${number}`,
    localName: `f${number}`,
  } as unknown as DescField;
  extendee.fields.push(field);
  extendee.members.push(field);
  extendee.field[field.localName] = field;
}
