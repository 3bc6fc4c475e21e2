/** HPKE in base mode, one message: encapsulated key, ciphertext, tag. */
import { Aes128Gcm, Aes256Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core';
import { asBytes, type Bytes, concat } from './bytes.ts';
import { decryptionFailed } from './errors.ts';
import type { HpkeKey } from './tinkKeys.ts';

const ENC_BYTES = 32;
const TAG_BYTES = 16;
export const OVERHEAD = ENC_BYTES + TAG_BYTES;

export async function seal(key: HpkeKey, plaintext: Bytes, info: Bytes): Promise<Bytes> {
  const suite = suiteOf(key);
  const recipientPublicKey = await suite.kem.deserializePublicKey(asBytes(key.publicKey));
  const { enc, ct } = await suite.seal({ recipientPublicKey, info }, plaintext);
  return concat(new Uint8Array(enc), new Uint8Array(ct));
}

/** `sealed` is at least as long as the overhead. */
export async function open(
  key: HpkeKey & { privateKey: Uint8Array },
  sealed: Bytes,
  info: Bytes,
): Promise<Bytes> {
  const suite = suiteOf(key);
  const recipientKey = {
    privateKey: await suite.kem.deserializePrivateKey(asBytes(key.privateKey)),
    publicKey: await suite.kem.deserializePublicKey(asBytes(key.publicKey)),
  };
  try {
    const enc = sealed.subarray(0, ENC_BYTES);
    return new Uint8Array(await suite.open({ recipientKey, enc, info }, sealed.subarray(ENC_BYTES)));
  } catch {
    throw decryptionFailed();
  }
}

function suiteOf({ aead }: HpkeKey): CipherSuite {
  return new CipherSuite({
    kem: new DhkemX25519HkdfSha256(),
    kdf: new HkdfSha256(),
    aead: aead === 'AES_128_GCM' ? new Aes128Gcm() : new Aes256Gcm(),
  });
}
