import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { nonceMatches } from './nonce.ts';

const sha256 = (preimage: string | Uint8Array) => createHash('sha256').update(preimage).digest();

it.each([0n, 1n, 2n ** 53n + 1n, 2n ** 64n - 1n])(
  '%s matches its eight bytes and its decimal text',
  (nonce) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(nonce);
    expect(nonceMatches(nonce, sha256(bytes))).toBe(true);
    expect(nonceMatches(nonce, sha256(`${nonce}`))).toBe(true);
    expect(nonceMatches(nonce ^ 1n, sha256(bytes))).toBe(false);
    expect(nonceMatches(nonce ^ 1n, sha256(`${nonce}`))).toBe(false);
  },
);
