/**
 * Determines the duchies whose computations a provider accepts. The provider's setting `protocols` lists these duchies.
 * Without this setting, a demo provider accepts the demo duchies and the duchies whose roots are in the data directory.
 */
import type { AgentOptions, ComputationSettings } from '@measurement-exchange/sdk/provider';
import { readDevRoots } from '../connection/roots.ts';
import { readOwnDevFile } from '../files/devFile.ts';
import { readCertificates } from '../files/keyFiles.ts';
import { type ComputationConfig, type ProviderConfig, readFingerprint } from './config.ts';

/** Both members are absent if the provider gives only direct results, without duchies. */
export type DuchySettings = Pick<AgentOptions, 'shareShuffle' | 'liquidLegions'>;

/**
 * Returns the settings of the accepted duchies. By default, pending uploads to the duchies are stored in a folder next
 * to the ledger.
 */
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

/**
 * Returns settings for the demo duchies, which share the demo root, and for the duchies whose roots are in the data
 * directory.
 */
async function demoDuchies(folder: string): Promise<DuchySettings> {
  const dev = await readOwnDevFile();
  if (dev.duchies.length === 0) return {};
  const rooted = dev.duchies.map(({ name }) => [name, { rootPem: dev.rootCertificatePem }]);
  const others = (await readDevRoots()).filter(({ party }) => party?.startsWith('duchies/'));
  rooted.push(...others.map(({ party, pem }) => [party!, { rootPem: pem }]));
  const accepted = { duchies: Object.fromEntries(rooted), allowHttp: true, folder };
  return { shareShuffle: { ...accepted, populations: 'unchecked' }, liquidLegions: accepted };
}
