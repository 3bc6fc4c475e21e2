import { type CelError, type CelInput, CelScalar, type CelType, celError, celUint } from '@bufbuild/cel';
import { create } from '@bufbuild/protobuf';
import { TimestampSchema, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { TIMESTAMP } from './celTypes.ts';

/** The type of an attribute in filters. */
export type AttributeType = 'string' | 'int' | 'uint' | 'double' | 'bool' | 'timestamp';

/**
 * An attribute's value. An int or uint is a bigint. A timestamp is a Date, or a bigint in microseconds since 1970. A
 * value of null or undefined means that the attribute is absent: tests such as `attribute == null` work, and every
 * other use of the attribute fails.
 */
export type AttributeValue = string | bigint | number | boolean | Date | null | undefined;

export const CEL_TYPES: Readonly<Record<AttributeType, CelType>> = {
  string: CelScalar.STRING,
  int: CelScalar.INT,
  uint: CelScalar.UINT,
  double: CelScalar.DOUBLE,
  bool: CelScalar.BOOL,
  timestamp: TIMESTAMP,
};

const ABSENT = celError('the attribute is absent');

export function celValueOf(type: AttributeType, value: AttributeValue): CelInput | CelError {
  if (value === null || value === undefined) return ABSENT;
  switch (type) {
    case 'uint':
      return celUint(value as bigint);
    case 'double':
      // Add 0 to turn -0 into 0. DuckDB puts -0 and 0 into the same group of rows, and a filter is evaluated only once
      // for each group. The filter must therefore treat both values alike.
      return (value as number) + 0;
    case 'timestamp':
      return typeof value === 'bigint'
        ? timestampFromMicros(value)
        : timestampFromMs((value as Date).getTime());
    default:
      return value as string | bigint | boolean;
  }
}

function timestampFromMicros(micros: bigint) {
  const rest = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  return create(TimestampSchema, { seconds: (micros - rest) / 1_000_000n, nanos: Number(rest) * 1000 });
}
