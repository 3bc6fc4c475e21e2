/** The duchies whose computations a provider accepts: those in its settings, or, in development, the demo duchies. */
import type { AgentOptions, ComputationSettings } from '@measurement-exchange/sdk/provider';
import { readDevRoots } from '../connection/roots.ts';
import { readOwnDevFile } from '../files/devFile.ts';
import { readCertificates } from '../files/keyFiles.ts';
import { type ComputationConfig, type ProviderConfig, readFingerprint } from './config.ts';

/** Both members are absent if the provider computes only direct results. */
export type DuchySettings = Pick<AgentOptions, 'shareShuffle' | 'liquidLegions'>;

/** Pending uploads are kept in a folder next to the ledger, unless the settings specify another one. */
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
        // Invalid fingerprints were already rejected when the settings were read.
        populations: shareShuffle.populations.map((fingerprint) => readFingerprint(fingerprint)!),
      },
    }),
    ...(liquidLegions && { liquidLegions: await configured(liquidLegions, folder) }),
  };
}

/** Replaces the paths of certificate files with their contents. */
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

/** The development exchange's duchies, which all share its root, and those whose roots are in its data directory. */
async function demoDuchies(folder: string): Promise<DuchySettings> {
  const dev = await readOwnDevFile();
  if (dev.duchies.length === 0) return {};
  const rooted = dev.duchies.map(({ name }) => [name, { rootPem: dev.rootCertificatePem }]);
  const others = (await readDevRoots()).filter(({ party }) => party?.startsWith('duchies/'));
  rooted.push(...others.map(({ party, pem }) => [party!, { rootPem: pem }]));
  const accepted = { duchies: Object.fromEntries(rooted), allowHttp: true, folder };
  return { shareShuffle: { ...accepted, populations: 'unchecked' }, liquidLegions: accepted };
}
