/** Reads `dev.json`, in which a development exchange describes its demo parties. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PartyCollection } from '@measurement-exchange/contract';
import type { Running } from '@measurement-exchange/exchange';
import { loadConfig } from '@measurement-exchange/exchange/config';

type DemoParties = NonNullable<Running['development']>['parties'];

export type DevParty = DemoParties['duchies'][number] & { token: string };

export interface DevFile extends Record<PartyCollection, DevParty[]> {
  baseUrl: string;
  operator: { token: string };
  /** The root that issued all demo parties' certificates. */
  rootCertificatePem: string;
}

export async function readDevFile(dataDir: string): Promise<DevFile> {
  try {
    return JSON.parse(await readFile(join(dataDir, 'dev.json'), 'utf8'));
  } catch {
    throw new Error(
      `${dataDir}/dev.json is not there. Start the exchange first (npm start), or set MEX_DATA_DIR to its data directory.`,
    );
  }
}

/** Reads `dev.json` from the data directory that the environment sets. */
export function readOwnDevFile(): Promise<DevFile> {
  return readDevFile(loadConfig(process.env, { mode: 'development' }).dataDir);
}

/** Finds a demo party by name, such as `dataProviders/streamly`, or by its ID alone. */
export function findDevParty(dev: DevFile, name: string): DevParty {
  const parties = [...dev.measurementConsumers, ...dev.dataProviders, ...dev.duchies];
  const party = parties.find((p) => p.name === name || p.name.endsWith(`/${name}`));
  if (party !== undefined) return party;
  throw new Error(`There is no demo party ${name}. There are: ${parties.map((p) => p.name).join(', ')}.`);
}
