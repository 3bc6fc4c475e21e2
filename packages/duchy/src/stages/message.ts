import { type DescMessage, fromBinary } from '@bufbuild/protobuf';
import type { PermanentError } from '../computations/errors.ts';

export function readMessage<D extends DescMessage>(schema: D, bytes: Uint8Array, invalid: PermanentError) {
  try {
    return fromBinary(schema, bytes);
  } catch {
    throw invalid;
  }
}
