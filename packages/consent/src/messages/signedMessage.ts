/** Serializes and parses SignedMessage. Parties encrypt the serialized form. */
import { create, toBinary } from '@bufbuild/protobuf';
import {
  decode,
  findSignatureAlgorithm,
  parseJsonBytes,
  type SignedMessage,
  SignedMessage as SignedMessageJson,
  specs,
  type Violation,
} from '@measurement-exchange/contract';
import { ConsentError } from '../base/errors.ts';
import { fromWire } from '../base/wire.ts';

/** Serializes a signed message as protobuf. `typeUrl` is the type of the signed bytes. */
export function packSignedMessage(signed: SignedMessage, typeUrl: string): Uint8Array {
  const { message, signature, signatureAlgorithm: named } = signed;
  const wire = create(specs.SignedMessageSchema, {
    message: { typeUrl, value: message },
    // Older readers ignore `message` and read `data` instead.
    data: message,
    signature,
    signatureAlgorithmOid: named === undefined ? '' : (findSignatureAlgorithm(named)?.oid ?? named),
  });
  return toBinary(specs.SignedMessageSchema, wire);
}

/**
 * Parses a signed message from protobuf, or from JSON if the first byte is `{`. `message` is exactly the signed bytes.
 */
export function unpackSignedMessage(bytes: Uint8Array): SignedMessage & { typeUrl?: string } {
  const signed = bytes[0] === 0x7b ? fromJsonForm(bytes) : fromProtobuf(bytes);
  for (const field of ['message', 'signature'] as const) {
    if (signed[field].length === 0) throw malformed(`The SignedMessage has no ${field}`);
  }
  return signed;
}

function fromProtobuf(bytes: Uint8Array): SignedMessage & { typeUrl?: string } {
  const wire = fromWire(specs.SignedMessageSchema, bytes, 'MESSAGE_MALFORMED', 'The SignedMessage');
  const { message, data, signature, signatureAlgorithmOid: oid } = wire;
  return {
    message: message?.value ?? data,
    signature,
    ...(oid !== '' && { signatureAlgorithm: oid }),
    ...(message !== undefined && { typeUrl: message.typeUrl }),
  };
}

function fromJsonForm(bytes: Uint8Array): SignedMessage {
  const violations: Violation[] = [];
  let signed: SignedMessage | undefined;
  try {
    signed = decode(SignedMessageJson, parseJsonBytes(bytes), violations);
  } catch {
    throw malformed('The SignedMessage is not JSON');
  }
  if (signed !== undefined) return signed;
  const [{ field, description } = { field: '', description: '' }] = violations;
  throw malformed(`The SignedMessage in JSON: ${field} ${description}`);
}

function malformed(what: string): ConsentError {
  return new ConsentError('MESSAGE_MALFORMED', `${what}: ask its sender for another.`);
}
