import { packEncryptionPublicKey, publicKeysetOf } from '@measurement-exchange/consent';
import { readSecrets } from '../database/index.ts';
import { setParameters } from '../exchange.ts';
import type { StageFunction } from './table.ts';

/** Tells the exchange the key that providers and the other duchies encrypt for in this computation. */
export const publishKey: StageFunction = async ({ duchy, computation }) => {
  const { privateKeyset } = await readSecrets(duchy.db, computation.id);
  const publicKey = await duchy.signer.sign(packEncryptionPublicKey(publicKeysetOf(privateKeyset!)));
  const { name, certificate } = duchy;
  await setParameters(duchy.client, computation.view.name!, { duchy: name, certificate, publicKey });
  return undefined;
};
