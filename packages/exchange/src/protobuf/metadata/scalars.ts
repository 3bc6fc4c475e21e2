/** Checks scalars from our exact JSON reader, and converts them to the form that the protobuf runtime accepts. */
import { ScalarType } from '@bufbuild/protobuf';
import { fromBase64, JsonDecimal, type JsonValue, toBase64 } from '@measurement-exchange/contract';
import { INTEGERS } from '../descriptor/fields.ts';

/** An error that is returned, not thrown. The message says why the value is invalid. */
export class Fault extends Error {}

/**
 * Reads a scalar without coercion: `3` is not a string, and `"true"` is not a boolean. As in proto3 JSON, a string such
 * as `"3"` is a valid number.
 */
export function readScalar(type: ScalarType, json: JsonValue): unknown {
  const integers = INTEGERS.get(type);
  if (integers) {
    const value = readInteger(json, ...integers);
    if (value instanceof Fault) return value;
    return integers[1] < 2n ** 32n ? Number(value) : value.toString();
  }
  switch (type) {
    case ScalarType.STRING:
      return typeof json === 'string' ? json : new Fault('must be a string');
    case ScalarType.BOOL:
      return typeof json === 'boolean' ? json : new Fault('must be true or false');
    case ScalarType.BYTES: {
      const bytes = typeof json === 'string' ? fromBase64(json) : undefined;
      return bytes === undefined ? new Fault('must be base64') : toBase64(bytes);
    }
    default:
      return readFloat(json, type === ScalarType.FLOAT ? MAX_FLOAT : Number.MAX_VALUE);
  }
}

/** Reads a map key, which is always a string in JSON. */
export function readMapKey(type: ScalarType, key: string): unknown {
  if (type === ScalarType.STRING) return key;
  if (type === ScalarType.BOOL)
    return key === 'true' || key === 'false' ? key : new Fault('is not a boolean');
  const value = readScalar(type, key);
  return value instanceof Fault ? value : String(value);
}

const MAX_FLOAT = 3.4028234663852886e38;
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function readFloat(json: JsonValue, max: number): number | string | Fault {
  if (json === 'NaN' || json === 'Infinity' || json === '-Infinity') return json;
  const text = numberText(json);
  if (text === undefined) return new Fault('must be a number');
  const value = Number(text);
  return Math.abs(value) <= max ? value : new Fault('is out of range');
}

/** Reads an integer. Also accepts forms such as `1.0` and `1e3`, up to Number.MAX_SAFE_INTEGER. */
function readInteger(json: JsonValue, min: bigint, max: bigint): bigint | Fault {
  const text = numberText(json) ?? '';
  const isPlain = /^-?\d{1,20}$/.test(text);
  if (isPlain || (text !== '' && Number.isSafeInteger(Number(text)))) {
    const value = BigInt(isPlain ? text : Number(text));
    if (value >= min && value <= max) return value;
  }
  return new Fault(`must be an integer from ${min} to ${max}`);
}

function numberText(json: JsonValue): string | undefined {
  if (typeof json === 'number' || typeof json === 'bigint') return String(json);
  if (json instanceof JsonDecimal) return json.text;
  return typeof json === 'string' && DECIMAL.test(json) ? json : undefined;
}
