/** The encryption key of a party, as others fetch it: signed, so that the exchange cannot put another in its place. */
import { sign } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { type SignedMessage, specs } from '@measurement-exchange/contract';

/** An EncryptionPublicKey with this Tink keyset, signed with a P-256 key (PKCS#8 in PEM). */
export function signEncryptionKey(publicKeyset: Uint8Array, privateKeyPem: string): SignedMessage {
  const key = create(specs.EncryptionPublicKeySchema, {
    format: specs.EncryptionPublicKey_Format.TINK_KEYSET,
    data: publicKeyset,
  });
  const message = toBinary(specs.EncryptionPublicKeySchema, key);
  return {
    message,
    signature: sign('sha256', message, privateKeyPem),
    signatureAlgorithm: 'ECDSA_P256_SHA256',
  };
}
