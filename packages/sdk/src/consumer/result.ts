import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { parseJsonBytes, readMessage, specs, toPlainJson } from '@measurement-exchange/contract';

/**
 * Decodes a Measurement.Result, which is UTF-8 JSON if its first byte is `{`, and protobuf binary otherwise. Throws an
 * Error with the reason if it is invalid.
 */
export function parseResult(bytes: Uint8Array): specs.Measurement_Result {
  if (bytes[0] === 0x7b) {
    const json = inProtobufWords(toPlainJson(parseJsonBytes(bytes)) as JsonValue);
    // Ignore unknown methodologies and mechanisms. The figure can still be read, but its variance is then unknown.
    return fromJson(specs.Measurement_ResultSchema, json, { ignoreUnknownFields: true });
  }
  return readMessage(specs.Measurement_ResultSchema, bytes);
}

/** Converts the API's JSON to protobuf JSON, which uses CONTINUOUS_LAPLACE for LAPLACE and an object for a variance. */
function inProtobufWords(value: JsonValue, key = ''): JsonValue {
  if (key === 'noiseMechanism' && value === 'LAPLACE') return 'CONTINUOUS_LAPLACE';
  if (key === 'variance' && typeof value === 'number') return { scalar: value };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, inProtobufWords(v, k)]));
}
