import { type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf';
import { readWire } from '@measurement-exchange/contract';
import { ConsentError, type ConsentErrorCode } from './errors.ts';

/** Keysets and signed messages nest five deep, and a keyset has a handful of keys. */
const LIMITS = { maxMessages: 1000, maxDepth: 8 };

/** A message of strangers, read strictly: the runtime's own reader takes damaged bytes for something else. */
export function fromWire<D extends DescMessage>(
  schema: D,
  bytes: Uint8Array,
  code: ConsentErrorCode,
  what: string,
): MessageShape<D> {
  const wire = readWire(schema, bytes, LIMITS);
  if ('reason' in wire) {
    const field = wire.field === '' ? '' : `, field ${wire.field},`;
    throw new ConsentError(
      code,
      `${what}${field} ${wire.reason}: it is not a ${schema.typeName} in protobuf.`,
    );
  }
  return fromBinary(schema, bytes);
}
