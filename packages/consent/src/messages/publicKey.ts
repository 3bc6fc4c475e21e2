/** Serializes and parses EncryptionPublicKey messages, which contain a Tink keyset. */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { type BindingSchema, specs } from '@measurement-exchange/contract';
import { ConsentError } from '../base/errors.ts';
import { fromWire } from '../base/wire.ts';

/** Serializes a public Tink keyset as an EncryptionPublicKey. A duchy's key also has a `binding` to a computation. */
export function packEncryptionPublicKey(
  keyset: Uint8Array,
  binding?: MessageInitShape<typeof BindingSchema>,
): Uint8Array {
  const format = specs.EncryptionPublicKey_Format.TINK_KEYSET;
  const key = create(specs.EncryptionPublicKeySchema, { format, data: keyset, ...(binding && { binding }) });
  return toBinary(specs.EncryptionPublicKeySchema, key);
}

/** Returns the Tink keyset in a serialized EncryptionPublicKey. */
export function unpackEncryptionPublicKey(bytes: Uint8Array): Uint8Array {
  return unpackBoundPublicKey(bytes).keyset;
}

export function unpackBoundPublicKey(bytes: Uint8Array) {
  const { format, data, binding } = fromWire(
    specs.EncryptionPublicKeySchema,
    bytes,
    'MESSAGE_MALFORMED',
    'The EncryptionPublicKey',
  );
  if (format !== specs.EncryptionPublicKey_Format.TINK_KEYSET) {
    throw new ConsentError(
      'KEY_NOT_SUPPORTED',
      `The EncryptionPublicKey has the format ${format}, but only TINK_KEYSET (1) is supported.`,
    );
  }
  return { keyset: data, binding };
}

/**
 * Returns the Tink keyset in a measurementPublicKey. If the value has no type URL and cannot be parsed as an
 * EncryptionPublicKey, the function returns the value unchanged, as the keyset itself.
 */
export function resultKeysetOf({ typeUrl, value }: { typeUrl?: string; value: Uint8Array }): Uint8Array {
  try {
    return unpackEncryptionPublicKey(value);
  } catch (error) {
    if (typeUrl === undefined) return value;
    throw error;
  }
}
