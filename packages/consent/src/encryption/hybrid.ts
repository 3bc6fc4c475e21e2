/** Hybrid encryption in Tink's format. A keyset's primary key encrypts, and any key of the keyset can decrypt. */
import { asBytes, type Bytes, concat } from '../base/bytes.ts';
import { ConsentError } from '../base/errors.ts';
import { cachedPrivateKeyset, cachedPublicKeyset } from '../keysets/keysets.ts';
import type { DecryptionKey, KeyHead } from '../keysets/tinkKeys.ts';
import * as ecies from './ecies.ts';
import * as hpke from './hpke.ts';

const PREFIX_BYTES = 5;
const NONE = new Uint8Array();

/** Encrypts with the primary key of a public Tink keyset. */
export async function encrypt(
  publicKeyset: Uint8Array,
  plaintext: Uint8Array,
  contextInfo: Uint8Array = NONE,
): Promise<Uint8Array> {
  const { primary } = cachedPublicKeyset(publicKeyset);
  const sealed =
    primary.scheme === 'ECIES'
      ? ecies.seal(primary, asBytes(plaintext), asBytes(contextInfo))
      : hpke.seal(primary, asBytes(plaintext), asBytes(contextInfo));
  return concat(prefixOf(primary), await sealed);
}

/**
 * Decrypts with a private Tink keyset, using the key that matches the ciphertext's prefix. If no key matches, or if
 * decryption fails, tries the keys without a prefix. Callers should pass the same `privateKeyset` object each time,
 * because the cache finds the parsed keyset by this object.
 */
export async function decrypt(
  privateKeyset: Uint8Array,
  ciphertext: Uint8Array,
  contextInfo: Uint8Array = NONE,
): Promise<Uint8Array> {
  const { keys } = await cachedPrivateKeyset(privateKeyset);
  const matching = [...keys]
    .sort((a, b) => prefixOf(b).length - prefixOf(a).length)
    .filter((key) => prefixOf(key).every((byte, i) => byte === ciphertext[i]));
  let failure: unknown;
  for (const key of matching) {
    try {
      return await open(key, asBytes(ciphertext.subarray(prefixOf(key).length)), asBytes(contextInfo));
    } catch (error) {
      if (!(error instanceof ConsentError)) throw error;
      failure ??= error;
    }
  }
  throw failure ?? noMatchingKey(keys, ciphertext);
}

function open(key: DecryptionKey, sealed: Bytes, contextInfo: Bytes): Promise<Uint8Array> {
  const overhead = key.scheme === 'ECIES' ? ecies.OVERHEAD : hpke.OVERHEAD;
  if (sealed.length < overhead) throw truncated();
  return key.scheme === 'ECIES' ? ecies.open(key, sealed, contextInfo) : hpke.open(key, sealed, contextInfo);
}

function prefixOf({ prefix, keyId }: KeyHead): Uint8Array {
  if (prefix === 'RAW') return NONE;
  const bytes = Uint8Array.of(1, 0, 0, 0, 0);
  new DataView(bytes.buffer).setUint32(1, keyId);
  return bytes;
}

function noMatchingKey(keys: KeyHead[], ciphertext: Uint8Array): ConsentError {
  if (ciphertext.length < PREFIX_BYTES) return truncated();
  const ids = keys.map(({ keyId }) => keyId).join(', ');
  return new ConsentError(
    'NO_MATCHING_KEY',
    `The ciphertext is for a key that the keyset does not have (it has ${ids}): was it for an earlier keyset?`,
  );
}

function truncated(): ConsentError {
  return new ConsentError('CIPHERTEXT_TRUNCATED', 'The ciphertext is too short to be whole: fetch it again.');
}
