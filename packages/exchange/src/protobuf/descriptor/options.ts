/**
 * Builds a schema that reads a descriptor set together with the custom options that the set declares. The protobuf
 * runtime searches all unknown fields once per extension, so a malicious set could take quadratic time. Therefore the
 * extensions become ordinary fields in a copy of descriptor.proto, with JSON names such as `[my.pkg.option]`.
 */
import {
  clone,
  create,
  createFileRegistry,
  createRegistry,
  type DescExtension,
  type DescMessage,
  type FileRegistry,
  type Registry,
} from '@bufbuild/protobuf';
import { protoCamelCase } from '@bufbuild/protobuf/reflect';
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  EnumOptionsSchema,
  FeatureSet_EnumType,
  FeatureSetSchema,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_descriptor,
} from '@bufbuild/protobuf/wkt';
import { WELL_KNOWN_FILES } from '@measurement-exchange/contract';

export interface OptionSchema {
  schema: DescMessage;
  registry: Registry;
  /** Names of custom options, by the message that they extend, such as `google.protobuf.FieldOptions`. */
  optionsOf: Map<string, Set<string>>;
}

/** Builds the schema. Modifies the given files. Returns undefined if the set declares no custom options. */
export function optionSchemaOf(set: FileDescriptorProto[]): OptionSchema | undefined {
  const files = withExtensions(set);
  if (files.length === 0) return undefined;
  for (const file of files) if (WELL_KNOWN_FILES.get(file.name)?.proto !== file) prepareFile(file);

  const descriptor = clone(FileDescriptorProtoSchema, file_google_protobuf_descriptor.proto);
  const optionsOf = new Map<string, Set<string>>();
  for (const extension of registryOf(files)) {
    if (extension.kind !== 'extension') continue;
    const { name, typeName } = extension.extendee;
    const ours = file_google_protobuf_descriptor.messages.find((message) => message.typeName === typeName);
    // The set may contain another version of descriptor.proto. Skip extensions of messages that our descriptor.proto
    // lacks, and extensions whose number our descriptor.proto already uses.
    if (ours === undefined || ours.fields.some(({ number }) => number === extension.number)) continue;
    descriptor.messageType.find((message) => message.name === name)!.field.push(asField(extension));
    optionsOf.set(typeName, (optionsOf.get(typeName) ?? new Set()).add(extension.typeName));
  }
  if (optionsOf.size === 0) return undefined;
  // Our descriptor.proto comes last, because the added fields use types of the other files.
  const types = registryOf([...files, descriptor]);
  const registry = createRegistry(...[...types].filter((type) => type.kind === 'message'));
  return { schema: types.getMessage(FileDescriptorSetSchema.typeName)!, registry, optionsOf };
}

/** Returns the files that declare extensions, and all files that they import. Imported files come first. */
function withExtensions(set: FileDescriptorProto[]): FileDescriptorProto[] {
  const byName = new Map(set.map((file) => [file.name, file]));
  const find = (name: string) => byName.get(name) ?? WELL_KNOWN_FILES.get(name)?.proto;
  const ordered = new Set<FileDescriptorProto>();
  const visit = (file: FileDescriptorProto) => {
    if (ordered.has(file)) return;
    for (const name of file.dependency) {
      const imported = find(name);
      if (imported) visit(imported);
    }
    ordered.add(file);
  };
  const imports = set.flatMap((file) => file.dependency.map(find));
  for (const file of new Set([...set, ...imports])) if (file && declaresExtension(file)) visit(file);
  return [...ordered];
}

function declaresExtension({ extension, messageType }: FileDescriptorProto): boolean {
  const within = (message: DescriptorProto): boolean =>
    message.extension.length > 0 || message.nestedType.some(within);
  return extension.length > 0 || messageType.some(within);
}

/** Adds JSON names that a compiler may omit, and marks every enum as open (unknown values allowed). */
function prepareFile(file: FileDescriptorProto): void {
  file.enumType.forEach(openEnum);
  file.messageType.forEach(prepareMessage);
}

function prepareMessage(message: DescriptorProto): void {
  for (const field of message.field) field.jsonName ||= protoCamelCase(field.name);
  message.enumType.forEach(openEnum);
  message.nestedType.forEach(prepareMessage);
}

/**
 * Marks an enum as open. When the runtime reads a value of a closed enum, it searches the whole list of the enum's
 * values, which would take 17 s in total for a malicious set of 1 MiB.
 */
export function openEnum(proto: EnumDescriptorProto): void {
  proto.options ??= create(EnumOptionsSchema);
  proto.options.features ??= create(FeatureSetSchema);
  proto.options.features.enumType = FeatureSet_EnumType.OPEN;
}

function asField(extension: DescExtension): DescriptorProto['field'][number] {
  const field = clone(FieldDescriptorProtoSchema, extension.proto);
  // Name the field after the extension's number, because the full names of two extensions may map to the same property
  // name.
  field.name = `option${extension.number}`;
  field.jsonName = `[${extension.typeName}]`;
  field.extendee = '';
  field.proto3Optional = false;
  if (extension.message && extension.delimitedEncoding) field.type = FieldDescriptorProto_Type.GROUP;
  return field;
}

function registryOf(files: FileDescriptorProto[]): FileRegistry {
  const set = create(FileDescriptorSetSchema);
  set.file = files;
  return createFileRegistry(set);
}
