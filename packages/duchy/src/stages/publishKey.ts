import {
  ENCRYPTION_KEY_PURPOSE,
  packEncryptionPublicKey,
  publicKeysetOf,
} from '@measurement-exchange/consent';
import { equalBytes, type SignedMessage } from '@measurement-exchange/contract';
import { NotReady } from '../computations/errors.ts';
import { hasEnded, setParameters } from '../computations/exchange.ts';
import { termsOf } from '../computations/terms.ts';
import { type ComputationSecrets, readSecrets } from '../database/index.ts';
import type { KeyContext } from '../peers/verifiedKey.ts';
import type { StageFunction } from './work.ts';

/**
 * Returns the public keys that this duchy signs and publishes, by field name. Each key is bound to this duchy, the
 * computation, and the computation's terms.
 */
type KeysOf = (secrets: ComputationSecrets, context: KeyContext) => Promise<Record<string, Uint8Array>>;

/**
 * Creates a stage that publishes the keys that providers and other duchies use to encrypt data. The stage waits if the
 * exchange already has other keys for this duchy, because this process is then connected to the wrong database.
 */
export function publishing(keysOf: KeysOf): StageFunction {
  return async ({ duchy, computation }) => {
    const { name, certificate, signer } = duchy;
    const { id, protocol, view } = computation;
    const context = { duchy: name, computation: id, termsSha256: await termsOf(computation) };
    const keys = await keysOf(await readSecrets(duchy.db, id), context);
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
}

export function encryptionKey(
  { privateKeyset }: ComputationSecrets,
  context: KeyContext & { seedCommitment?: Uint8Array },
): Uint8Array {
  const binding = { purpose: ENCRYPTION_KEY_PURPOSE, ...context };
  return packEncryptionPublicKey(publicKeysetOf(privateKeyset!), binding);
}
