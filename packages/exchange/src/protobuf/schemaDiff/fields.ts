/** Compares two versions of a field, even if the field was renamed. */
import { type Changes, short } from './changes.ts';
import type { Field, Schema } from './schema.ts';

export interface FieldPair {
  path: string;
  before: Field;
  after: Field;
}

export interface Comparison {
  was: Schema;
  is: Schema;
  changes: Changes;
}

/** Compares two fields, except their names, numbers, and oneofs. Stops if their cardinalities or types differ. */
export function compareField({ path, before, after }: FieldPair, { was, is, changes }: Comparison): void {
  if (before.cardinality !== after.cardinality) {
    const kinds = [before.cardinality, after.cardinality] as const;
    changes.differs('FIELD_CARDINALITY_CHANGED', path, 'cardinality', ...kinds);
    return;
  }
  if (before.cardinality === 'map') {
    changes.differs('MAP_KEY_CHANGED', path, 'key type', before.keyType!, after.keyType!);
    changes.differs('MAP_VALUE_CHANGED', path, 'value type', before.type, after.type);
    return;
  }
  if (before.type !== after.type || before.kind !== after.kind) {
    const group = wireGroup(before);
    const compatible = group !== undefined && group === wireGroup(after);
    const kind = compatible ? 'FIELD_TYPE_CHANGED_WIRE_COMPATIBLE' : 'FIELD_TYPE_CHANGED';
    changes.add(kind, path, `changed its type from ${short(before.type)} to ${short(after.type)}`);
    return;
  }
  changes.differs('FIELD_ENCODING_CHANGED', path, 'encoding', encoding(before), encoding(after));
  changes.differs('FIELD_PACKING_CHANGED', path, 'encoding', packing(before), packing(after));
  changes.differs('FIELD_UTF8_VALIDATION_CHANGED', path, 'check for UTF-8', utf8(before), utf8(after));
  if (before.cardinality !== 'singular') return;
  const required = before.presence === 'required' || after.presence === 'required';
  const kind = required ? 'FIELD_CARDINALITY_CHANGED' : 'FIELD_PRESENCE_CHANGED';
  changes.differs(kind, path, 'presence', before.presence!, after.presence!);
  changes.differs('FIELD_DEFAULT_CHANGED', path, 'default', defaultOf(before, was), defaultOf(after, is));
}

/** Types in the same group have the same wire encoding but allow different values. Enums are encoded like int32. */
const WIRE_GROUPS: Record<string, string> = {
  int32: 'varint',
  int64: 'varint',
  uint32: 'varint',
  uint64: 'varint',
  bool: 'varint',
  sint32: 'zigzag',
  sint64: 'zigzag',
  fixed32: 'fixed32',
  sfixed32: 'fixed32',
  fixed64: 'fixed64',
  sfixed64: 'fixed64',
  string: 'length',
  bytes: 'length',
};

/**
 * Returns the field's group in WIRE_GROUPS. Checks `kind` first, because a message may have the name of a scalar
 * type.
 */
function wireGroup({ kind, type }: Field): string | undefined {
  return kind === 'message' ? undefined : WIRE_GROUPS[kind === 'enum' ? 'int32' : type];
}

const encoding = ({ delimited }: Field) => (delimited ? 'delimited' : 'length-prefixed');
const packing = ({ packed }: Field) => (packed ? 'packed' : 'expanded');
const utf8 = ({ verifiesUtf8 }: Field) => (verifiesUtf8 ? 'verified' : 'none');

/**
 * Returns the value that readers see if the field is not set. For an enum, this is a number, because names may change.
 */
function defaultOf({ defaultValue: text, kind, type }: Field, schema: Schema): string {
  if (kind === 'message') return '';
  if (kind === 'enum') {
    const { numbers, first } = schema.enums.get(type) ?? {};
    return String((text === undefined ? first : numbers?.get(text)) ?? text);
  }
  if (type === 'string' || type === 'bytes') return `'${text ?? ''}'`;
  if (type === 'bool') return text ?? 'false';
  const isFloat = type === 'double' || type === 'float';
  // 1 and 1.0 are the same value. `Number` cannot parse inf and nan, but each has only one spelling.
  return isFloat && text !== undefined && !Number.isNaN(Number(text)) ? `${Number(text)}` : (text ?? '0');
}
