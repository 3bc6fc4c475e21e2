/** Determines the protobuf features of an element, such as field presence, for proto2, proto3, and editions. */
import {
  FeatureSet_EnumType as EnumType,
  FeatureSet_RepeatedFieldEncoding as FieldEncoding,
  FeatureSet_FieldPresence as FieldPresence,
  FeatureSet_MessageEncoding as MessageEncoding,
  FeatureSet_Utf8Validation as Utf8Validation,
} from '@bufbuild/protobuf/wkt';
import { isMessageType, Label, Type } from '../descriptor/fields.ts';
import type { FeaturesProto, FieldProto, FileProto } from '../descriptor/model.ts';

export type Features = Required<
  Pick<
    FeaturesProto,
    'fieldPresence' | 'enumType' | 'repeatedFieldEncoding' | 'utf8Validation' | 'messageEncoding'
  >
>;

/** The defaults of editions, which are the same in all editions so far. */
const EDITIONS: Features = {
  fieldPresence: FieldPresence.EXPLICIT,
  enumType: EnumType.OPEN,
  repeatedFieldEncoding: FieldEncoding.PACKED,
  utf8Validation: Utf8Validation.VERIFY,
  messageEncoding: MessageEncoding.LENGTH_PREFIXED,
};
const PROTO3: Features = { ...EDITIONS, fieldPresence: FieldPresence.IMPLICIT };
const PROTO2: Features = {
  ...EDITIONS,
  enumType: EnumType.CLOSED,
  repeatedFieldEncoding: FieldEncoding.EXPANDED,
  utf8Validation: Utf8Validation.NONE,
};

export function fileFeatures({ syntax, options }: FileProto): Features {
  const base = syntax === 'editions' ? EDITIONS : syntax === 'proto3' ? PROTO3 : PROTO2;
  return inherit(base, options);
}

/**
 * Returns the features of an element. The element's own options override `outer`, which has the features of the
 * enclosing element.
 */
export function inherit(outer: Features, options: { features?: FeaturesProto } | undefined): Features {
  return options?.features === undefined ? outer : { ...outer, ...options.features };
}

export type Presence = 'implicit' | 'explicit' | 'required';

/** Returns the presence of a field that is not `repeated`. */
export function presenceOf(field: FieldProto, { fieldPresence }: Features): Presence {
  if (field.label === Label.REQUIRED || fieldPresence === FieldPresence.LEGACY_REQUIRED) return 'required';
  // A field in a oneof has explicit presence. In proto3, the compiler puts each `optional` field into a oneof of its
  // own.
  const always = isMessageType(field.type) || field.oneofIndex !== undefined || field.extendee !== undefined;
  return always || fieldPresence === FieldPresence.EXPLICIT ? 'explicit' : 'implicit';
}

const UNPACKABLE: ReadonlySet<number> = new Set([Type.STRING, Type.BYTES, Type.MESSAGE, Type.GROUP]);

export function isPacked(field: FieldProto, { repeatedFieldEncoding }: Features): boolean {
  if (field.label !== Label.REPEATED || UNPACKABLE.has(field.type!)) return false;
  return field.options?.packed ?? repeatedFieldEncoding === FieldEncoding.PACKED;
}

/** Returns whether a message field is encoded with delimiters (like a group) instead of a length prefix. */
export function isDelimited({ type }: FieldProto, { messageEncoding }: Features): boolean {
  return type === Type.GROUP || (type === Type.MESSAGE && messageEncoding === MessageEncoding.DELIMITED);
}

export function verifiesUtf8({ type }: FieldProto, { utf8Validation }: Features): boolean {
  return type === Type.STRING && utf8Validation === Utf8Validation.VERIFY;
}

export function isOpen({ enumType }: Features): boolean {
  return enumType === EnumType.OPEN;
}
