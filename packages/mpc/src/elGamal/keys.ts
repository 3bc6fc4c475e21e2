/**
 * Creates and combines ElGamal keys. Each duchy has a key pair, and providers encrypt under the sum of several public
 * keys.
 */
import { createECDH } from 'node:crypto';
import { POINT_BYTES } from '../curve/affine.ts';
import type { Curve, FixedBase } from '../curve/curve.ts';
import { drawScalars } from '../curve/scalars.ts';
import type { RandomSource } from '../privacy/random.ts';

export interface ElGamalKeyPair {
  secretKey: Uint8Array;
  /** A compressed point. */
  publicKey: Uint8Array;
}

/** Generates a key pair. Random sources with the same seed produce the same pair. */
export function newKeyPair(random: RandomSource): ElGamalKeyPair {
  const secretKey = drawScalars(random, 1);
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(secretKey);
  return { secretKey, publicKey: new Uint8Array(ecdh.getPublicKey(null, 'compressed')) };
}

/**
 * Returns the sum of public keys. To decrypt a ciphertext that is encrypted under the sum, all the secret keys are
 * needed. Throws if keys are equal or cancel out.
 */
export function combineKeys(curve: Curve, publicKeys: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const distinct = new Set(publicKeys.map((key) => Buffer.from(key).toString('hex')));
  if (distinct.size < publicKeys.length) throw new RangeError('publicKeys must be different from each other');
  const [sum, next] = curve.spare;
  const combined = new Uint8Array(POINT_BYTES);
  publicKeys.forEach((key, i) => {
    curve.load(i === 0 ? sum : next, key, 1);
    if (i > 0 && curve.add(sum, sum, next).length > 0) throw new RangeError('publicKeys must not cancel out');
  });
  curve.store(sum, combined, 1);
  return combined;
}

/** A public key with a table that speeds up encryption. The table takes about 15 ms to compute, so reuse the object. */
export class ElGamalPublicKey {
  readonly bytes: Uint8Array;
  readonly table: FixedBase;

  constructor(curve: Curve, bytes: Uint8Array) {
    this.bytes = bytes;
    this.table = curve.fixedBase(bytes);
  }
}
