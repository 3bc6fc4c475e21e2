/** The duchies whose computations a provider accepts: those in its settings, or in development the demo duchies. */
import type { AgentOptions, ComputationSettings } from '@measurement-exchange/sdk/provider';
import { readOwnDevFile } from '../files/devFile.ts';
import { readCertificates } from '../files/keyFiles.ts';
import { type ComputationConfig, type ProviderConfig, readFingerprint } from './config.ts';

/** Both members are absent for a provider that computes only direct results. */
export type DuchySettings = Pick<AgentOptions, 'shareShuffle' | 'liquidLegions'>;

/** Uploads wait in a folder beside the ledger, unless the settings name another one. */
export async function duchySettingsOf(
  { as, protocols }: Pick<ProviderConfig, 'protocols'> & { as?: string },
  ledger: string,
): Promise<DuchySettings> {
  const folder = `${ledger}.shares`;
  if (protocols === undefined) return as === undefined ? {} : demoDuchies(folder);
  const { honestMajorityShareShuffle: shareShuffle, liquidLegions } = protocols;
  return {
    ...(shareShuffle && {
      shareShuffle: {
        ...(await configured(shareShuffle, folder)),
        // Settings with an invalid fingerprint were rejected before.
        populations: shareShuffle.populations.map((fingerprint) => readFingerprint(fingerprint)!),
      },
    }),
    ...(liquidLegions && { liquidLegions: await configured(liquidLegions, folder) }),
  };
}

/** Replaces the files of certificates by their content. */
async function configured<C extends ComputationConfig>(
  config: C,
  folder: string,
): Promise<Omit<C, keyof ComputationConfig> & ComputationSettings> {
  const duchies = Object.entries(config.duchies).map(async ([name, { rootFile, ...rest }]) => {
    const rootPem = (await readCertificates(rootFile)).join('');
    return [name, { rootPem, ...rest }] as const;
  });
  return { folder, ...config, duchies: Object.fromEntries(await Promise.all(duchies)) };
}

/** The duchies of the development exchange, which share its root. */
async function demoDuchies(folder: string): Promise<DuchySettings> {
  const dev = await readOwnDevFile();
  if (dev.duchies.length === 0) return {};
  const rooted = dev.duchies.map(({ name }) => [name, { rootPem: dev.rootCertificatePem }]);
  const accepted = { duchies: Object.fromEntries(rooted), allowHttp: true, folder };
  return { shareShuffle: { ...accepted, populations: 'unchecked' }, liquidLegions: accepted };
}
