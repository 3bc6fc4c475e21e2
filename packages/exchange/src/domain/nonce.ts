import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Whether a nonce is the one behind a nonceHash. The canonical preimage is the nonce as 8 bytes big-endian;
 * the specification does not say, so the hash of its unsigned decimal text matches too.
 */
export function nonceMatches(nonce: bigint, nonceHash: Uint8Array): boolean {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(nonce);
  return [bytes, nonce.toString()].some((preimage) =>
    timingSafeEqual(createHash('sha256').update(preimage).digest(), nonceHash),
  );
}
