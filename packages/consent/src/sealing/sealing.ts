/**
 * Encrypts bytes of any length for the owner of a keyset. Used for the secret shares that data providers upload, and
 * for messages between duchies. Works only on Node.
 */
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

/** The size of the length field at the start of the header. The field contains the length of the encrypted key. */
const LENGTH_BYTES = 2;

/**
 * Returns the context for sealing the secret share that a data provider uploads for a requisition. Bytes sealed for one
 * requisition cannot be opened for another requisition.
 */
export function shareContext(requisition: string): string {
  return `mex share of ${requisition}`;
}

/** Creates a key and encrypts it for the owner of the keyset. Throws ConsentError if the keyset is unusable. */
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

/** Seals a plaintext, which can be opened only with the same context. Throws ConsentError if the keyset is unusable. */
export async function* sealed(
  publicKeyset: Uint8Array,
  context: string,
  plaintext: Uint8Array,
): AsyncGenerator<Uint8Array> {
  yield* sealedPieces(await newSealingKey(publicKeyset, context), [plaintext]);
}

/**
 * Yields the plaintext in pieces. Throws ConsentError if the ciphertext was changed or truncated, or was encrypted for
 * another key or context.
 */
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
  return new ConsentError(
    'DECRYPTION_FAILED',
    'The ciphertext was changed, or was encrypted for another key or context.',
  );
}

/** Reads any number of bytes at a time from chunks of any size. */
class Pieces {
  private readonly source: AsyncIterator<Uint8Array>;
  private rest: Uint8Array = new Uint8Array(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.source = source[Symbol.asyncIterator]();
  }

  /** Returns the next `length` bytes, or fewer at the end of the source. */
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
