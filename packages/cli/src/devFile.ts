import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface DevParty {
  name: string;
  token: string;
  certificate: string;
  encryptionPublicKey: string;
}

/** What a running development exchange wrote for scripts. */
export interface DevFile {
  baseUrl: string;
  operator: { token: string };
  measurementConsumers: DevParty[];
  dataProviders: DevParty[];
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
