/** Encrypts values with the server's key, so that a copy of the database does not reveal the values. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

export const SECRETS_KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ALGORITHM = 'aes-256-gcm';

/**
 * Encrypts ("seals") values with AES-256-GCM. A sealed value has the nonce, the ciphertext, and the tag. `place` is
 * where the value is stored, such as a webhook's ID. A sealed value that is copied to another place cannot be
 * decrypted.
 */
export class Secrets {
  private readonly key: Uint8Array;

  constructor(key: Uint8Array) {
    if (key.length !== SECRETS_KEY_BYTES)
      throw new Error(`The secrets key must have ${SECRETS_KEY_BYTES} bytes.`);
    this.key = key;
  }

  seal(place: string, plaintext: Uint8Array): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.key, nonce).setAAD(Buffer.from(place));
    return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  }

  open(place: string, sealed: Uint8Array): Buffer {
    const end = sealed.length - TAG_BYTES;
    try {
      const nonce = sealed.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv(ALGORITHM, this.key, nonce, { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(place))
        .setAuthTag(sealed.subarray(end));
      const plaintext = decipher.update(sealed.subarray(NONCE_BYTES, end));
      decipher.final();
      return plaintext;
    } catch (cause) {
      throw new Error(`${place} does not open: it was changed, or sealed with another secrets key.`, {
        cause,
      });
    }
  }
}
