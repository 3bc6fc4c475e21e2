/**
 * Tests in one process that the two crypto engines, Node's and WebCrypto's, give the same results. A browser has only
 * WebCrypto.
 */
import { createHash } from 'node:crypto';
import { signatureHash } from '@measurement-exchange/contract';
import { CERTIFICATES, MESSAGE, SIGNATURES } from '@measurement-exchange/testkit/opensslVectors';
import { describe, expect, it, vi } from 'vitest';
import { flipped } from '../../test/errors.ts';
import { parseCertificate } from '../certificates/certificates.ts';
import { ecdsaFromDer } from '../certificates/der.ts';
import { coordinateBytes, sha256, verify, verifyByNode, verifyByWebCrypto } from './engine.ts';

const message = new TextEncoder().encode(MESSAGE);
const fromBase64 = (text: string) => Uint8Array.from(Buffer.from(text, 'base64'));

const vectors = SIGNATURES.map(([name, algorithm, signature]) => {
  const key = parseCertificate(fromBase64(CERTIFICATES[name])).publicKey;
  return { algorithm, key, hash: signatureHash(algorithm, key)!, signature: fromBase64(signature) };
});

it('verify uses the Node engine in Node.js', () => {
  expect(verify).toBe(verifyByNode);
});

describe.each([
  ['Node', verifyByNode],
  ['WebCrypto', verifyByWebCrypto],
])('the %s engine', (_name, engine) => {
  it.each(vectors)('returns true for a valid $algorithm signature', async ({ key, hash, signature }) => {
    expect(await engine(key, hash, signature, message)).toBe(true);
  });

  it.each(vectors)(
    'returns false for a $algorithm signature with another message, hash or key',
    async (v) => {
      expect(await engine(v.key, v.hash, v.signature, message.subarray(1))).toBe(false);
      const otherHash = v.hash === 'SHA-256' ? 'SHA-512' : 'SHA-256';
      expect(await engine(v.key, otherHash, v.signature, message)).toBe(false);
      const other = vectors.find(({ key }) => key.keyType === v.key.keyType && key.curve !== v.key.curve);
      if (other !== undefined && ecdsaFromDer(v.signature, coordinateBytes(other.key)) !== undefined) {
        expect(await engine(other.key, v.hash, v.signature, message)).toBe(false);
      }
    },
  );

  it('returns false for an invalid public key', async () => {
    const { key, hash, signature } = vectors[0]!;
    for (const spki of [Uint8Array.of(0x30, 0), flipped(key.spki, 8 * key.spki.length - 1)]) {
      expect(await engine({ ...key, spki }, hash, signature, message)).toBe(false);
    }
  });
});

it('the WebCrypto engine imports a key once per hash, and again if its bytes change in place', async () => {
  const importKey = vi.spyOn(crypto.subtle, 'importKey');
  const rsa = vectors.filter(({ key }) => key.keyType === 'RSA');
  const key = { ...rsa[0]!.key, spki: Uint8Array.from(rsa[0]!.key.spki) };
  const before = importKey.mock.calls.length;
  for (const { hash, signature } of [...rsa, ...rsa]) await verifyByWebCrypto(key, hash, signature, message);
  // Allow fewer imports, because the tests above may already have imported some of these keys.
  expect(importKey.mock.calls.length - before).toBeLessThanOrEqual(rsa.length);
  key.spki.fill(0);
  expect(await verifyByWebCrypto(key, rsa[0]!.hash, rsa[0]!.signature, message)).toBe(false);
  importKey.mockRestore();
});

it.each([0, 1, 1_000, 1_001, 100_000])('sha256 of %d bytes equals that of node:crypto', async (length) => {
  const bytes = new Uint8Array(length).fill(7);
  expect(await sha256(bytes)).toEqual(new Uint8Array(createHash('sha256').update(bytes).digest()));
});
