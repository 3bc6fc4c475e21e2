/** EncryptionPublicKey: how a Tink keyset travels in specifications and as the key of a party. */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { type Binding, type BindingSchema, specs } from '@measurement-exchange/contract';
import { ConsentError } from '../base/errors.ts';
import { fromWire } from '../base/wire.ts';

/** The serialized EncryptionPublicKey around a public Tink keyset; a key of a duchy says what it was made for. */
export function packEncryptionPublicKey(
  keyset: Uint8Array,
  binding?: MessageInitShape<typeof BindingSchema>,
): Uint8Array {
  return toBinary(
    specs.EncryptionPublicKeySchema,
    create(specs.EncryptionPublicKeySchema, {
      format: specs.EncryptionPublicKey_Format.TINK_KEYSET,
      data: keyset,
      ...(binding && { binding }),
    }),
  );
}

/** The Tink keyset in a serialized EncryptionPublicKey. */
export function unpackEncryptionPublicKey(bytes: Uint8Array): Uint8Array {
  return unpackBoundPublicKey(bytes).keyset;
}

/** The Tink keyset in a serialized EncryptionPublicKey, and what it was made for. */
export function unpackBoundPublicKey(bytes: Uint8Array): {
  keyset: Uint8Array;
  binding: Binding | undefined;
} {
  const { format, data, binding } = fromWire(
    specs.EncryptionPublicKeySchema,
    bytes,
    'MESSAGE_MALFORMED',
    'The EncryptionPublicKey',
  );
  if (format !== specs.EncryptionPublicKey_Format.TINK_KEYSET) {
    throw new ConsentError(
      'KEY_NOT_SUPPORTED',
      `The EncryptionPublicKey has the format ${format}, where only TINK_KEYSET (1) is read.`,
    );
  }
  return { keyset: data, binding };
}

/**
 * The Tink keyset in the measurementPublicKey of a MeasurementSpec. One in JSON may hold the keyset itself instead of an
 * EncryptionPublicKey.
 */
export function resultKeysetOf({ typeUrl, value }: { typeUrl?: string; value: Uint8Array }): Uint8Array {
  try {
    return unpackEncryptionPublicKey(value);
  } catch (error) {
    if (typeUrl === undefined) return value;
    throw error;
  }
}
