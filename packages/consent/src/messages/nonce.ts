/** Nonces, nonce hashes, and fingerprints, which bind a requisition to its measurement. */
import { equalBytes, noncePreimages, toBase64 } from '@measurement-exchange/contract';
import { concat } from '../base/bytes.ts';
import { sha256 } from '../signatures/engine.ts';

/** Returns a random nonzero 64-bit integer. */
export function randomNonce(): bigint {
  const nonce = crypto.getRandomValues(new BigUint64Array(1))[0]!;
  return nonce === 0n ? randomNonce() : nonce;
}

/** Returns the SHA-256 hash of the nonce's 8-byte big-endian encoding. */
export async function nonceHash(nonce: bigint): Promise<Uint8Array> {
  return sha256(noncePreimages(nonce)[0]);
}

/** Returns the SHA-256 hashes of a nonce, one for each encoding that the exchange accepts. */
export async function nonceHashes(nonce: bigint): Promise<Uint8Array[]> {
  return Promise.all(noncePreimages(nonce).map(sha256));
}

/** Returns whether the hash is one of the nonce's hashes. */
export async function nonceMatches(nonce: bigint, hash: Uint8Array): Promise<boolean> {
  return includesHash(await nonceHashes(nonce), hash);
}

export function includesHash(hashes: readonly Uint8Array[], hash: Uint8Array): boolean {
  return hashes.some((own) => equalBytes(own, hash));
}

/** Returns whether two lists have the same hashes, in any order. */
export function sameHashes(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  const sorted = (hashes: readonly Uint8Array[]) => hashes.map(toBase64).sort().join();
  // Compare the lengths first, because a hostile MeasurementSpec can list a million hashes, which are slow to sort.
  return a.length === b.length && sorted(a) === sorted(b);
}

/** Returns the SHA-256 hash of two parts: the signed MeasurementSpec, and the hash of the encrypted RequisitionSpec. */
export async function requisitionFingerprint(
  measurementSpecMessage: Uint8Array,
  encryptedRequisitionSpecCiphertext: Uint8Array,
): Promise<Uint8Array> {
  return sha256(concat(measurementSpecMessage, await sha256(encryptedRequisitionSpecCiphertext)));
}
