/** Computes a digest of everything that a party was told about a computation, so that all parties can compare it. */
import { canonicalJson, ProtocolConfig } from '@measurement-exchange/contract';
import { type Bytes, concat } from '../base/bytes.ts';
import { sha256 } from '../signatures/engine.ts';

/** Data providers and duchies must agree on these terms before any of them contributes data. */
export interface Terms {
  /** The computation's ID, which is the same at all duchies. */
  computation: string;
  /** The MeasurementSpec's bytes, as signed by the measurement consumer. */
  measurementSpec: Uint8Array;
  protocolConfig: ProtocolConfig;
  /** The hashes of all requisitions' nonces, in any order. */
  nonceHashes: readonly Uint8Array[];
}

const DOMAIN = 'mex.contract.Terms.v1';

/** Returns the SHA-256 hash of the domain and the parts. Each part follows its length, so bytes cannot switch parts. */
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

/** A share-shuffle worker publishes this commitment to its half of the common seed before it sees the other half. */
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
