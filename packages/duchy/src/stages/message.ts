import { type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf';
import { PermanentError } from '../errors.ts';

/** A protobuf message that another party wrote. */
export function readMessage<Desc extends DescMessage>(
  schema: Desc,
  bytes: Uint8Array,
  what: string,
): MessageShape<Desc> {
  try {
    return fromBinary(schema, bytes);
  } catch {
    throw new PermanentError(`${what} cannot be read.`);
  }
}
