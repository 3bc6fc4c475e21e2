/** Maps the types of PostgreSQL to attribute types, and writes an SQL expression for each attribute. */
import type { AttributeType } from '../../../filters/types.ts';
import { quoteName } from './parameters.ts';

/** A column of the table. */
export interface TableColumn {
  name: string;
  /**
   * The type as PostgreSQL writes it, such as `numeric(12,2)`. For a domain, this is the type that the domain is based
   * on.
   */
  type: string;
  /** The name of the same type in `pg_type`, without modifiers, such as `numeric`. */
  base: string;
  isEnum: boolean;
  nullable: boolean;
  /** Whether two texts are equal only if their bytes are equal. Some collations treat `a` and `A` as equal. */
  isDeterministic: boolean;
}

const TYPES: Readonly<Record<string, AttributeType>> = {
  text: 'string',
  varchar: 'string',
  bpchar: 'string',
  bool: 'bool',
  int2: 'int',
  int4: 'int',
  int8: 'int',
  float4: 'double',
  float8: 'double',
  timestamp: 'timestamp',
  timestamptz: 'timestamp',
  date: 'timestamp',
};

/** The maximum number of digits on each side of the decimal point in a number that is read as a double. */
const MAX_DIGITS = 300;

/** Returns the attribute type of a column, or undefined if filters cannot use the column. */
export function attributeTypeOf({ base, type, isEnum }: TableColumn): AttributeType | undefined {
  if (isEnum) return 'string';
  if (base !== 'numeric') return TYPES[base];
  const [, precision, scale] = (/^numeric\((\d+),(-?\d+)\)$/.exec(type) ?? []).map(Number);
  if (precision === undefined || scale === undefined) return undefined;
  // PostgreSQL has no unsigned integers, so tables usually store them as numeric(20,0).
  if (precision === 20 && scale === 0) return 'uint';
  return precision - scale <= MAX_DIGITS && scale <= MAX_DIGITS ? 'double' : undefined;
}

export const isInteger = (column: TableColumn) =>
  ['int', 'uint'].includes(attributeTypeOf(column) as AttributeType);

/** The SQL name of a column. Statements give the event table the alias `e`. */
export const columnSql = ({ name }: Pick<TableColumn, 'name'>) => `e.${quoteName(name)}`;

/**
 * Writes the SQL expression for an attribute. The expression never fails, and is NULL if the attribute is absent or out
 * of the range of its type.
 */
export function attributeSql(column: TableColumn, type: AttributeType): string {
  const name = columnSql(column);
  switch (type) {
    case 'string':
      return `(${name}::text COLLATE "C")`;
    case 'int':
      return `${name}::int8`;
    case 'uint':
      return `(CASE WHEN ${name} BETWEEN 0 AND 18446744073709551615 THEN ${name} END)`;
    case 'double':
      return `${name}::float8`;
    case 'bool':
      return name;
    case 'timestamp':
      return timeSql(column);
  }
}

/**
 * Writes the SQL expression for the time in a column, in UTC without a zone. The expression is NULL for infinite times,
 * for times before 4700 BC, and for times from the year 290000. All other times fit in 64 bits as microseconds since
 * 1970.
 */
export function timeSql(column: TableColumn): string {
  const name = columnSql(column);
  const utc = column.base === 'timestamptz' ? `${name} AT TIME ZONE 'UTC'` : `${name}::timestamp`;
  return `(CASE WHEN ${name} >= '4700-01-01 BC' AND ${name} < '290000-01-01' THEN ${utc} END)`;
}

/**
 * Returns the SQL expression for reading an attribute and for joining on it. Also returns the expression's type, and
 * the value that replaces NULL in comparisons (`empty`).
 */
export function keySql(attribute: string, type: AttributeType): { sql: string; type: string; empty: string } {
  switch (type) {
    case 'string':
      return { sql: attribute, type: 'text', empty: `''` };
    case 'uint':
      return { sql: attribute, type: 'numeric', empty: '0' };
    case 'double':
      return { sql: attribute, type: 'float8', empty: '0' };
    case 'bool':
      return { sql: attribute, type: 'bool', empty: 'false' };
    case 'timestamp':
      return { sql: `(extract(epoch FROM ${attribute}) * 1000000)::int8`, type: 'int8', empty: '0' };
    case 'int':
      return { sql: attribute, type: 'int8', empty: '0' };
  }
}

/** Returns an attribute's value from its text, which was read with `keySql`. */
export function keyValue(
  text: string | null,
  type: AttributeType,
): string | bigint | number | boolean | null {
  if (text === null) return null;
  switch (type) {
    case 'string':
      return text;
    case 'double':
      return Number(text);
    case 'bool':
      return text === 't';
    default:
      return BigInt(text);
  }
}
