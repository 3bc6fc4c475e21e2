/** Computes a digest of a computation's terms. Parties compare their digests to check that they agree on the terms. */
import { canonicalJson, ProtocolConfig } from '@measurement-exchange/contract';
import { type Bytes, concat } from '../base/bytes.ts';
import { sha256 } from '../signatures/engine.ts';

/** The terms of a computation. Data providers and duchies must agree on the terms before any party contributes data. */
export interface Terms {
  /** The ID of the computation, which is the same at all duchies. */
  computation: string;
  /** The bytes of the MeasurementSpec that the measurement consumer signed. */
  measurementSpec: Uint8Array;
  protocolConfig: ProtocolConfig;
  /** The hashes of all requisitions' nonces, in any order. */
  nonceHashes: readonly Uint8Array[];
}

const DOMAIN = 'mex.contract.Terms.v1';

/**
 * Returns the SHA-256 hash of DOMAIN and all terms. The length of each part is hashed before the part, so that
 * different terms never have the same hash input.
 */
export async function termsDigest(terms: Terms): Promise<Bytes> {
  const { computation, measurementSpec, protocolConfig, nonceHashes } = terms;
  const parts = [
    utf8(DOMAIN),
    utf8(computation),
    measurementSpec,
    utf8(canonicalJson(ProtocolConfig, protocolConfig)),
    ...nonceHashes.toSorted(compareBytes),
  ];
  return sha256(concat(...parts.flatMap((part) => [lengthOf(part), part])));
}

/**
 * Returns a worker's commitment to its part of the common seed. In Honest Majority Share Shuffle, a worker publishes
 * its commitment before it sees the other worker's part. The worker therefore cannot choose its part to fit the other
 * part.
 */
export async function seedCommitment(seed: Uint8Array, duchy: string, computation: string): Promise<Bytes> {
  const parts = [utf8('mex.contract.SeedCommitment.v1'), utf8(duchy), utf8(computation), seed];
  return sha256(concat(...parts.flatMap((part) => [lengthOf(part), part])));
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

function lengthOf({ length }: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(length));
  return bytes;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const different = a.findIndex((byte, i) => byte !== b[i]);
  return different === -1 ? a.length - b.length : a[different]! - (b[different] ?? -1);
}
