/**
 * Encrypts bytes of any length, piece by piece, so that neither side needs all bytes in memory. The nonce of a piece
 * contains the piece's number and a flag for the last piece. Missing, duplicate, or reordered pieces therefore fail to
 * decrypt. A piece also fails to decrypt with a different context, such as the context of another requisition.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The length of an encrypted piece, including the tag. Only the last piece may be shorter. */
export const SEALED_PIECE_BYTES = 1 << 20;
const PIECE_BYTES = SEALED_PIECE_BYTES - TAG_BYTES;
/**
 * The length of the header before the pieces. The header contains the length of the encrypted key, the key encrypted
 * for the recipient, and zeros as padding.
 */
export const HEADER_BYTES = 256;

/** The key that encrypts the pieces of one plaintext, and the header that delivers this key to the recipient. */
export interface SealingKey {
  header: Uint8Array;
  key: Uint8Array;
  context: string;
}

/** Returns the length of the sealed bytes for a plaintext of this length. */
export function sealedLength(length: number): number {
  return HEADER_BYTES + length + TAG_BYTES * Math.max(1, Math.ceil(length / PIECE_BYTES));
}

/** Yields the header, then the pieces. The input chunks may have any size. */
export function* sealedPieces(
  { header, key, context }: SealingKey,
  chunks: Iterable<Uint8Array>,
): Generator<Uint8Array> {
  yield header;
  let ordinal = 0;
  const seal = function* (piece: Uint8Array, isLast: boolean): Generator<Uint8Array> {
    const cipher = createCipheriv(ALGORITHM, key, nonceOf(ordinal++, isLast)).setAAD(Buffer.from(context));
    yield cipher.update(piece);
    cipher.final();
    yield cipher.getAuthTag();
  };
  const pending = Buffer.alloc(PIECE_BYTES);
  let filled = 0;
  for (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      // Seal a full piece only when more bytes arrive. Until then, the piece may be the last one, and the last piece
      // needs a different nonce.
      if (filled === PIECE_BYTES) {
        yield* seal(pending, false);
        filled = 0;
      }
      const part = chunk.subarray(at, at + PIECE_BYTES - filled);
      pending.set(part, filled);
      filled += part.length;
      at += part.length;
    }
  }
  yield* seal(pending.subarray(0, filled), true);
}

/**
 * Returns a piece's plaintext. Returns undefined if the piece was changed, or was sealed with another key, context,
 * piece number, or last-piece flag.
 */
export function openPiece(
  { key, context }: Pick<SealingKey, 'key' | 'context'>,
  { ordinal, isLast, bytes }: { ordinal: number; isLast: boolean; bytes: Uint8Array },
): Buffer | undefined {
  const end = bytes.length - TAG_BYTES;
  if (end < 0) return undefined;
  try {
    const decipher = createDecipheriv(ALGORITHM, key, nonceOf(ordinal, isLast))
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(end));
    const plaintext = decipher.update(bytes.subarray(0, end));
    decipher.final();
    return plaintext;
  } catch {
    return undefined;
  }
}

function nonceOf(ordinal: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUInt32BE(ordinal);
  nonce[NONCE_BYTES - 1] = isLast ? 1 : 0;
  return nonce;
}
