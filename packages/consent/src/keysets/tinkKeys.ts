/** Converts and validates the keys in Tink keysets. */
import { tink } from '@measurement-exchange/contract';
import { toWidth } from '../base/bytes.ts';
import { ConsentError } from '../base/errors.ts';
import { fromWire } from '../base/wire.ts';
import { COORDINATE_BYTES, isP256Pair, isPoint, isScalar, pointOf } from './p256.ts';
import { isOfSmallOrder, isX25519Pair, X25519_BYTES } from './x25519.ts';

/**
 * A key's ID, and the prefix of its ciphertexts. A TINK prefix is 0x01 followed by the ID, and a RAW prefix is empty.
 */
export interface KeyHead {
  keyId: number;
  prefix: 'TINK' | 'RAW';
}

/** A key for ECIES on P-256 with HKDF and AES-GCM. */
export interface EciesKey extends KeyHead {
  scheme: 'ECIES';
  /** The uncompressed point: the byte 04, then x and y. */
  publicKey: Uint8Array;
  hash: 'SHA-256' | 'SHA-384' | 'SHA-512';
  salt: Uint8Array;
  aesKeyBytes: number;
}

/** A key for HPKE (RFC 9180) with X25519, HKDF-SHA256, and AES-GCM. */
export interface HpkeKey extends KeyHead {
  scheme: 'HPKE';
  publicKey: Uint8Array;
  aead: 'AES_128_GCM' | 'AES_256_GCM';
}

export type EncryptionKey = EciesKey | HpkeKey;
export type DecryptionKey = EncryptionKey & { privateKey: Uint8Array };

export const AES_GCM_TYPE_URL = 'type.googleapis.com/google.crypto.tink.AesGcmKey';
const HASHES: Partial<Record<tink.HashType, EciesKey['hash']>> = {
  [tink.HashType.SHA256]: 'SHA-256',
  [tink.HashType.SHA384]: 'SHA-384',
  [tink.HashType.SHA512]: 'SHA-512',
};
const AEADS: Partial<Record<tink.HpkeAead, HpkeKey['aead']>> = {
  [tink.HpkeAead.AES_128_GCM]: 'AES_128_GCM',
  [tink.HpkeAead.AES_256_GCM]: 'AES_256_GCM',
};

export function eciesKey(key: tink.EciesAeadHkdfPublicKey, head: KeyHead): EciesKey {
  const { keyId, prefix } = head;
  const { kemParams, demParams, ecPointFormat } = key.params ?? {};
  const dem = demParams?.aeadDem;
  const hash = HASHES[kemParams?.hkdfHashType ?? tink.HashType.UNKNOWN_HASH];
  requireVersion(key.version, keyId);
  support(kemParams?.curveType === tink.EllipticCurveType.NIST_P256, keyId, 'a curve other than P-256');
  support(hash !== undefined, keyId, 'an HKDF hash other than SHA-256, SHA-384 and SHA-512');
  support(ecPointFormat === tink.EcPointFormat.UNCOMPRESSED, keyId, 'points that are not uncompressed');
  support(dem?.typeUrl === AES_GCM_TYPE_URL, keyId, 'a cipher other than AES-GCM');
  const format = fromWire(tink.AesGcmKeyFormatSchema, dem!.value, 'KEYSET_MALFORMED', `Key ${keyId}`);
  support([16, 32].includes(format.keySize), keyId, `an AES key of ${format.keySize} bytes`);

  const [x, y] = [key.x, key.y].map((integer) => toWidth(integer, COORDINATE_BYTES));
  const publicKey = x && y && pointOf(x, y);
  if (publicKey === undefined || !isPoint(publicKey)) {
    throw new ConsentError(
      'KEY_NOT_ON_CURVE',
      `Key ${keyId} of the keyset is not a point of P-256: ask its owner for the keyset again.`,
    );
  }
  const salt = kemParams!.hkdfSalt;
  return { scheme: 'ECIES', keyId, prefix, publicKey, hash: hash!, salt, aesKeyBytes: format.keySize };
}

export function hpkeKey(key: tink.HpkePublicKey, head: KeyHead): HpkeKey {
  const { keyId, prefix } = head;
  const { kem, kdf, aead } = key.params ?? {};
  const name = AEADS[aead ?? tink.HpkeAead.AEAD_UNKNOWN];
  requireVersion(key.version, keyId);
  support(kem === tink.HpkeKem.DHKEM_X25519_HKDF_SHA256, keyId, 'a KEM other than X25519 with HKDF-SHA256');
  support(kdf === tink.HpkeKdf.HKDF_SHA256, keyId, 'a KDF other than HKDF-SHA256');
  support(name !== undefined, keyId, 'a cipher other than AES-128-GCM and AES-256-GCM');
  if (key.publicKey.length !== X25519_BYTES) {
    throw new ConsentError('KEYSET_MALFORMED', `Key ${keyId} of the keyset does not have 32 bytes.`);
  }
  if (isOfSmallOrder(key.publicKey)) {
    throw new ConsentError(
      'KEY_OF_SMALL_ORDER',
      `Key ${keyId} of the keyset would give every message the same secret: refuse the keyset.`,
    );
  }
  return { scheme: 'HPKE', keyId, prefix, publicKey: key.publicKey, aead: name! };
}

/** Combines a public key with its private key. Throws unless the private key is in range and matches the public key. */
export async function decryptionKey(key: EncryptionKey, secret: Uint8Array): Promise<DecryptionKey> {
  const privateKey = key.scheme === 'ECIES' ? toWidth(secret, COORDINATE_BYTES) : secret;
  const inRange =
    privateKey !== undefined &&
    (key.scheme === 'ECIES' ? isScalar(privateKey) : privateKey.length === X25519_BYTES);
  if (!inRange) {
    throw new ConsentError(
      'KEY_OUT_OF_RANGE',
      `The private part of key ${key.keyId} is not a private key of its kind: restore the keyset from a copy.`,
    );
  }
  const isPair = key.scheme === 'ECIES' ? isP256Pair : isX25519Pair;
  if (!(await isPair(privateKey, key.publicKey))) {
    throw new ConsentError(
      'KEY_PAIR_MISMATCH',
      `The private and the public part of key ${key.keyId} do not belong together: restore the keyset.`,
    );
  }
  return { ...key, privateKey };
}

export function requireVersion(version: number, keyId: number): void {
  support(version === 0, keyId, `version ${version}`);
}

export function notSupported(keyId: number, what: string): ConsentError {
  return new ConsentError(
    'KEY_NOT_SUPPORTED',
    `Key ${keyId} of the keyset has ${what}: use ECIES on P-256 with AES-GCM, or HPKE on X25519 with AES-GCM.`,
  );
}

function support(supported: boolean, keyId: number, what: string): void {
  if (!supported) throw notSupported(keyId, what);
}
