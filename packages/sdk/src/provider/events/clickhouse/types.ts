/** Parses ClickHouse's type names. */
import type { AttributeType } from '../../../filters/types.ts';

export interface ColumnType {
  /** The name without wrappers and arguments, such as `DateTime64`. */
  base: string;
  /** The arguments of the base type, such as `3, 'UTC'`. */
  options: string;
  nullable: boolean;
  toString(): string;
}

export interface Column {
  name: string;
  type: ColumnType;
}

export function typeOf(name: string): ColumnType {
  let [inner, nullable] = [name, false];
  for (let match = wrapped(inner); match; match = wrapped(inner)) {
    if (match[1] === 'Nullable') nullable = true;
    inner = match[2]!;
  }
  const [, base = inner, options = ''] = /^(\w+)(?:\((.*)\))?$/s.exec(inner) ?? [];
  return { base, options, nullable, toString: () => name };
}

const wrapped = (name: string) => /^(Nullable|LowCardinality)\((.*)\)$/s.exec(name);

interface AttributeRule {
  type: AttributeType;
  /**
   * Writes SQL for the attribute's value. A timestamp is in microseconds since 1970. If `write` is absent, the SQL is
   * the column itself.
   */
  write?(value: string): string;
}

const MICROS_PER_DAY = 86_400_000_000;

const enumeration: AttributeRule = { type: 'string', write: (value) => `toString(${value})` };
const narrowInteger: AttributeRule = { type: 'int', write: (value) => `toInt64(${value})` };
const inexact: AttributeRule = { type: 'double', write: (value) => `toFloat64(${value})` };
const date: AttributeRule = {
  type: 'timestamp',
  write: (value) => `toInt64(${value}) * ${MICROS_PER_DAY}`,
};

/** The column types that filters can use. */
const ATTRIBUTES: Readonly<Record<string, AttributeRule>> = {
  String: { type: 'string' },
  Enum8: enumeration,
  Enum16: enumeration,
  Bool: { type: 'bool' },
  Int8: narrowInteger,
  Int16: narrowInteger,
  Int32: narrowInteger,
  Int64: { type: 'int' },
  UInt8: narrowInteger,
  UInt16: narrowInteger,
  UInt32: narrowInteger,
  UInt64: { type: 'uint' },
  Float32: inexact,
  Float64: { type: 'double' },
  Decimal: inexact,
  Date: date,
  Date32: date,
  DateTime: { type: 'timestamp', write: (value) => `toInt64(toUnixTimestamp(${value})) * 1000000` },
  DateTime64: { type: 'timestamp', write: (value) => `toUnixTimestamp64Micro(${value})` },
};

export const attributeTypeOf = ({ base }: ColumnType): AttributeType | undefined => ATTRIBUTES[base]?.type;

export const attributeSql = (value: string, { base }: ColumnType) =>
  ATTRIBUTES[base]?.write?.(value) ?? value;

/** The number of decimal places in the seconds of a DateTime64. */
export const precisionOf = ({ options }: ColumnType) => Number.parseInt(options, 10);

export const isA = ({ type }: Column, ...types: AttributeType[]) =>
  types.includes(attributeTypeOf(type) as AttributeType);
export const isInteger = (column: Column) => isA(column, 'int', 'uint');
