import { createCipheriv, createHash } from 'node:crypto';
import type { RandomSource } from '@measurement-exchange/mpc';

/** Returns a source of uniform bytes from an AES-CTR key stream. The same seed always gives the same bytes. */
export function seededRandom(seed: string): RandomSource {
  const key = createHash('sha256').update(seed).digest();
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16));
  const zeros = Buffer.alloc(1 << 16);
  let block = new Uint8Array(0);
  let used = 0;
  return {
    bytes(n) {
      if (used + n > block.length) {
        block = cipher.update(n > zeros.length ? Buffer.alloc(n) : zeros);
        used = 0;
      }
      used += n;
      return block.subarray(used - n, used);
    },
  };
}
