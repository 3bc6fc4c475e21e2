import { hash, timingSafeEqual } from 'node:crypto';
import { noncePreimages } from '@measurement-exchange/contract';

/** Whether a nonce is the one behind a nonceHash. */
export function nonceMatches(nonce: bigint, nonceHash: Uint8Array): boolean {
  return noncePreimages(nonce).some((preimage) =>
    timingSafeEqual(hash('sha256', preimage, 'buffer'), nonceHash),
  );
}
