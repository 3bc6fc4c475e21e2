/** An exchange that runs, for commands that find it by the environment, and a folder for the keys of parties. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDevIssuer, devKeyFile } from '@measurement-exchange/exchange/devIssuer';
import { startExchange, type TestExchange } from '@measurement-exchange/testkit/exchange';
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';
import { mex } from './mexInProcess.ts';

export let x: TestExchange;
let folder: string;

/** Once in a file, at its top. */
export function useExchange(): void {
  beforeAll(async () => {
    x = await startExchange();
    folder = await mkdtemp(join(tmpdir(), 'mex-admin-'));
    vi.stubEnv('MEX_DATA_DIR', x.dataDir);
    vi.stubEnv('DATABASE_URL', x.database.url);
  });
  afterAll(async () => {
    expect(await x.stop()).toEqual([]);
    await rm(folder, { recursive: true });
  });
  afterEach(() => {
    for (const name of ['MEX_TOKEN', 'MEX_URL', 'MEX_CONFIG']) vi.stubEnv(name, undefined);
  });
}

export const path = (file: string) => join(folder, file);

export async function token(name: string): Promise<string> {
  return (await createDevIssuer({ keyFile: devKeyFile(x.dataDir), baseUrl: x.url })).mint(name);
}

export const whoAmI = async (name: string) =>
  (await x.call(await token(name), 'GET', '/v2alpha/whoami')).json;

/** A party with keys of its own, let in. Returns the folder of its keys. */
export async function onboarded(name: string, ...options: string[]): Promise<string> {
  const directory = path(name.replace('/', '-'));
  const subject = ['--issuer', `${x.url}/dev`, '--subject', name];
  await mex('identity', name, '--out', directory);
  await mex('admin', 'onboard', join(directory, 'party.json'), ...subject, ...options);
  return directory;
}
