/** Node only: encryption of octets of any length for the holder of a private keyset: shares for a duchy, messages among duchies. */
import { randomBytes } from 'node:crypto';
import { ConsentError } from '../base/errors.ts';
import { decrypt, encrypt } from '../encryption/hybrid.ts';
import {
  HEADER_BYTES,
  KEY_BYTES,
  openPiece,
  SEALED_PIECE_BYTES,
  type SealingKey,
  sealedPieces,
} from './pieces.ts';

export { sealedLength } from './pieces.ts';

/** In the header before the encrypted key: how long it is. */
const LENGTH_BYTES = 2;

/** The context that the share of a requisition is bound to, beside the key of the duchy that takes it. */
export function shareContext(requisition: string): string {
  return `mex share of ${requisition}`;
}

/** A new key, encrypted for the holder of the private keyset. Throws ConsentError where the keyset is unusable. */
export async function newSealingKey(publicKeyset: Uint8Array, context: string): Promise<SealingKey> {
  const key = randomBytes(KEY_BYTES);
  const encryptedKey = await encrypt(publicKeyset, key);
  if (LENGTH_BYTES + encryptedKey.length > HEADER_BYTES) {
    throw new ConsentError('KEY_NOT_SUPPORTED', 'The key makes ciphertexts that are too long.');
  }
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(encryptedKey.length);
  header.set(encryptedKey, LENGTH_BYTES);
  return { header, key, context };
}

/** Opens only with the same context. Throws ConsentError where the keyset is unusable. */
export async function* sealed(
  publicKeyset: Uint8Array,
  context: string,
  plaintext: Uint8Array,
): AsyncGenerator<Uint8Array> {
  yield* sealedPieces(await newSealingKey(publicKeyset, context), [plaintext]);
}

/** The plaintext, in pieces, each as it was sealed. Throws ConsentError where anything of it is not, or is missing. */
export async function* opened(
  privateKeyset: Uint8Array,
  context: string,
  ciphertext: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const pieces = new Pieces(ciphertext);
  const key = await openHeader(privateKeyset, await pieces.next(HEADER_BYTES));
  for (let ordinal = 0, isLast = false; !isLast; ordinal++) {
    const bytes = await pieces.next(SEALED_PIECE_BYTES);
    isLast = await pieces.isAtEnd();
    const plaintext = openPiece({ key, context }, { ordinal, isLast, bytes });
    if (plaintext === undefined) throw changed();
    yield plaintext;
  }
}

async function openHeader(privateKeyset: Uint8Array, header: Buffer): Promise<Uint8Array> {
  if (header.length < HEADER_BYTES) throw changed();
  const end = LENGTH_BYTES + header.readUInt16BE();
  if (end > HEADER_BYTES || header.subarray(end).some((byte) => byte !== 0)) throw changed();
  const key = await decrypt(privateKeyset, header.subarray(LENGTH_BYTES, end));
  if (key.length !== KEY_BYTES) throw changed();
  return key;
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
