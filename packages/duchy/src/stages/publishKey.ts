import { packEncryptionPublicKey, publicKeysetOf } from '@measurement-exchange/consent';
import { equalBytes } from '@measurement-exchange/contract';
import { readSecrets } from '../database/index.ts';
import { NotReady } from '../errors.ts';
import { hasEnded, setParameters } from '../exchange.ts';
import type { StageFunction } from './table.ts';

/**
 * Tells the exchange the key that providers and the other duchies encrypt for in this computation. Where the exchange has
 * another one, another database of this duchy made it, with other noise: then nothing more is done here.
 */
export const publishKey: StageFunction = async ({ duchy, computation }) => {
  const { name, certificate } = duchy;
  const { privateKeyset } = await readSecrets(duchy.db, computation.id);
  const key = packEncryptionPublicKey(publicKeysetOf(privateKeyset!));
  const publicKey = await duchy.signer.sign(key);
  const fresh = await setParameters(duchy.client, computation.view.name!, {
    duchy: name,
    certificate,
    publicKey,
  });
  const published = fresh.participants[name]?.parameters?.honestMajorityShareShuffle?.publicKey;
  if (hasEnded(fresh) || (published && equalBytes(published.message, key))) return undefined;
  throw new NotReady(
    'The exchange has another key of this duchy for this computation: a process of it runs on another database, or did.',
  );
};
