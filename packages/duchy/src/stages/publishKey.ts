import { packEncryptionPublicKey, publicKeysetOf } from '@measurement-exchange/consent';
import { equalBytes, type SignedMessage } from '@measurement-exchange/contract';
import { publishedKey } from '@measurement-exchange/sdk/liquidLegions';
import { type ComputationSecrets, readSecrets } from '../database/index.ts';
import { NotReady } from '../errors.ts';
import { hasEnded, setParameters } from '../exchange.ts';
import { elGamalKeyPair } from './legionsKeys.ts';
import type { MpcProtocol } from './plan.ts';
import type { StageFunction } from './table.ts';

/**
 * Tells the exchange the keys that providers and the other duchies encrypt for in this computation. Where the exchange has
 * other ones, another database of this duchy made them, with other noise: then nothing more is done here.
 */
export const publishKey: StageFunction = async ({ duchy, computation }) => {
  const { name, certificate, signer } = duchy;
  const { protocol, view } = computation;
  const keys = keysOf(protocol, await readSecrets(duchy.db, computation.id));
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

/** What is signed, by its name in the parameters of the protocol. */
function keysOf(protocol: MpcProtocol, secrets: ComputationSecrets): Record<string, Uint8Array> {
  const publicKey = packEncryptionPublicKey(publicKeysetOf(secrets.privateKeyset!));
  if (protocol === 'honestMajorityShareShuffle') return { publicKey };
  return { publicKey, elGamalPublicKey: publishedKey(elGamalKeyPair(secrets)) };
}
