/** Converts scalars of proto3 JSON, as our exact JSON reader returns them, to what the protobuf runtime expects. */
import { ScalarType } from '@bufbuild/protobuf';
import { fromBase64, JsonDecimal, type JsonValue, toBase64 } from '@measurement-exchange/contract';

/** Why a value is not of its type. */
export class Fault {
  readonly description: string;
  constructor(description: string) {
    this.description = description;
  }
}

/** Does not coerce: `3` is not a string and `"true"` not a boolean. Numbers may be text, as proto3 JSON allows. */
export function readScalar(type: ScalarType, json: JsonValue): unknown {
  switch (type) {
    case ScalarType.STRING:
      return typeof json === 'string' ? json : new Fault('must be a string');
    case ScalarType.BOOL:
      return typeof json === 'boolean' ? json : new Fault('must be true or false');
    case ScalarType.BYTES: {
      const bytes = typeof json === 'string' ? fromBase64(json) : undefined;
      return bytes === undefined ? new Fault('must be base64') : toBase64(bytes);
    }
    case ScalarType.DOUBLE:
      return readFloat(json, Number.MAX_VALUE);
    case ScalarType.FLOAT:
      return readFloat(json, MAX_FLOAT);
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32: {
      const value = readInteger(json, -(2n ** 31n), 2n ** 31n - 1n);
      return typeof value === 'bigint' ? Number(value) : value;
    }
    case ScalarType.UINT32:
    case ScalarType.FIXED32: {
      const value = readInteger(json, 0n, 2n ** 32n - 1n);
      return typeof value === 'bigint' ? Number(value) : value;
    }
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return readLong(json, 0n, 2n ** 64n - 1n);
    default:
      return readLong(json, -(2n ** 63n), 2n ** 63n - 1n);
  }
}

/** Reads the key of a map, which is always a string in JSON. */
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

function readLong(json: JsonValue, min: bigint, max: bigint): string | Fault {
  const value = readInteger(json, min, max);
  return typeof value === 'bigint' ? value.toString() : value;
}

/** `1.0` and `1e3` count as integers within the safe integers of a double. */
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
