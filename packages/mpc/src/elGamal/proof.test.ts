import { packElGamalPublicKey, publishedKey, readPublishedKey } from '@measurement-exchange/consent';
import { p256 } from '@noble/curves/nist.js';
import { expect, test, vi } from 'vitest';
import { toBytes, toNumber } from '../curve/bigEndian.ts';
import { Curve } from '../curve/curve.ts';
import { ORDER } from '../curve/scalars.ts';
import { Keystream } from '../shares/keystream.ts';
import { type ElGamalKeyPair, newKeyPair } from './keys.ts';
import { isProven, PROOF_BYTES, proveSecret } from './proof.ts';

const pairs = [1, 2, 3].map((n) => newKeyPair(new Keystream(new Uint8Array(48).fill(n))));
const { Point } = p256;
const CONTEXT = {
  purpose: 'mex.contract.ElGamalPublicKey',
  duchy: 'duchies/alpha',
  computation: 'c1',
  termsSha256: new Uint8Array(32).fill(7),
};
/**
 * Contexts that differ from CONTEXT. In the last one, `duchy` followed by `computation` has the same bytes as in
 * CONTEXT.
 */
const OTHERS = [
  { ...CONTEXT, duchy: 'duchies/beta' },
  { ...CONTEXT, computation: 'c2' },
  { ...CONTEXT, termsSha256: CONTEXT.termsSha256.with(31, 0) },
  { ...CONTEXT, duchy: 'duchies/alphac', computation: '1' },
];

test('proveSecret creates a valid proof, with the same bytes each time', () => {
  for (const pair of pairs) {
    const proof = proveSecret(pair, CONTEXT);
    expect(proof).toHaveLength(PROOF_BYTES);
    expect(proveSecret(pair, CONTEXT)).toEqual(proof);
    expect(isProven(pair.publicKey, proof, CONTEXT)).toBe(true);
  }
});

test('isProven rejects a proof for another key, and a changed, truncated or empty proof', () => {
  const [{ publicKey: key }, { publicKey: other }] = pairs as [ElGamalKeyPair, ElGamalKeyPair];
  const proof = proveSecret(pairs[0]!, CONTEXT);
  expect(isProven(other, proof, CONTEXT)).toBe(false);
  for (let at = 0; at < PROOF_BYTES; at += 8) {
    expect(isProven(key, proof.with(at, proof[at]! ^ 1), CONTEXT)).toBe(false);
  }
  for (const none of [proof.subarray(1), new Uint8Array(PROOF_BYTES), new Uint8Array()]) {
    expect(isProven(key, none, CONTEXT)).toBe(false);
  }
});

test('a proof is valid only for its duchy, computation and terms, and others have another commitment', () => {
  const { publicKey } = pairs[0]!;
  const proof = proveSecret(pairs[0]!, CONTEXT);
  for (const other of OTHERS) {
    expect(isProven(publicKey, proof, other)).toBe(false);
    const own = proveSecret(pairs[0]!, other);
    expect(isProven(publicKey, own, other)).toBe(true);
    // The commitments must differ, because two different responses to one commitment would reveal the secret.
    expect(own.subarray(0, 33)).not.toEqual(proof.subarray(0, 33));
  }
});

test('isProven caches valid proofs by key and context, and verifies invalid proofs each time', () => {
  const multiply = vi.spyOn(Curve.prototype, 'multiply');
  try {
    const context = { ...CONTEXT, computation: 'remembered' };
    const [{ publicKey: key }, { publicKey: other }] = pairs as [ElGamalKeyPair, ElGamalKeyPair];
    const proof = proveSecret(pairs[0]!, context);
    const changed = proof.with(-1, proof.at(-1)! ^ 1);
    for (const expected of [1, 0]) {
      multiply.mockClear();
      expect(isProven(key, proof, context)).toBe(true);
      expect(multiply).toHaveBeenCalledTimes(expected);
      expect(isProven(other, proof, context)).toBe(false);
      expect(isProven(key, changed, context)).toBe(false);
      expect(isProven(key, proof, CONTEXT)).toBe(false);
      expect(multiply).toHaveBeenCalledTimes(expected + 3);
    }
  } finally {
    multiply.mockRestore();
  }
});

test('readPublishedKey rejects a key for another duchy, computation or terms', () => {
  for (const other of OTHERS) {
    expect(() => readPublishedKey(publishedKey(pairs[0]!, other, proveSecret), CONTEXT, isProven)).toThrow(
      /was made (for another|under other)/,
    );
  }
});

test('readPublishedKey rejects a rogue key that cancels the other keys, because it has no valid proof', () => {
  const [first, second] = pairs.map(({ publicKey }) => Point.fromBytes(publicKey));
  const own = newKeyPair(new Keystream(new Uint8Array(48).fill(4)));
  const rogue = Point.fromBytes(own.publicKey).subtract(first!).subtract(second!).toBytes(true);
  const secret = toNumber(own.secretKey);
  // Check the attack itself: the rogue duchy knows the secret key for the sum of the three public keys.
  expect(first!.add(second!).add(Point.fromBytes(rogue)).toBytes(true)).toEqual(
    Point.BASE.multiply(secret).toBytes(true),
  );
  const proofs = [
    proveSecret(own, CONTEXT),
    proveSecret({ ...own, publicKey: rogue }, CONTEXT),
    proveSecret(pairs[0]!, CONTEXT),
  ];
  for (const proof of [...proofs, new Uint8Array()]) {
    const message = packElGamalPublicKey({ element: rogue, proof, binding: CONTEXT });
    expect(() => readPublishedKey(message, CONTEXT, isProven)).toThrow(
      'no proof that its duchy knows the secret',
    );
  }
  expect(Buffer.from(readPublishedKey(publishedKey(own, CONTEXT, proveSecret), CONTEXT, isProven))).toEqual(
    Buffer.from(own.publicKey),
  );
});

test('a proof whose commitment cancels the key is rejected', () => {
  const { publicKey, secretKey } = pairs[0]!;
  const negative = toBytes(ORDER - toNumber(secretKey));
  const proof = Uint8Array.from([...Point.fromBytes(publicKey).negate().toBytes(true), ...negative]);
  expect(isProven(publicKey, proof, CONTEXT)).toBe(false);
});
