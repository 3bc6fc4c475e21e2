/** Tink keysets of parties: ECIES on P-256 with HKDF-HMAC-SHA256 and AES-128-GCM. */
import { generateKeyPairSync, randomInt } from 'node:crypto';
import { create, type DescMessage, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { tink } from '@measurement-exchange/contract';

/** Serialized google.crypto.tink.Keyset messages, with one key each. */
export interface EncryptionKeysets {
  publicKeyset: Uint8Array;
  privateKeyset: Uint8Array;
}

export function createEncryptionKeysets(): EncryptionKeysets {
  const { x, y, d } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
  const publicKey = create(tink.EciesAeadHkdfPublicKeySchema, {
    params: {
      kemParams: { curveType: tink.EllipticCurveType.NIST_P256, hkdfHashType: tink.HashType.SHA256 },
      demParams: {
        aeadDem: {
          typeUrl: typeUrl('AesGcmKey'),
          value: toBinary(tink.AesGcmKeyFormatSchema, create(tink.AesGcmKeyFormatSchema, { keySize: 16 })),
          outputPrefixType: tink.OutputPrefixType.RAW,
        },
      },
      ecPointFormat: tink.EcPointFormat.UNCOMPRESSED,
    },
    x: integer(x!),
    y: integer(y!),
  });
  const privateKey = create(tink.EciesAeadHkdfPrivateKeySchema, { publicKey, keyValue: integer(d!) });

  const id = randomInt(1, 2 ** 32);
  const { ASYMMETRIC_PUBLIC, ASYMMETRIC_PRIVATE } = tink.KeyData_KeyMaterialType;
  return {
    publicKeyset: keyset(id, tink.EciesAeadHkdfPublicKeySchema, publicKey, ASYMMETRIC_PUBLIC),
    privateKeyset: keyset(id, tink.EciesAeadHkdfPrivateKeySchema, privateKey, ASYMMETRIC_PRIVATE),
  };
}

function keyset<D extends DescMessage>(
  id: number,
  schema: D,
  key: MessageShape<D>,
  keyMaterialType: tink.KeyData_KeyMaterialType,
): Uint8Array {
  const message = create(tink.KeysetSchema, {
    primaryKeyId: id,
    key: [
      {
        keyData: { typeUrl: typeUrl(schema.name), value: toBinary(schema, key), keyMaterialType },
        status: tink.KeyStatusType.ENABLED,
        keyId: id,
        outputPrefixType: tink.OutputPrefixType.TINK,
      },
    ],
  });
  return toBinary(tink.KeysetSchema, message);
}

function typeUrl(name: string): string {
  return `type.googleapis.com/google.crypto.tink.${name}`;
}

/** 33 bytes with a leading zero: the one width that every version of Tink reads. */
function integer(base64url: string): Uint8Array {
  const bytes = new Uint8Array(33);
  const digits = Buffer.from(base64url, 'base64url');
  bytes.set(digits, bytes.length - digits.length);
  return bytes;
}
