/** Selects the events that have one of the given combinations of attribute values. */
import type { AttributeType, AttributeValue } from '../../../filters/types.ts';
import type { Matching } from '../source.ts';
import type { Attribute, Columns } from './columns.ts';
import { bitsOf, doubleOf, escaped, NAN_BITS, type Parameters } from './parameters.ts';

/**
 * Returns SQL for an attribute's key, which is the value as text or an integer. Equal values have equal keys, and all
 * NaNs have the same key.
 */
export function keySql({ type, sql }: Attribute): string {
  if (type === 'string') return `toValidUTF8(${sql})`;
  if (type === 'bool') return `toUInt8(${sql})`;
  if (type !== 'double') return sql;
  return `if(isNaN(${sql}), toUInt64(${NAN_BITS}), reinterpretAsUInt64(${sql} + 0))`;
}

const KEY_TYPES: Record<AttributeType, string> = {
  string: 'String',
  int: 'Int64',
  uint: 'UInt64',
  double: 'UInt64',
  bool: 'UInt8',
  timestamp: 'Int64',
};

/** Returns an attribute's value from its key in a response. In responses, 64-bit integers are text. */
export function keyValue(type: AttributeType, key: string | number | null): AttributeValue {
  if (key === null || type === 'string') return key as string | null;
  if (type === 'bool') return Number(key) === 1;
  return type === 'double' ? doubleOf(BigInt(key)) : BigInt(key);
}

function keyText(type: AttributeType, value: AttributeValue): string {
  if (value === null || value === undefined) return type === 'string' ? "1,''" : '1,0';
  if (type === 'string') return `0,'${escaped(value as string)}'`;
  if (type === 'bool') return value ? '0,1' : '0,0';
  return `0,${type === 'double' ? bitsOf((value as number) + 0) : value}`;
}

/** The number of bytes after which the next parameter begins. A server accepts at most 128 KiB per parameter. */
const MAX_PARAMETER = 100_000;

/** The combinations of attribute values that match a filter, as texts that are bound as parameters. */
export class MatchingRows {
  private readonly attributes: readonly string[];
  private readonly texts: string[] = [];

  private constructor(attributes: readonly string[]) {
    this.attributes = attributes;
  }

  static async read({ attributes, rows }: Matching, { attributes: known }: Columns): Promise<MatchingRows> {
    const types = attributes.map((name) => known.get(name)!.type);
    const read = new MatchingRows(attributes);
    let [tuples, length] = [[] as string[], 0];
    for await (const batch of rows) {
      for (const row of batch) {
        const tuple = `(${row.map((value, i) => keyText(types[i]!, value)).join(',')})`;
        // Count three bytes for each UTF-16 code unit, because a code unit takes at most three bytes in UTF-8.
        length += 3 * tuple.length;
        tuples.push(tuple);
        if (length < MAX_PARAMETER) continue;
        read.texts.push(`[${tuples.join(',')}]`);
        [tuples, length] = [[], 0];
      }
    }
    if (tuples.length > 0) read.texts.push(`[${tuples.join(',')}]`);
    return read;
  }

  /**
   * Binds the combinations as parameters, and returns an SQL condition that is true for events with one of these
   * combinations. An attribute that is absent from a combination must also be absent from the event.
   */
  condition({ attributes: known }: Columns, parameters: Parameters): string {
    if (this.texts.length === 0) return 'false';
    const attributes = this.attributes.map((name) => known.get(name)!);
    const parts = attributes.map((attribute) => {
      const zero = attribute.type === 'string' ? "''" : '0';
      return `isNull(${attribute.sql}), ifNull(${keySql(attribute)}, ${zero})`;
    });
    const type = `Array(Tuple(${attributes.map(({ type }) => `UInt8, ${KEY_TYPES[type]}`).join(', ')}))`;
    const lists = this.texts.map((text) => parameters.raw(text, type));
    return `(${parts.join(', ')}) IN ${lists.length === 1 ? lists[0] : `arrayConcat(${lists.join(', ')})`}`;
  }
}
