import { type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf';
import { readWire } from '@measurement-exchange/contract';
import { ConsentError, type ConsentErrorCode } from './errors.ts';

/**
 * Limits for untrusted input. Valid input stays below these limits: it nests at most five levels deep, and a keyset has
 * only a few keys.
 */
const LIMITS = { maxMessages: 1000, maxDepth: 8 };

/**
 * Parses an untrusted message strictly. The protobuf runtime alone might accept damaged bytes as a different message.
 */
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
