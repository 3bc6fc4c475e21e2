/**
 * Proves that the duchy that publishes a key knows the key's secret (a non-interactive Schnorr proof, RFC 8235).
 * Without the proof, the last duchy to publish could publish its own key minus the keys of all other duchies. The sum
 * of all keys would then be the last duchy's own key, and that duchy could decrypt alone.
 */
import { createECDH, createHash, hkdfSync } from 'node:crypto';
import type { Binding } from '@measurement-exchange/contract';
import { POINT_BYTES } from '../curve/affine.ts';
import { toBytes, toNumber } from '../curve/bigEndian.ts';
import { Curve } from '../curve/curve.ts';
import { ORDER, SCALAR_BYTES } from '../curve/scalars.ts';
import { Keystream, SEED_BYTES } from '../shares/keystream.ts';
import { type ElGamalKeyPair, newKeyPair } from './keys.ts';

/** The size of a proof: a point (the commitment), followed by a scalar (the response). */
export const PROOF_BYTES = POINT_BYTES + SCALAR_BYTES;

/** The context that a proof is bound to: the purpose of the key, the duchy, and the computation with its terms. */
export type ProofContext = Pick<Binding, 'purpose' | 'duchy' | 'computation' | 'termsSha256'>;

/** Creates the proof deterministically, so that publishing a key again produces the same bytes. */
export function proveSecret(
  { secretKey, publicKey }: ElGamalKeyPair,
  context: ProofContext,
): Uint8Array<ArrayBuffer> {
  const { purpose } = context;
  const about = digestOf(context);
  // The seed must depend on the context. Two proofs with the same commitment but different challenges would reveal the
  // secret.
  const seed = new Uint8Array(hkdfSync('sha256', secretKey, about, purpose, SEED_BYTES));
  const commitment = newKeyPair(new Keystream(seed));
  const challenge = toNumber(challengeOf(publicKey, commitment.publicKey, context));
  const response = (toNumber(commitment.secretKey) + challenge * toNumber(secretKey)) % ORDER;
  return Uint8Array.from([...commitment.publicKey, ...toBytes(response)]);
}

/** A cache of valid proofs, oldest first. A duchy checks the same proofs before each stage, and a check takes 20 ms. */
const held = new Set<string>();
const MAX_HELD = 10_000;

/**
 * Returns whether response · G = commitment + challenge · publicKey, where G is the generator of the curve. Returns
 * false if an input is not a point or scalar.
 */
export function isProven(publicKey: Uint8Array, proof: Uint8Array, context: ProofContext): boolean {
  if (proof.length !== PROOF_BYTES) return false;
  const challenge = challengeOf(publicKey, proof.subarray(0, POINT_BYTES), context);
  // The challenge is a hash of the key and the context, so a cached proof is never accepted for a different key or
  // context.
  const statement = Buffer.concat([challenge, proof]).toString('latin1');
  if (held.has(statement)) return true;
  if (!holds(publicKey, proof, challenge)) return false;
  if (held.size >= MAX_HELD) held.delete(held.values().next().value!);
  held.add(statement);
  return true;
}

function holds(publicKey: Uint8Array, proof: Uint8Array, challenge: Uint8Array): boolean {
  const curve = new Curve(1);
  const [sum, other] = curve.spare;
  try {
    const expected = multiplyGenerator(proof.subarray(POINT_BYTES));
    curve.load(sum, publicKey, 1);
    curve.multiply(sum, sum, challenge);
    curve.load(other, proof.subarray(0, POINT_BYTES), 1);
    if (curve.add(sum, sum, other).length > 0) return false;
    const found = new Uint8Array(POINT_BYTES);
    curve.store(sum, found, 1);
    return Buffer.compare(found, expected) === 0;
  } catch {
    return false;
  }
}

/**
 * Returns the challenge. This is a digest reduced modulo the group order, because one digest in 2^32 is too large for a
 * scalar.
 */
function challengeOf(publicKey: Uint8Array, commitment: Uint8Array, context: ProofContext): Uint8Array {
  const digest = createHash('sha256')
    .update(context.purpose)
    .update(digestOf(context))
    .update(publicKey)
    .update(commitment)
    .digest();
  return toBytes(toNumber(digest) % ORDER);
}

/**
 * Hashes the context without its purpose. Each part is preceded by its length, so that different contexts never have
 * the same hash input.
 */
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
