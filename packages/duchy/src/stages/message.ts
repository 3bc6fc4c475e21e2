import { type DescMessage, fromBinary } from '@bufbuild/protobuf';
import type { PermanentError } from '../computations/errors.ts';

/** Reads a protobuf message of another party. Throws `invalid` if it is malformed. */
export function readMessage<D extends DescMessage>(schema: D, bytes: Uint8Array, invalid: PermanentError) {
  try {
    return fromBinary(schema, bytes);
  } catch {
    throw invalid;
  }
}
