/** Checks fields, extensions, and map entries against rules that do not depend on other declarations. */
import { protoCamelCase } from '@bufbuild/protobuf/reflect';
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt';
import type { FieldProto, MessageProto } from './model.ts';

export { Label, Type };

export const INTEGERS = new Map<number, [bigint, bigint]>([
  ...[Type.INT32, Type.SINT32, Type.SFIXED32].map((t) => [t, [-(2n ** 31n), 2n ** 31n - 1n]] as const),
  ...[Type.INT64, Type.SINT64, Type.SFIXED64].map((t) => [t, [-(2n ** 63n), 2n ** 63n - 1n]] as const),
  ...[Type.UINT32, Type.FIXED32].map((t) => [t, [0n, 2n ** 32n - 1n]] as const),
  ...[Type.UINT64, Type.FIXED64].map((t) => [t, [0n, 2n ** 64n - 1n]] as const),
] as [number, [bigint, bigint]][]);

const FLOAT = /^-?(?:inf|nan|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)$/;

export function isMessageType(type: number | undefined): boolean {
  return type === Type.MESSAGE || type === Type.GROUP;
}

/** Returns the reason why a default value is invalid, or undefined. `values` contains the names of an enum's values. */
export function defaultFault(field: FieldProto, values?: ReadonlySet<string>): string | undefined {
  const { defaultValue: text, label, type } = field;
  if (text === undefined) return undefined;
  if (label === Label.REPEATED || isMessageType(type)) return 'only a singular scalar field has a default';
  const fits = () => {
    const range = INTEGERS.get(type!);
    if (range) {
      // A 64-bit integer has at most 20 characters. Parsing a longer text would waste time.
      return /^-?\d{1,20}$/.test(text) && BigInt(text) >= range[0] && BigInt(text) <= range[1];
    }
    if (type === Type.FLOAT || type === Type.DOUBLE) return text.length <= 400 && FLOAT.test(text);
    if (type === Type.BOOL) return text === 'true' || text === 'false';
    if (type === Type.ENUM) return values?.has(text);
    return true;
  };
  return fits() ? undefined : 'is not a value of its type';
}

const MAP_KEYS: ReadonlySet<number> = new Set([...INTEGERS.keys(), Type.BOOL, Type.STRING]);

/** Returns the reason why a map entry is invalid, or undefined if it is valid. */
export function mapEntryFault(proto: MessageProto, isNested: boolean): string | undefined {
  const [key, value, ...more] = proto.field ?? [];
  const singular = (field: FieldProto | undefined, name: string, number: number) =>
    field?.name === name && field.number === number && (field.label ?? Label.OPTIONAL) === Label.OPTIONAL;
  const isEntry =
    isNested &&
    more.length === 0 &&
    singular(key, 'key', 1) &&
    singular(value, 'value', 2) &&
    MAP_KEYS.has(key!.type ?? 0) &&
    [proto.nestedType, proto.enumType, proto.extension, proto.extensionRange, proto.oneofDecl].every(
      (list) => list === undefined,
    );
  return isEntry ? undefined : 'must be a nested message with a `key` 1 and a `value` 2 and nothing else';
}

/** Returns the name of a map field's entry type, for example `LabelsByIdEntry` for `labels_by_id`. */
export function mapEntryName(fieldName: string): string {
  return `${protoCamelCase(`_${fieldName}`)}Entry`;
}
