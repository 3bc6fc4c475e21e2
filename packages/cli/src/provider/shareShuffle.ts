/** What a provider accepts of computations by duchies: from its settings, or in development from the demo duchies. */
import { loadConfig } from '@measurement-exchange/exchange/config';
import type { ShareShuffleSettings } from '@measurement-exchange/sdk/provider';
import { readDevFile } from '../devFile.ts';
import { readCertificates } from '../keyFiles.ts';
import { type ProviderConfig, readFingerprint, type ShareShuffleConfig } from './config.ts';

/** Undefined where the provider computes direct results only. */
export async function shareShuffleOf(
  { as, protocols }: Pick<ProviderConfig, 'protocols'> & { as?: string },
  ledger: string,
): Promise<ShareShuffleSettings | undefined> {
  const config = protocols?.honestMajorityShareShuffle;
  const folder = config?.folder ?? `${ledger}.shares`;
  if (config) return { ...(await configured(config)), folder };
  return as === undefined ? undefined : demoDuchies(folder);
}

async function configured(config: ShareShuffleConfig): Promise<Omit<ShareShuffleSettings, 'folder'>> {
  const duchies = Object.entries(config.duchies).map(async ([name, { rootFile, ...rest }]) => {
    const rootPem = (await readCertificates(rootFile)).join('');
    return [name, { rootPem, ...rest }] as const;
  });
  return {
    ...config,
    duchies: Object.fromEntries(await Promise.all(duchies)),
    // The check of the settings has read them before.
    populations: config.populations.map((fingerprint) => readFingerprint(fingerprint)!),
  };
}

/** The duchies of the development exchange, which have its root in common. */
async function demoDuchies(folder: string): Promise<ShareShuffleSettings | undefined> {
  const dev = await readDevFile(loadConfig(process.env, { mode: 'development' }).dataDir);
  if (dev.duchies.length === 0) return undefined;
  const duchies = dev.duchies.map(({ name }) => [name, { rootPem: dev.rootCertificatePem }]);
  return { duchies: Object.fromEntries(duchies), populations: 'unchecked', allowHttp: true, folder };
}
