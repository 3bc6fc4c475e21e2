/**
 * ECIES encryption. A ciphertext consists of the ephemeral public key (an uncompressed point), the IV, the encrypted
 * bytes, and the tag.
 */
import { asBytes, type Bytes, concat } from '../base/bytes.ts';
import { cacheByObject } from '../base/cache.ts';
import { ConsentError, decryptionFailed } from '../base/errors.ts';
import { isPoint, POINT_BYTES, privateJwk } from '../keysets/p256.ts';
import type { DecryptionKey, EciesKey } from '../keysets/tinkKeys.ts';

const ECDH = { name: 'ECDH', namedCurve: 'P-256' };
const IV_BYTES = 12;
const TAG_BYTES = 16;
export const OVERHEAD = POINT_BYTES + IV_BYTES + TAG_BYTES;

type EciesPair = EciesKey & DecryptionKey;

const importPublic = cacheByObject((key: EciesKey) =>
  crypto.subtle.importKey('raw', asBytes(key.publicKey), ECDH, false, []),
);
const importPrivate = cacheByObject(({ privateKey, publicKey }: EciesPair) =>
  crypto.subtle.importKey('jwk', privateJwk(privateKey, publicKey), ECDH, false, ['deriveBits']),
);

export async function seal(key: EciesKey, plaintext: Bytes, contextInfo: Bytes): Promise<Bytes> {
  const { subtle } = crypto;
  const ephemeral = await subtle.generateKey(ECDH, false, ['deriveBits']);
  const [exported, shared] = await Promise.all([
    subtle.exportKey('raw', ephemeral.publicKey),
    importPublic(key).then((publicKey) => agree(ephemeral.privateKey, publicKey)),
  ]);
  const point = new Uint8Array(exported);
  const aes = await deriveAesKey(key, point, shared, contextInfo, 'encrypt');
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const sealed = await subtle.encrypt({ name: 'AES-GCM', iv }, aes, plaintext);
  return concat(point, iv, new Uint8Array(sealed));
}

/** Decrypts a ciphertext, which must have at least OVERHEAD bytes. */
export async function open(key: EciesPair, sealed: Bytes, contextInfo: Bytes): Promise<Bytes> {
  const point = sealed.subarray(0, POINT_BYTES);
  const iv = sealed.subarray(POINT_BYTES, POINT_BYTES + IV_BYTES);
  if (!isPoint(point)) {
    throw new ConsentError(
      'POINT_NOT_ON_CURVE',
      'The ciphertext does not begin with a point of P-256: it is damaged, or was made to learn the key.',
    );
  }
  const { subtle } = crypto;
  const ephemeral = await subtle.importKey('raw', point, ECDH, false, []);
  const shared = await agree(await importPrivate(key), ephemeral);
  const aes = await deriveAesKey(key, point, shared, contextInfo, 'decrypt');
  try {
    const ciphertext = sealed.subarray(POINT_BYTES + IV_BYTES);
    return new Uint8Array(await subtle.decrypt({ name: 'AES-GCM', iv }, aes, ciphertext));
  } catch {
    throw decryptionFailed();
  }
}

async function agree(privateKey: CryptoKey, publicKey: CryptoKey): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.deriveBits({ name: 'ECDH', public: publicKey }, privateKey, 256));
}

async function deriveAesKey(
  { hash, salt, aesKeyBytes }: EciesKey,
  point: Bytes,
  shared: Bytes,
  contextInfo: Bytes,
  usage: 'encrypt' | 'decrypt',
): Promise<CryptoKey> {
  const { subtle } = crypto;
  const ikm = await subtle.importKey('raw', concat(point, shared), 'HKDF', false, ['deriveKey']);
  const hkdf = { name: 'HKDF', hash, salt: asBytes(salt), info: contextInfo };
  return subtle.deriveKey(hkdf, ikm, { name: 'AES-GCM', length: 8 * aesKeyBytes }, false, [usage]);
}
