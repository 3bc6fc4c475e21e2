/** EncryptionPublicKey: how a Tink keyset travels in specifications and as the key of a party. */
import { create, toBinary } from '@bufbuild/protobuf';
import { specs } from '@measurement-exchange/contract';
import { ConsentError } from './errors.ts';
import { fromWire } from './wire.ts';

/** The serialized EncryptionPublicKey around a public Tink keyset. */
export function packEncryptionPublicKey(keyset: Uint8Array): Uint8Array {
  return toBinary(
    specs.EncryptionPublicKeySchema,
    create(specs.EncryptionPublicKeySchema, {
      format: specs.EncryptionPublicKey_Format.TINK_KEYSET,
      data: keyset,
    }),
  );
}

/** The Tink keyset in a serialized EncryptionPublicKey. */
export function unpackEncryptionPublicKey(bytes: Uint8Array): Uint8Array {
  const { format, data } = fromWire(
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
  return data;
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
