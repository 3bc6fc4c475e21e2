/** Creates Tink keysets for hybrid encryption, and reads their keys. */
import { create, type DescMessage, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { DhkemP256HkdfSha256 } from '@hpke/core';
import { cut, equalBytes, fromBase64, tink, toBase64 } from '@measurement-exchange/contract';
import { asBytes, concat } from '../base/bytes.ts';
import { cache } from '../base/cache.ts';
import { ConsentError } from '../base/errors.ts';
import { fromWire } from '../base/wire.ts';
import { sha256 } from '../signatures/engine.ts';
import {
  AES_GCM_TYPE_URL,
  type DecryptionKey,
  decryptionKey,
  type EncryptionKey,
  eciesKey,
  hpkeKey,
  type KeyHead,
  notSupported,
  requireVersion,
} from './tinkKeys.ts';

/** A public keyset and its private keyset, both as serialized google.crypto.tink.Keyset messages. */
export interface EncryptionKeysets {
  publicKeyset: Uint8Array;
  privateKeyset: Uint8Array;
}

/** The enabled keys of a keyset. The primary key encrypts, and every key can decrypt. */
export interface Keyset<Key> {
  primary: Key;
  keys: Key[];
}

/** The types of keys that can be created. The names are those of Tink's key templates. */
export type KeyTemplate =
  | 'ECIES_P256_HKDF_HMAC_SHA256_AES128_GCM'
  | 'DHKEM_X25519_HKDF_SHA256_HKDF_SHA256_AES_256_GCM';

const MATERIALS = {
  PUBLIC: tink.KeyData_KeyMaterialType.ASYMMETRIC_PUBLIC,
  PRIVATE: tink.KeyData_KeyMaterialType.ASYMMETRIC_PRIVATE,
};
const { ENABLED, DESTROYED } = tink.KeyStatusType;
const P256_KEM = new DhkemP256HkdfSha256();

/** Creates a key pair: a public and a private Tink keyset with one key each. */
export async function createEncryptionKeysets(
  template: KeyTemplate = 'ECIES_P256_HKDF_HMAC_SHA256_AES128_GCM',
): Promise<EncryptionKeysets> {
  const key = await (template === 'ECIES_P256_HKDF_HMAC_SHA256_AES128_GCM' ? newEcies() : newHpke());
  return keysetsOf(key, crypto.getRandomValues(new Uint32Array(1))[0]!);
}

/**
 * Derives an ECIES key pair from a secret of at least 32 bytes, using DeriveKeyPair from RFC 9180. The public keyset
 * contains `salt` as its HKDF salt. A party that knows the secret can read the salt with `saltOf`, and derive the same
 * pair again.
 */
export async function deriveEncryptionKeysets(
  secret: Uint8Array,
  salt: Uint8Array,
): Promise<EncryptionKeysets> {
  const pair = await P256_KEM.deriveKeyPair(asBytes(secret));
  const key = eciesData(await crypto.subtle.exportKey('jwk', pair.privateKey), salt);
  // Derive the key ID from the public key data, so that the same secret and salt always give the same ID.
  return keysetsOf(key, new DataView((await sha256(key.publicData.value)).buffer).getUint32(0));
}

/**
 * Returns the salt of a public keyset with one ECIES key. Returns undefined for any other keyset, or if the salt is
 * empty.
 */
export function saltOf(publicKeyset: Uint8Array): Uint8Array | undefined {
  const { keys } = cachedPublicKeyset(publicKeyset);
  return keys.length === 1 && keys[0]!.scheme === 'ECIES' && keys[0]!.salt.length > 0
    ? keys[0]!.salt
    : undefined;
}

interface KeyDataPair {
  publicData: tink.KeyData;
  privateData: tink.KeyData;
}

function keysetsOf({ publicData, privateData }: KeyDataPair, id: number): EncryptionKeysets {
  // Tink does not allow the ID 0.
  const keyId = id || 1;
  const write = (keyData: tink.KeyData) => {
    const entry = { keyData, keyId, status: ENABLED, outputPrefixType: tink.OutputPrefixType.TINK };
    return toBinary(tink.KeysetSchema, create(tink.KeysetSchema, { primaryKeyId: keyId, key: [entry] }));
  };
  return { publicKeyset: write(publicData), privateKeyset: write(privateData) };
}

/** Returns a public keyset's enabled keys. Throws if the keyset cannot encrypt. */
export function readPublicKeyset(keyset: Uint8Array): Keyset<EncryptionKey> {
  const { primaryKeyId, entries } = open(keyset, 'PUBLIC');
  return withPrimary(
    primaryKeyId,
    entries.map(({ key }) => key),
  );
}

/** Returns a private keyset's enabled keys. Throws if a private key does not match its public key. */
export async function readPrivateKeyset(keyset: Uint8Array): Promise<Keyset<DecryptionKey>> {
  const { primaryKeyId, entries } = open(keyset, 'PRIVATE');
  const keys = entries.map(({ key, secret }) => decryptionKey(key, secret!));
  return withPrimary(primaryKeyId, await Promise.all(keys));
}

const publicKeysets = cache<Keyset<EncryptionKey>>();

/** Like `readPublicKeyset`, but caches the parsed keyset. Callers share it and must not modify it. */
export function cachedPublicKeyset(keyset: Uint8Array): Keyset<EncryptionKey> {
  return publicKeysets(toBase64(keyset), () => readPublicKeyset(Uint8Array.from(keyset)));
}

const privateKeysets = new WeakMap<
  Uint8Array,
  { bytes: Uint8Array; keyset: Promise<Keyset<DecryptionKey>> }
>();

/**
 * Like `readPrivateKeyset`, but caches the parsed keyset for as long as the array exists. Parses the array again if its
 * bytes change. Callers share the result and must not modify it.
 */
export function cachedPrivateKeyset(array: Uint8Array): Promise<Keyset<DecryptionKey>> {
  const cached = privateKeysets.get(array);
  if (cached !== undefined && equalBytes(cached.bytes, array)) return cached.keyset;
  const bytes = Uint8Array.from(array);
  const entry = { bytes, keyset: readPrivateKeyset(bytes) };
  privateKeysets.set(array, entry);
  entry.keyset.catch(() => privateKeysets.get(array) === entry && privateKeysets.delete(array));
  return entry.keyset;
}

/**
 * Derives the public keyset from a private keyset. If the private keyset was created together with a public keyset, the
 * result has the same bytes as that public keyset.
 */
export function publicKeysetOf(privateKeyset: Uint8Array): Uint8Array {
  const keyset = readKeyset(privateKeyset);
  const key = keyset.key
    .filter(({ status }) => status !== DESTROYED)
    .map((entry) => ({ ...entry, keyData: openKey(entry, 'PRIVATE').publicData! }));
  return toBinary(tink.KeysetSchema, create(tink.KeysetSchema, { ...keyset, key }));
}

function open(bytes: Uint8Array, kind: Kind): { primaryKeyId: number; entries: OpenKey[] } {
  const { primaryKeyId, key } = readKeyset(bytes);
  const entries = key.filter(({ status }) => status === ENABLED).map((entry) => openKey(entry, kind));
  return { primaryKeyId, entries };
}

function withPrimary<Key extends KeyHead>(primaryKeyId: number, keys: Key[]): Keyset<Key> {
  const [primary, ...more] = keys.filter(({ keyId }) => keyId === primaryKeyId);
  if (primary === undefined || more.length > 0) {
    const count = primary === undefined ? 'no enabled key' : 'several keys';
    throw new ConsentError(
      'KEYSET_NO_PRIMARY',
      `The keyset has ${count} with the ID of its primary key, ${primaryKeyId}: make one key its primary.`,
    );
  }
  return { primary, keys };
}

function readKeyset(bytes: Uint8Array): tink.Keyset {
  // A JSON keyset starts with 0x7b, the character `{`. A binary keyset never does.
  if (bytes[0] === 0x7b) throw malformed('The keyset is in JSON: give it in its binary form');
  const keyset = fromWire(tink.KeysetSchema, bytes, 'KEYSET_MALFORMED', 'The keyset');
  if (keyset.key.length === 0) throw malformed('The keyset has no key');
  return keyset;
}

type Kind = 'PUBLIC' | 'PRIVATE';

interface OpenKey {
  key: EncryptionKey;
  /** The private key. `publicData` is its public key. Only entries of a private keyset have these two fields. */
  secret?: Uint8Array;
  publicData?: tink.KeyData;
}

function openKey({ keyData, keyId, outputPrefixType }: tink.Keyset_Key, kind: Kind): OpenKey {
  const what = `Key ${keyId} of the keyset`;
  if (keyData === undefined) throw malformed(`${what} has no data`);
  requireKind(keyData, kind, what);
  const head: KeyHead = { keyId, prefix: prefixOf(outputPrefixType, keyId) };
  const read = <D extends DescMessage>(schema: D): MessageShape<D> =>
    fromWire(schema, keyData.value, 'KEYSET_MALFORMED', what);
  switch (keyData.typeUrl) {
    case typeUrlOf(tink.EciesAeadHkdfPublicKeySchema):
      return { key: eciesKey(read(tink.EciesAeadHkdfPublicKeySchema), head) };
    case typeUrlOf(tink.HpkePublicKeySchema):
      return { key: hpkeKey(read(tink.HpkePublicKeySchema), head) };
    case typeUrlOf(tink.EciesAeadHkdfPrivateKeySchema): {
      const { version, publicKey, keyValue } = read(tink.EciesAeadHkdfPrivateKeySchema);
      requireVersion(version, keyId);
      if (publicKey === undefined) throw malformed(`${what} has no public part`);
      const publicData = dataOf(tink.EciesAeadHkdfPublicKeySchema, publicKey);
      return { key: eciesKey(publicKey, head), secret: keyValue, publicData };
    }
    case typeUrlOf(tink.HpkePrivateKeySchema): {
      const { version, publicKey, privateKey } = read(tink.HpkePrivateKeySchema);
      requireVersion(version, keyId);
      if (publicKey === undefined) throw malformed(`${what} has no public part`);
      const publicData = dataOf(tink.HpkePublicKeySchema, publicKey);
      return { key: hpkeKey(publicKey, head), secret: privateKey, publicData };
    }
    default:
      throw notSupported(keyId, `the type ${JSON.stringify(cut(keyData.typeUrl, 100))}`);
  }
}

/**
 * Throws if a private keyset was passed as a public keyset (which would reveal its secrets), or the other way around.
 */
function requireKind({ typeUrl, keyMaterialType }: tink.KeyData, kind: Kind, what: string): void {
  const stated = /(Public|Private)Key$/.exec(typeUrl)?.[1]?.toUpperCase();
  if (stated === undefined) return;
  if (stated !== kind) {
    throw kind === 'PUBLIC'
      ? new ConsentError(
          'KEYSET_NOT_PUBLIC',
          `${what} is private: keep it to yourself, give the public keyset.`,
        )
      : new ConsentError('KEYSET_NOT_PRIVATE', `${what} is public: give the private keyset.`);
  }
  if (keyMaterialType !== MATERIALS[kind])
    throw malformed(`${what} has key material that does not fit its type`);
}

function prefixOf(type: tink.OutputPrefixType, keyId: number): KeyHead['prefix'] {
  if (type === tink.OutputPrefixType.TINK) return 'TINK';
  if (type === tink.OutputPrefixType.RAW) return 'RAW';
  throw notSupported(keyId, `the output prefix ${type} (neither TINK nor RAW)`);
}

async function newEcies(): Promise<KeyDataPair> {
  const pair = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits']);
  return eciesData(await crypto.subtle.exportKey('jwk', pair.privateKey));
}

function eciesData({ x, y, d }: JsonWebKey, hkdfSalt: Uint8Array = new Uint8Array()): KeyDataPair {
  const aesGcm = create(tink.AesGcmKeyFormatSchema, { keySize: 16 });
  const publicKey = create(tink.EciesAeadHkdfPublicKeySchema, {
    params: {
      kemParams: {
        curveType: tink.EllipticCurveType.NIST_P256,
        hkdfHashType: tink.HashType.SHA256,
        hkdfSalt,
      },
      demParams: {
        aeadDem: {
          typeUrl: AES_GCM_TYPE_URL,
          value: toBinary(tink.AesGcmKeyFormatSchema, aesGcm),
          outputPrefixType: tink.OutputPrefixType.RAW,
        },
      },
      ecPointFormat: tink.EcPointFormat.UNCOMPRESSED,
    },
    x: integer(x!),
    y: integer(y!),
  });
  const privateKey = create(tink.EciesAeadHkdfPrivateKeySchema, { publicKey, keyValue: integer(d!) });
  return {
    publicData: dataOf(tink.EciesAeadHkdfPublicKeySchema, publicKey),
    privateData: dataOf(tink.EciesAeadHkdfPrivateKeySchema, privateKey),
  };
}

async function newHpke(): Promise<KeyDataPair> {
  const pair = (await crypto.subtle.generateKey('X25519', true, ['deriveBits'])) as CryptoKeyPair;
  const { x, d } = await crypto.subtle.exportKey('jwk', pair.privateKey);
  const publicKey = create(tink.HpkePublicKeySchema, {
    params: {
      kem: tink.HpkeKem.DHKEM_X25519_HKDF_SHA256,
      kdf: tink.HpkeKdf.HKDF_SHA256,
      aead: tink.HpkeAead.AES_256_GCM,
    },
    publicKey: fromBase64(x!)!,
  });
  const privateKey = create(tink.HpkePrivateKeySchema, { publicKey, privateKey: fromBase64(d!)! });
  return {
    publicData: dataOf(tink.HpkePublicKeySchema, publicKey),
    privateData: dataOf(tink.HpkePrivateKeySchema, privateKey),
  };
}

function dataOf<D extends DescMessage>(schema: D, key: MessageShape<D>): tink.KeyData {
  return create(tink.KeyDataSchema, {
    typeUrl: typeUrlOf(schema),
    value: toBinary(schema, key),
    keyMaterialType: MATERIALS[schema.name.endsWith('PrivateKey') ? 'PRIVATE' : 'PUBLIC'],
  });
}

function typeUrlOf(schema: DescMessage): string {
  return `type.googleapis.com/${schema.typeName}`;
}

/** Returns an integer as 33 bytes with a leading zero, the only width that every version of Tink can read. */
function integer(base64url: string): Uint8Array {
  return concat(Uint8Array.of(0), fromBase64(base64url)!);
}

function malformed(what: string): ConsentError {
  return new ConsentError('KEYSET_MALFORMED', `${what}: ask its owner for the keyset again.`);
}
