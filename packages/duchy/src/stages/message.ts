import { type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf';
import type { PermanentError } from '../computations/errors.ts';

/** A protobuf message that another party wrote; throws `invalid` where it cannot be read. */
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
