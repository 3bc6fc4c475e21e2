import {
  ENCRYPTION_KEY_PURPOSE,
  packEncryptionPublicKey,
  publicKeysetOf,
  publishedKey,
  seedCommitment,
} from '@measurement-exchange/consent';
import { equalBytes, type SignedMessage } from '@measurement-exchange/contract';
import { proveSecret } from '@measurement-exchange/mpc/sketches';
import type { Duchy } from '../computations/context.ts';
import { NotReady } from '../computations/errors.ts';
import { hasEnded, setParameters } from '../computations/exchange.ts';
import { termsOf } from '../computations/terms.ts';
import { readSecrets, type StoredComputation } from '../database/index.ts';
import { elGamalKeyPair } from './legionsKeys.ts';
import type { StageFunction } from './work.ts';

/**
 * Publishes the keys for which providers and other duchies encrypt in this computation. If the exchange has other keys,
 * another database of this duchy made them, with other noise: this one must not take part then.
 */
export const publishKey: StageFunction = async ({ duchy, computation }) => {
  const { name, certificate, signer } = duchy;
  const { protocol, view } = computation;
  const keys = await keysOf(duchy, computation);
  const signed: Record<string, SignedMessage> = {};
  for (const [member, key] of Object.entries(keys)) signed[member] = await signer.sign(key);
  const parameters = { [protocol]: signed };
  const fresh = await setParameters(duchy.client, view.name!, { duchy: name, certificate, parameters });
  const published: Record<string, SignedMessage> | undefined =
    fresh.participants[name]?.parameters?.[protocol];
  const isOwn = Object.entries(keys).every(
    ([member, key]) => published?.[member] && equalBytes(published[member].message, key),
  );
  if (hasEnded(fresh) || isOwn) return undefined;
  throw new NotReady('DATABASE_DIFFERS', { field: 'publicKey' });
};

/**
 * The messages to sign, by name in the parameters of the protocol. Each key names its duchy, computation and terms. In
 * share-shuffle it also commits to the worker's half of the common seed, before either half is sent.
 */
async function keysOf(
  { db, name: duchy }: Duchy,
  stored: StoredComputation,
): Promise<Record<string, Uint8Array>> {
  const { id: computation, protocol } = stored;
  const secrets = await readSecrets(db, computation);
  const context = { duchy, computation, termsSha256: await termsOf(stored) };
  const binding = { purpose: ENCRYPTION_KEY_PURPOSE, ...context };
  const keyset = publicKeysetOf(secrets.privateKeyset!);
  if (protocol === 'honestMajorityShareShuffle') {
    const commitment = await seedCommitment(secrets.randomSeed!, duchy, computation);
    return { publicKey: packEncryptionPublicKey(keyset, { ...binding, seedCommitment: commitment }) };
  }
  return {
    publicKey: packEncryptionPublicKey(keyset, binding),
    elGamalPublicKey: publishedKey(elGamalKeyPair(secrets), context, proveSecret),
  };
}
