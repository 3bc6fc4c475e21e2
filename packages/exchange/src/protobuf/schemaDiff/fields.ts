/** Compares a field before and after, also if it was renamed. */
import { type Changes, short } from './changes.ts';
import type { Field, Schema } from './schema.ts';

/** A field, or an extension, of both versions. */
export interface FieldPair {
  path: string;
  before: Field;
  after: Field;
}

export class FieldComparer {
  private readonly before: Schema;
  private readonly after: Schema;
  private readonly changes: Changes;

  constructor(before: Schema, after: Schema, changes: Changes) {
    this.before = before;
    this.after = after;
    this.changes = changes;
  }

  /** Everything but name, number and oneof. */
  compare({ path, before, after }: FieldPair): void {
    const { changes } = this;
    if (before.cardinality !== after.cardinality) {
      changes.differs(
        'FIELD_CARDINALITY_CHANGED',
        path,
        'cardinality',
        before.cardinality,
        after.cardinality,
      );
      return;
    }
    if (before.cardinality === 'map') {
      changes.differs('MAP_KEY_CHANGED', path, 'key type', before.keyType!, after.keyType!);
      changes.differs('MAP_VALUE_CHANGED', path, 'value type', before.type, after.type);
      return;
    }
    if (before.type !== after.type || before.kind !== after.kind) {
      this.type({ path, before, after });
      return;
    }
    changes.differs('FIELD_ENCODING_CHANGED', path, 'encoding', encoding(before), encoding(after));
    changes.differs('FIELD_PACKING_CHANGED', path, 'encoding', packing(before), packing(after));
    changes.differs('FIELD_UTF8_VALIDATION_CHANGED', path, 'check for UTF-8', utf8(before), utf8(after));
    if (before.cardinality === 'singular') {
      this.presence({ path, before, after });
      const defaults = [defaultOf(before, this.before), defaultOf(after, this.after)] as const;
      changes.differs('FIELD_DEFAULT_CHANGED', path, 'default', ...defaults);
    }
  }

  private presence({ path, before, after }: FieldPair): void {
    const required = before.presence === 'required' || after.presence === 'required';
    const kind = required ? 'FIELD_CARDINALITY_CHANGED' : 'FIELD_PRESENCE_CHANGED';
    this.changes.differs(kind, path, 'presence', before.presence!, after.presence!);
  }

  private type({ path, before, after }: FieldPair): void {
    const group = wireGroup(before);
    const compatible = group !== undefined && group === wireGroup(after);
    const kind = compatible ? 'FIELD_TYPE_CHANGED_WIRE_COMPATIBLE' : 'FIELD_TYPE_CHANGED';
    this.changes.add(kind, path, `changed its type from ${short(before.type)} to ${short(after.type)}`);
  }
}

/** Types that share a wire encoding, if not all values. Enums are encoded as int32. */
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

/** A message may have the name of a scalar type. */
function wireGroup({ kind, type }: Field): string | undefined {
  return kind === 'message' ? undefined : WIRE_GROUPS[kind === 'enum' ? 'int32' : type];
}

const encoding = ({ delimited }: Field) => (delimited ? 'delimited' : 'length-prefixed');
const packing = ({ packed }: Field) => (packed ? 'packed' : 'expanded');
const utf8 = ({ verifiesUtf8 }: Field) => (verifiesUtf8 ? 'verified' : 'none');

/** The value that readers see where the field is not set; for an enum its number, since names may change. */
function defaultOf({ defaultValue: text, kind, type }: Field, schema: Schema): string {
  if (kind === 'message') return '';
  if (kind === 'enum') {
    const { numbers, first } = schema.enums.get(type) ?? {};
    return String((text === undefined ? first : numbers?.get(text)) ?? text);
  }
  if (type === 'string' || type === 'bytes') return `'${text ?? ''}'`;
  if (type === 'bool') return text ?? 'false';
  const isFloat = type === 'double' || type === 'float';
  // 1 and 1.0 are the same; inf and nan have no other spelling.
  return isFloat && text !== undefined && !Number.isNaN(Number(text)) ? `${Number(text)}` : (text ?? '0');
}
