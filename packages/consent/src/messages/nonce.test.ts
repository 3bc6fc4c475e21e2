import { createHash } from 'node:crypto';
import { MAX_UINT64 } from '@measurement-exchange/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nonceHash, nonceMatches, randomNonce, requisitionFingerprint, sameHashes } from './nonce.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const sha256 = (...parts: (string | Uint8Array)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();

describe('a nonce', () => {
  it('has the published hash', async () => {
    // The nonce is -5720240472533425799 as a signed integer.
    const nonce = BigInt.asUintN(64, -5720240472533425799n);
    expect(nonce).toBe(0xb09d9f98ecd52179n);
    const hash = '5258f08862a1715f8d95b310d0d509a88ec1fd79bf1f512dd4350961659e9884';
    expect(hex(await nonceHash(nonce))).toBe(hash);
    expect(await nonceMatches(nonce, Buffer.from(hash, 'hex'))).toBe(true);
  });

  it('matches the hash of its 8 bytes and that of its decimal text, and no other', async () => {
    await fc.assert(
      fc.asyncProperty(fc.bigInt({ min: 0n, max: MAX_UINT64 }), async (nonce) => {
        expect(await nonceMatches(nonce, sha256(nonce.toString()))).toBe(true);
        expect(await nonceMatches(nonce, await nonceHash(nonce))).toBe(true);
        const little = Buffer.alloc(8);
        little.writeBigUInt64LE(nonce);
        if (hex(little) !== hex(little.toReversed()))
          expect(await nonceMatches(nonce, sha256(little))).toBe(false);
        expect(await nonceMatches(nonce ^ 1n, await nonceHash(nonce))).toBe(false);
        expect(await nonceMatches(nonce ^ 1n, sha256(nonce.toString()))).toBe(false);
        expect(await nonceMatches(nonce, (await nonceHash(nonce)).subarray(1))).toBe(false);
        expect(await nonceMatches(nonce, new Uint8Array())).toBe(false);
        const wrongAtTheEnd = await nonceHash(nonce);
        wrongAtTheEnd[31]! ^= 1;
        expect(await nonceMatches(nonce, wrongAtTheEnd)).toBe(false);
      }),
      { numRuns: 50, examples: [[0n], [1n], [2n ** 53n + 1n], [MAX_UINT64]] },
    );
  });

  it('outside of 64 bits is rejected, not truncated', async () => {
    for (const nonce of [-1n, MAX_UINT64 + 1n]) {
      await expect(nonceHash(nonce)).rejects.toThrow(RangeError);
      await expect(nonceMatches(nonce, new Uint8Array(32))).rejects.toThrow(RangeError);
    }
  });

  it('is random: never zero, never twice, with all of its 64 bits', () => {
    const nonces = Array.from({ length: 2000 }, randomNonce);
    expect(new Set(nonces).size).toBe(2000);
    expect(nonces.every((nonce) => nonce > 0n && nonce <= MAX_UINT64)).toBe(true);
    expect(nonces.reduce((bits, nonce) => bits | nonce, 0n)).toBe(MAX_UINT64);
    expect(nonces.reduce((bits, nonce) => bits & nonce, MAX_UINT64)).toBe(0n);
  });
});

it('sameHashes ignores the order of hashes, but not their number', () => {
  const [a, b] = [Uint8Array.of(1), Uint8Array.of(2)];
  expect(sameHashes([], [])).toBe(true);
  expect(sameHashes([a, b], [b, a])).toBe(true);
  expect(sameHashes([a], [b])).toBe(false);
  expect(sameHashes([a], [a, b])).toBe(false);
  expect(sameHashes([a, a, b], [a, b, b])).toBe(false);
});

it('fingerprints a requisition by the signed spec and the hash of the ciphertext', async () => {
  const [spec, ciphertext] = [Buffer.from('measurement spec'), Buffer.from('ciphertext')];
  expect(hex(await requisitionFingerprint(spec, ciphertext))).toBe(hex(sha256(spec, sha256(ciphertext))));
});
