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

const REREAD_MS = 1_000;

/**
 * Returns a function that reads `dev.json` at most once a second. The file is reread because the exchange keeps writing
 * new tokens to it, and every call to the exchange needs a valid token.
 */
export function devFileReader(dataDir: string): () => Promise<DevFile> {
  let file: Promise<DevFile> | undefined;
  let readAt = 0;
  return () => {
    const now = performance.now();
    if (file === undefined || now - readAt > REREAD_MS) [file, readAt] = [readDevFile(dataDir), now];
    return file;
  };
}

export function readOwnDevFile(): Promise<DevFile> {
  return readDevFile(ownDataDir());
}

export function ownDataDir(): string {
  return loadConfig(process.env, { mode: 'development' }).dataDir;
}

export function findDevParty(dev: DevFile, name: string): DevParty {
  const parties = [...dev.measurementConsumers, ...dev.dataProviders, ...dev.duchies];
  const party = parties.find((p) => p.name === name || p.name.endsWith(`/${name}`));
  if (party !== undefined) return party;
  throw new Error(`There is no demo party ${name}. There are: ${parties.map((p) => p.name).join(', ')}.`);
}
