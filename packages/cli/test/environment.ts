/**
 * Creates a folder for the files of a test, and sets the environment variables through which commands find its
 * exchange.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestExchange } from '@measurement-exchange/testkit/exchange';
import { afterAll, afterEach, beforeAll, vi } from 'vitest';
import { fingerprintOf } from '../src/files/partyFile.ts';

let folder: string;

export const path = (file: string) => join(folder, file);

/**
 * Returns the party's fingerprint as the option of `mex admin onboard`. A real party sends the fingerprint and
 * party.json to the operator over different channels.
 */
export async function told(directory: string): Promise<string[]> {
  return ['--fingerprint', fingerprintOf(await readFile(join(directory, 'certificate.pem'), 'utf8'))];
}

/**
 * Adds hooks that set the environment variables before the tests of a file. Call this function after the call that adds
 * the hooks to start the exchange, because hooks run in the order of these calls.
 */
export function useEnvironment(exchange: () => TestExchange): void {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mex-cli-'));
    vi.stubEnv('MEX_DATA_DIR', exchange().dataDir);
    vi.stubEnv('DATABASE_URL', exchange().database.url);
  });
  afterAll(() => rm(folder, { recursive: true }));
  afterEach(() => {
    for (const name of ['MEX_TOKEN', 'MEX_URL', 'MEX_CONFIG']) vi.stubEnv(name, undefined);
  });
}
