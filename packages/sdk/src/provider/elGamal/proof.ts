/**
 * That whoever publishes a key knows its secret (Schnorr's proof, as RFC 8235 makes it without a dialog). Without it, the last duchy to
 * publish could take a key of its own minus all others: then the sum of all is its own key, and it alone could decrypt.
 */
import { createECDH, createHash, hkdfSync } from 'node:crypto';
import { ELGAMAL_KEY_PURPOSE as PURPOSE } from '@measurement-exchange/consent';
import type { Binding } from '@measurement-exchange/contract';
import { Keystream, SEED_BYTES } from '../shareShuffle/keystream.ts';
import { POINT_BYTES } from './affine.ts';
import { toBytes, toNumber } from './bigEndian.ts';
import type { Curve } from './curve.ts';
import { type ElGamalKeyPair, newKeyPair } from './keys.ts';
import { ORDER, SCALAR_BYTES } from './scalars.ts';

/** A point and a scalar. */
export const PROOF_BYTES = POINT_BYTES + SCALAR_BYTES;

/** The duchy that proves, and the computation and terms that the key is for: a proof of one is none of another. */
export type ProofContext = Pick<Binding, 'duchy' | 'computation' | 'termsSha256'>;

/** The same for the same key and context, so that a key that is published again has the same bytes. */
export function proveSecret(
  { secretKey, publicKey }: ElGamalKeyPair,
  context: ProofContext,
): Uint8Array<ArrayBuffer> {
  const about = digestOf(context);
  // One commitment in two contexts would have two challenges, from which anybody computes the secret.
  const seed = new Uint8Array(hkdfSync('sha256', secretKey, about, PURPOSE, SEED_BYTES));
  const commitment = newKeyPair(new Keystream(seed));
  const challenge = toNumber(challengeOf(publicKey, commitment.publicKey, about));
  const response = (toNumber(commitment.secretKey) + challenge * toNumber(secretKey)) % ORDER;
  return Uint8Array.from([...commitment.publicKey, ...toBytes(response)]);
}

/** Whether response · G = commitment + challenge · publicKey; not where any of them is no point, or no scalar. */
export function isProven(
  curve: Curve,
  publicKey: Uint8Array,
  proof: Uint8Array,
  context: ProofContext,
): boolean {
  if (proof.length !== PROOF_BYTES) return false;
  const commitment = proof.subarray(0, POINT_BYTES);
  const [sum, other] = curve.spare;
  try {
    const expected = multiplyGenerator(proof.subarray(POINT_BYTES));
    curve.load(sum, publicKey, 1);
    curve.multiply(sum, sum, challengeOf(publicKey, commitment, digestOf(context)));
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
function challengeOf(publicKey: Uint8Array, commitment: Uint8Array, about: Uint8Array): Uint8Array {
  const digest = createHash('sha256')
    .update(PURPOSE)
    .update(about)
    .update(publicKey)
    .update(commitment)
    .digest();
  return toBytes(toNumber(digest) % ORDER);
}

/** Each part after its length, so that no byte can move from one part to the next. */
function digestOf({ duchy, computation, termsSha256 }: ProofContext): Buffer {
  const hash = createHash('sha256');
  for (const part of [Buffer.from(duchy), Buffer.from(computation), termsSha256]) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    hash.update(length).update(part);
  }
  return hash.digest();
}

function multiplyGenerator(scalar: Uint8Array): Uint8Array {
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(scalar);
  return ecdh.getPublicKey(null, 'compressed');
}
