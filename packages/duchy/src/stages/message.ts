import { type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf';
import type { PermanentError } from '../computations/errors.ts';

/** Reads a protobuf message of another party; throws `invalid` where it is malformed. */
export function readMessage<Desc extends DescMessage>(
  schema: Desc,
  bytes: Uint8Array,
  invalid: PermanentError,
): MessageShape<Desc> {
  try {
    return fromBinary(schema, bytes);
  } catch {
    throw invalid;
  }
}
