/**
 * That whoever publishes a key knows its secret (Schnorr's proof, as RFC 8235 makes it without a dialog). Without it, the last duchy to
 * publish could take a key of its own minus all others: then the sum of all is its own key, and it alone could decrypt.
 */
import { createECDH, createHash, hkdfSync } from 'node:crypto';
import { Keystream, SEED_BYTES } from '../shareShuffle/keystream.ts';
import { POINT_BYTES } from './affine.ts';
import { toBytes, toNumber } from './bigEndian.ts';
import type { Curve } from './curve.ts';
import { type ElGamalKeyPair, newKeyPair } from './keys.ts';
import { ORDER, SCALAR_BYTES } from './scalars.ts';

const PURPOSE = 'mex.contract.ElGamalPublicKey';
/** A point and a scalar. */
export const PROOF_BYTES = POINT_BYTES + SCALAR_BYTES;

/** The same for the same key, so that a key that is published again has the same bytes. */
export function proveSecret({ secretKey, publicKey }: ElGamalKeyPair): Uint8Array<ArrayBuffer> {
  const seed = new Uint8Array(hkdfSync('sha256', secretKey, '', PURPOSE, SEED_BYTES));
  const commitment = newKeyPair(new Keystream(seed));
  const challenge = toNumber(challengeOf(publicKey, commitment.publicKey));
  const response = (toNumber(commitment.secretKey) + challenge * toNumber(secretKey)) % ORDER;
  return Uint8Array.from([...commitment.publicKey, ...toBytes(response)]);
}

/** Whether response · G = commitment + challenge · publicKey; not where any of them is no point, or no scalar. */
export function isProven(curve: Curve, publicKey: Uint8Array, proof: Uint8Array): boolean {
  if (proof.length !== PROOF_BYTES) return false;
  const commitment = proof.subarray(0, POINT_BYTES);
  const [sum, other] = curve.spare;
  try {
    const expected = multiplyGenerator(proof.subarray(POINT_BYTES));
    curve.load(sum, publicKey, 1);
    curve.multiply(sum, sum, challengeOf(publicKey, commitment));
    curve.load(other, commitment, 1);
    if (curve.add(sum, sum, other).length > 0) return false;
    const found = new Uint8Array(POINT_BYTES);
    curve.store(sum, found, 1);
    return Buffer.compare(found, expected) === 0;
  } catch {
    return false;
  }
}

/** A scalar: what is not below the order, once in 2^32, is taken modulo it. */
function challengeOf(publicKey: Uint8Array, commitment: Uint8Array): Uint8Array {
  const digest = createHash('sha256').update(PURPOSE).update(publicKey).update(commitment).digest();
  return toBytes(toNumber(digest) % ORDER);
}

function multiplyGenerator(scalar: Uint8Array): Uint8Array {
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(scalar);
  return ecdh.getPublicKey(null, 'compressed');
}
