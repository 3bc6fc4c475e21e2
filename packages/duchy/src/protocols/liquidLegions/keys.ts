/** Derives and verifies the ElGamal keys of a Liquid Legions computation. */
import { publishedKey, readPublishedKey } from '@measurement-exchange/consent';
import { equalBytes, type SignedMessage } from '@measurement-exchange/contract';
import { type RingKeys, ringKeys } from '@measurement-exchange/mpc/protocols/liquidLegions/ringKeys';
import {
  Curve,
  combineKeys,
  type ElGamalKeyPair,
  isProven,
  Keystream,
  newKeyPair,
  proveSecret,
} from '@measurement-exchange/mpc/sketches';
import type { Duchy } from '../../computations/context.ts';
import { NotReady, PermanentError } from '../../computations/errors.ts';
import { ownPlace } from '../../computations/places.ts';
import { termsOf } from '../../computations/terms.ts';
import { type ComputationSecrets, readSecrets, type StoredComputation } from '../../database/index.ts';
import { verifiedKey } from '../../peers/verifiedKey.ts';
import type { Work } from '../../stages/work.ts';

/** Derives this duchy's key pair from its seed. The same seed always gives the same key pair. */
export function elGamalKeyPair({ randomSeed }: ComputationSecrets): ElGamalKeyPair {
  return newKeyPair(new Keystream(randomSeed!));
}

/**
 * Returns the duchies' combined public key, which providers use to encrypt their sketches. Throws if a duchy did not
 * sign its public key, or did not prove that it knows the secret key.
 */
export async function combinedKey(duchy: Duchy, computation: StoredComputation): Promise<Uint8Array> {
  const keys = await verifiedKeys(duchy, computation);
  return usable(() => combineKeys(new Curve(1), keys));
}

export async function ownKeys({ duchy, computation }: Work): Promise<RingKeys> {
  const keys = await verifiedKeys(duchy, computation);
  const { place } = ownPlace(computation.view);
  const own = elGamalKeyPair(await readSecrets(duchy.db, computation.id));
  return usable(() => ringKeys(own.secretKey, keys, place));
}

/**
 * Returns every duchy's public key, in ring order. Derives this duchy's own key instead of trusting the exchange's
 * copy.
 */
async function verifiedKeys(duchy: Duchy, computation: StoredComputation): Promise<Uint8Array[]> {
  const { ring } = ownPlace(computation.view);
  const keys: Uint8Array[] = [];
  for (const peer of ring) {
    keys.push(
      peer === duchy.name
        ? await ownPublishedKey(duchy, computation)
        : await verifiedKey(duchy, computation, peer, 'elGamalPublicKey', readKey),
    );
  }
  return keys;
}

const readKey = (message: Uint8Array, context: Parameters<typeof readPublishedKey>[1]) =>
  readPublishedKey(message, context, isProven);

async function ownPublishedKey(duchy: Duchy, computation: StoredComputation): Promise<Uint8Array> {
  const { id, protocol, view } = computation;
  const own = elGamalKeyPair(await readSecrets(duchy.db, id));
  const keys: Partial<Record<'publicKey' | 'elGamalPublicKey', SignedMessage | undefined>> | undefined =
    view.participants[duchy.name]?.parameters?.[protocol];
  const message = keys?.elGamalPublicKey?.message;
  const context = { duchy: duchy.name, computation: id, termsSha256: await termsOf(computation) };
  if (message && equalBytes(message, publishedKey(own, context, proveSecret))) return own.publicKey;
  throw new NotReady('DATABASE_DIFFERS', { field: 'elGamalPublicKey' });
}

function usable<T>(combine: () => T): T {
  try {
    return combine();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new PermanentError('PEER_KEY_INVALID', { field: 'elGamalPublicKey' }, { cause: error });
  }
}
