/**
 * Reads the types and fields of a descriptor set, so that two sets can be compared. Does not use the protobuf runtime's
 * registry, because the registry cannot link a set with other versions of the well-known files.
 */
import { protoCamelCase } from '@bufbuild/protobuf/reflect';
import { Label, Type } from '../descriptor/fields.ts';
import {
  type EnumProto,
  type FieldProto,
  type FileProto,
  fullName,
  type MessageProto,
  type ServiceProto,
} from '../descriptor/model.ts';
import {
  type Features,
  fileFeatures,
  inherit,
  isDelimited,
  isOpen,
  isPacked,
  type Presence,
  presenceOf,
  verifiesUtf8,
} from './features.ts';

/** The declarations of a descriptor set. Full names have no leading dot. */
export interface Schema {
  files: Map<string, FileProto>;
  messages: Map<string, Message>;
  enums: Map<string, Enum>;
  /**
   * Excludes extensions of messages in well-known files, because such extensions define options, which never appear in
   * data.
   */
  extensions: Map<string, Extension>;
  services: Map<string, ServiceProto>;
}

export interface Declared {
  file: string;
  /** The full name of the message around the declaration, or '' at the top level. */
  parent: string;
}

export interface Message extends Declared {
  proto: MessageProto;
  fields: Field[];
}

export interface Enum extends Declared {
  proto: EnumProto;
  open: boolean;
  numbers: Map<string, number>;
  /** The number of the first value, which is the default of fields without a declared default. */
  first: number;
}

export interface Field {
  name: string;
  number: number;
  jsonName: string;
  cardinality: 'singular' | 'repeated' | 'map';
  /** A scalar type such as `int32`, or the full name of a message or enum. For a map, the type of its values. */
  type: string;
  kind: 'message' | 'enum' | 'scalar';
  /** Set only for a map. */
  keyType: string | undefined;
  /** Set only for a singular field. */
  presence: Presence | undefined;
  packed: boolean;
  delimited: boolean;
  verifiesUtf8: boolean;
  defaultValue: string | undefined;
  oneof: string | undefined;
}

export interface Extension extends Field {
  extendee: string;
}

export function readSchema(files: FileProto[]): Schema {
  const schema: Schema = {
    files: new Map(),
    messages: new Map(),
    enums: new Map(),
    extensions: new Map(),
    services: new Map(),
  };

  function readFile(proto: FileProto): void {
    const { name, package: scope = '' } = proto;
    schema.files.set(name!, proto);
    const features = fileFeatures(proto);
    const { messageType: nestedType = [], enumType = [], extension = [] } = proto;
    readMembers({ nestedType, enumType, extension }, scope, { file: name!, parent: '' }, features);
    for (const s of proto.service ?? []) schema.services.set(fullName(scope, s.name!), s);
  }

  function readMembers(
    { nestedType = [], enumType = [], extension = [] }: MessageProto,
    scope: string,
    at: Declared,
    features: Features,
  ): void {
    for (const proto of nestedType) readMessage(proto, fullName(scope, proto.name!), at, features);
    for (const proto of enumType) {
      const numbers = new Map(proto.value!.map(({ name, number = 0 }) => [name!, number]));
      schema.enums.set(fullName(scope, proto.name!), {
        ...at,
        proto,
        open: isOpen(inherit(features, proto.options)),
        numbers,
        first: proto.value![0]!.number ?? 0,
      });
    }
    for (const proto of extension) {
      const field = readField(proto, inherit(features, proto.options));
      const extendee = proto.extendee!.slice(1);
      schema.extensions.set(fullName(scope, proto.name!), { ...field, extendee });
    }
  }

  function readMessage(proto: MessageProto, name: string, at: Declared, outer: Features): void {
    // Skip map entries, because they are compared as part of the map field.
    if (proto.options?.mapEntry) return;
    const features = inherit(outer, proto.options);
    const entries = new Map(
      proto.nestedType?.filter((m) => m.options?.mapEntry).map((m) => [`.${name}.${m.name}`, m]),
    );
    const fields = (proto.field ?? []).map((field) => {
      const oneof = proto.oneofDecl?.[field.oneofIndex ?? -1];
      const own = inherit(inherit(features, oneof?.options), field.options);
      return readField(field, own, oneof?.name, entries.get(field.typeName ?? ''));
    });
    schema.messages.set(name, { ...at, proto, fields });
    readMembers(proto, name, { ...at, parent: name }, features);
  }

  for (const file of files) readFile(file);
  for (const [name, { extendee }] of schema.extensions) {
    if (!schema.messages.has(extendee)) schema.extensions.delete(name);
  }
  return schema;
}

function readField(proto: FieldProto, features: Features, oneof?: string, entry?: MessageProto): Field {
  const repeated = proto.label === Label.REPEATED;
  const [key, value] = entry?.field ?? [];
  return {
    name: proto.name!,
    number: proto.number!,
    jsonName: proto.jsonName || protoCamelCase(proto.name!),
    cardinality: entry ? 'map' : repeated ? 'repeated' : 'singular',
    ...typeOf(value ?? proto),
    keyType: key && typeOf(key).type,
    presence: repeated ? undefined : presenceOf(proto, features),
    packed: isPacked(proto, features),
    delimited: !entry && isDelimited(proto, features),
    verifiesUtf8: verifiesUtf8(proto, features),
    defaultValue: proto.defaultValue,
    oneof: proto.proto3Optional ? undefined : oneof,
  };
}

function typeOf({ type, typeName }: FieldProto): Pick<Field, 'type' | 'kind'> {
  if (type === Type.ENUM) return { type: typeName!.slice(1), kind: 'enum' };
  if (typeName !== undefined) return { type: typeName.slice(1), kind: 'message' };
  return { type: Type[type!]!.toLowerCase(), kind: 'scalar' };
}
