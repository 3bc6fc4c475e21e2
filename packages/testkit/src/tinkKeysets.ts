/** Valid and invalid keysets, built directly from the protobuf messages. */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { tink } from '@measurement-exchange/contract';

export const hex = (text: string) => Uint8Array.from(Buffer.from(text.replace(/\s/g, ''), 'hex'));

/** Key pairs from Tink's test vectors. Each `ciphertext` is the byte 01, encrypted with the byte 02 as context info. */
export const ECIES_VECTOR = {
  keyId: 0x88668866,
  d: hex('C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721'),
  x: hex('60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6'),
  y: hex('7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299'),
  ciphertext: hex(
    `018866886604207f1c9bd3bce6864bdbb611bdb9852dea7e12dbe5894c642bd5cc8cde79de9e8ae3199875eba161d413ce3a29cf
     a0b27c6717d7d4cfbace5706ae4bbf8f7d1eb769657992f5e7f5450091cc61c7b3a7b811fe5578e82e5123cb38855c`,
  ),
};
export const HPKE_VECTOR = {
  sk: hex('52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736'),
  pk: hex('37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431'),
  ciphertext: hex(
    'e97b19fa6c773cf938c56fdb3bf409e18a194409c6711ae06dac91c5d4d12001d1938cce296aaa40f7469904c24d801c64',
  ),
};

type Init<T> = Exclude<T, { $typeName: string }>;
export type EciesInit = Init<MessageInitShape<typeof tink.EciesAeadHkdfPublicKeySchema>>;
export type HpkeInit = Init<MessageInitShape<typeof tink.HpkePublicKeySchema>>;
export type KeyInit = Init<MessageInitShape<typeof tink.Keyset_KeySchema>>;

export const eciesParams = (aes = 16, hkdfHashType: tink.HashType = tink.HashType.SHA256) => ({
  kemParams: { curveType: tink.EllipticCurveType.NIST_P256, hkdfHashType },
  demParams: {
    aeadDem: {
      typeUrl: 'type.googleapis.com/google.crypto.tink.AesGcmKey',
      value: Uint8Array.of(0x10, aes),
      outputPrefixType: tink.OutputPrefixType.RAW,
    },
  },
  ecPointFormat: tink.EcPointFormat.UNCOMPRESSED,
});
export const hpkeParams = (aead: tink.HpkeAead = tink.HpkeAead.AES_256_GCM) => ({
  kem: tink.HpkeKem.DHKEM_X25519_HKDF_SHA256,
  kdf: tink.HpkeKdf.HKDF_SHA256,
  aead,
});

/** Builds the public key of ECIES_VECTOR with these changes. */
export function eciesPublic(changes: EciesInit = {}): KeyInit {
  const { x, y } = ECIES_VECTOR;
  const key = create(tink.EciesAeadHkdfPublicKeySchema, { params: eciesParams(), x, y, ...changes });
  return entry('EciesAeadHkdfPublicKey', toBinary(tink.EciesAeadHkdfPublicKeySchema, key));
}

export function eciesPrivate(changes: EciesInit = {}, d = ECIES_VECTOR.d, version = 0): KeyInit {
  const { x, y } = ECIES_VECTOR;
  const publicKey = { params: eciesParams(), x, y, ...changes };
  const key = create(tink.EciesAeadHkdfPrivateKeySchema, { version, publicKey, keyValue: d });
  return entry('EciesAeadHkdfPrivateKey', toBinary(tink.EciesAeadHkdfPrivateKeySchema, key));
}

export function hpkePublic(changes: HpkeInit = {}): KeyInit {
  const key = create(tink.HpkePublicKeySchema, {
    params: hpkeParams(),
    publicKey: HPKE_VECTOR.pk,
    ...changes,
  });
  return entry('HpkePublicKey', toBinary(tink.HpkePublicKeySchema, key));
}

export function hpkePrivate(changes: HpkeInit = {}, privateKey = HPKE_VECTOR.sk): KeyInit {
  const publicKey = { params: hpkeParams(), publicKey: HPKE_VECTOR.pk, ...changes };
  const key = create(tink.HpkePrivateKeySchema, { publicKey, privateKey });
  return entry('HpkePrivateKey', toBinary(tink.HpkePrivateKeySchema, key));
}

export function entry(type: string, value: Uint8Array): KeyInit {
  return {
    keyData: {
      typeUrl: `type.googleapis.com/google.crypto.tink.${type}`,
      value,
      keyMaterialType: type.endsWith('PrivateKey') ? 2 : 3,
    },
    status: tink.KeyStatusType.ENABLED,
    keyId: ECIES_VECTOR.keyId,
    outputPrefixType: tink.OutputPrefixType.TINK,
  };
}

/** Builds a keyset whose primary key is the first key, unless another one is given. */
export function keyset(keys: KeyInit[], primaryKeyId = keys[0]?.keyId ?? 0): Uint8Array {
  return toBinary(tink.KeysetSchema, create(tink.KeysetSchema, { primaryKeyId, key: keys }));
}
