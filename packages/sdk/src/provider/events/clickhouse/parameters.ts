/** Quotes names and binds typed values in ClickHouse's SQL. */
import type { AttributeType } from '../../../filters/types.ts';

export type Constant = string | bigint | number | boolean;

export const quoteName = (name: string) => `\`${name.replace(/[\\`]/g, '\\$&')}\``;

/** Quotes text in places where text cannot be bound. Use this function only for the operator's own text. */
export const quoteText = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;

/** The values bound to one statement, in the server's text format for parameters. */
export class Parameters {
  readonly values: Record<string, string> = {};
  private count = 0;

  /** Binds a value that is already in the server's text format, and returns its placeholder. */
  raw(text: string, type: string): string {
    const name = `p${this.count++}`;
    this.values[name] = text;
    return `{${name}:${type}}`;
  }

  text(value: string): string {
    return this.raw(escaped(value), 'String');
  }

  int64(value: bigint | number): string {
    return this.raw(String(value), 'Int64');
  }

  /** Binds a constant of a filter. A timestamp is in microseconds since 1970. */
  constant(value: Constant, type: AttributeType): string {
    switch (type) {
      case 'string':
        return this.text(value as string);
      case 'uint':
        return this.raw(String(value), 'UInt64');
      case 'bool':
        return this.raw(value ? '1' : '0', 'Bool');
      case 'double':
        // Bind the bits of the double, because the server may parse decimal digits inexactly. Adding 0 turns -0 into 0.
        return `reinterpretAsFloat64(${this.raw(String(bitsOf((value as number) + 0)), 'UInt64')})`;
      default:
        return this.int64(value as bigint);
    }
  }
}

const ESCAPES: Record<string, string> = {
  '\0': '\\0',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  "'": "\\'",
  '\\': '\\\\',
};

/** Escapes text as the server's tab-separated format requires. */
export const escaped = (text: string) => text.replace(/[\0\t\n\r'\\]/g, (character) => ESCAPES[character]!);

const bits = new DataView(new ArrayBuffer(8));

/** Returns the bits of a double. All NaNs have the same bits. */
export function bitsOf(value: number): bigint {
  bits.setFloat64(0, value);
  return Number.isNaN(value) ? NAN_BITS : bits.getBigUint64(0);
}

export function doubleOf(value: bigint): number {
  bits.setBigUint64(0, value);
  return bits.getFloat64(0);
}

export const NAN_BITS = 0x7ff8000000000000n;
