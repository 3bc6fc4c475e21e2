/** HPKE encryption in base mode. A ciphertext consists of the encapsulated key, the encrypted bytes, and the tag. */
import { Aes128Gcm, Aes256Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core';
import { asBytes, type Bytes, concat } from '../base/bytes.ts';
import { cacheByObject } from '../base/cache.ts';
import { decryptionFailed } from '../base/errors.ts';
import type { DecryptionKey, HpkeKey } from '../keysets/tinkKeys.ts';

const ENC_BYTES = 32;
const TAG_BYTES = 16;
export const OVERHEAD = ENC_BYTES + TAG_BYTES;

type HpkePair = HpkeKey & DecryptionKey;

const suiteOf = (aead: Aes128Gcm | Aes256Gcm) =>
  new CipherSuite({ kem: new DhkemX25519HkdfSha256(), kdf: new HkdfSha256(), aead });
const SUITES = { AES_128_GCM: suiteOf(new Aes128Gcm()), AES_256_GCM: suiteOf(new Aes256Gcm()) };

const importPublic = cacheByObject((key: HpkeKey) =>
  SUITES[key.aead].kem.deserializePublicKey(asBytes(key.publicKey)),
);
const importPrivate = cacheByObject((key: HpkePair) =>
  SUITES[key.aead].kem.deserializePrivateKey(asBytes(key.privateKey)),
);

export async function seal(key: HpkeKey, plaintext: Bytes, info: Bytes): Promise<Bytes> {
  const suite = SUITES[key.aead];
  const recipientPublicKey = await importPublic(key);
  const { enc, ct } = await suite.seal({ recipientPublicKey, info }, plaintext);
  return concat(new Uint8Array(enc), new Uint8Array(ct));
}

/** Decrypts a ciphertext, which must have at least OVERHEAD bytes. */
export async function open(key: HpkePair, sealed: Bytes, info: Bytes): Promise<Bytes> {
  const suite = SUITES[key.aead];
  const recipientKey = { privateKey: await importPrivate(key), publicKey: await importPublic(key) };
  try {
    const enc = sealed.subarray(0, ENC_BYTES);
    return new Uint8Array(await suite.open({ recipientKey, enc, info }, sealed.subarray(ENC_BYTES)));
  } catch {
    throw decryptionFailed();
  }
}
