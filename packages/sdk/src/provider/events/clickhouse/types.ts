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

/** The attribute type for each column type that filters may use. */
const ATTRIBUTES: Record<string, AttributeType> = {
  String: 'string',
  Enum8: 'string',
  Enum16: 'string',
  Bool: 'bool',
  Int8: 'int',
  Int16: 'int',
  Int32: 'int',
  Int64: 'int',
  UInt8: 'int',
  UInt16: 'int',
  UInt32: 'int',
  UInt64: 'uint',
  Float32: 'double',
  Float64: 'double',
  Decimal: 'double',
  Date: 'timestamp',
  Date32: 'timestamp',
  DateTime: 'timestamp',
  DateTime64: 'timestamp',
};

export const attributeTypeOf = ({ base }: ColumnType): AttributeType | undefined => ATTRIBUTES[base];

/** The number of decimal places in the seconds of a DateTime64. */
export const precisionOf = ({ options }: ColumnType) => Number.parseInt(options, 10);

export const isA = ({ type }: Column, ...types: AttributeType[]) =>
  types.includes(attributeTypeOf(type) as AttributeType);
export const isInteger = (column: Column) => isA(column, 'int', 'uint');
