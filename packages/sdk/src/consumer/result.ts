import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { parseJsonBytes, readMessage, specs, toPlainJson } from '@measurement-exchange/contract';

/** Decodes protobuf binary, or UTF-8 JSON if the first byte is `{`. Throws an Error with the reason if it is invalid. */
export function parseResult(bytes: Uint8Array): specs.Measurement_Result {
  if (bytes[0] === 0x7b) {
    const json = inProtobufWords(toPlainJson(parseJsonBytes(bytes)) as JsonValue);
    // Ignore unknown methodologies and mechanisms, so that only the variance is unknown.
    return fromJson(specs.Measurement_ResultSchema, json, { ignoreUnknownFields: true });
  }
  return readMessage(specs.Measurement_ResultSchema, bytes);
}

/** Converts JSON to protobuf's terms: JSON uses LAPLACE for CONTINUOUS_LAPLACE, and a bare number for a variance. */
function inProtobufWords(value: JsonValue, key = ''): JsonValue {
  if (key === 'noiseMechanism' && value === 'LAPLACE') return 'CONTINUOUS_LAPLACE';
  if (key === 'variance' && typeof value === 'number') return { scalar: value };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, inProtobufWords(v, k)]));
}
