/**
 * What duchies send each other is encrypted piece by piece, so that neither side has all of it in memory: first a key,
 * encrypted for the recipient, then pieces under this key. The nonce of a piece is its number and whether it is the last
 * one, so that pieces that are missing, doubled or in another order do not open.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { ConsentError, decrypt, encrypt } from '@measurement-exchange/consent';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Of a piece, encrypted; only the last one is shorter. */
const SEALED_BYTES = 1 << 20;
const PIECE_BYTES = SEALED_BYTES - TAG_BYTES;
/** Before the encrypted key: how long it is. */
const LENGTH_BYTES = 2;

/** Of any length, for the holder of the private keyset. Throws ConsentError where the keyset is unusable. */
export async function* sealed(publicKeyset: Uint8Array, plaintext: Uint8Array): AsyncGenerator<Uint8Array> {
  const key = randomBytes(KEY_BYTES);
  const encryptedKey = await encrypt(publicKeyset, key);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt16BE(encryptedKey.length);
  yield length;
  yield encryptedKey;
  let at = 0;
  for (let ordinal = 0; ordinal === 0 || at < plaintext.length; ordinal++) {
    const piece = plaintext.subarray(at, at + PIECE_BYTES);
    at += piece.length;
    const cipher = createCipheriv(ALGORITHM, key, nonceOf(ordinal, at === plaintext.length));
    yield cipher.update(piece);
    cipher.final();
    yield cipher.getAuthTag();
  }
}

/** The plaintext, in pieces, each as it was encrypted. Throws ConsentError where anything of it is not, or is missing. */
export async function* opened(
  privateKeyset: Uint8Array,
  ciphertext: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const pieces = new Pieces(ciphertext);
  const length = await pieces.next(LENGTH_BYTES);
  if (length.length < LENGTH_BYTES) throw changed();
  const key = await decrypt(privateKeyset, await pieces.next(length.readUInt16BE()));
  if (key.length !== KEY_BYTES) throw changed();
  for (let ordinal = 0, isLast = false; !isLast; ordinal++) {
    const piece = await pieces.next(SEALED_BYTES);
    isLast = await pieces.isAtEnd();
    yield open(key, nonceOf(ordinal, isLast), piece);
  }
}

function open(key: Uint8Array, nonce: Uint8Array, piece: Uint8Array): Buffer {
  const end = piece.length - TAG_BYTES;
  if (end < 0) throw changed();
  try {
    const decipher = createDecipheriv(ALGORITHM, key, nonce).setAuthTag(piece.subarray(end));
    const plaintext = decipher.update(piece.subarray(0, end));
    decipher.final();
    return plaintext;
  } catch {
    throw changed();
  }
}

function nonceOf(ordinal: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUInt32BE(ordinal);
  nonce[NONCE_BYTES - 1] = isLast ? 1 : 0;
  return nonce;
}

function changed(): ConsentError {
  return new ConsentError('DECRYPTION_FAILED', 'It is not what was encrypted for this key.');
}

/** Takes bytes as many at a time as somebody needs, whatever chunks they come in. */
class Pieces {
  private readonly source: AsyncIterator<Uint8Array>;
  private rest: Uint8Array = new Uint8Array(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.source = source[Symbol.asyncIterator]();
  }

  /** Fewer at the end. */
  async next(length: number): Promise<Buffer> {
    const taken: Uint8Array[] = [];
    for (let missing = length; missing > 0 && !(await this.isAtEnd()); ) {
      const part = this.rest.subarray(0, missing);
      this.rest = this.rest.subarray(part.length);
      missing -= part.length;
      taken.push(part);
    }
    return Buffer.concat(taken);
  }

  async isAtEnd(): Promise<boolean> {
    while (this.rest.length === 0) {
      const { value, done } = await this.source.next();
      if (done) return true;
      this.rest = value;
    }
    return false;
  }
}
