import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ExchangeProcess, startExchangeProcess } from '@measurement-exchange/testkit/process';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { mex } from './mexInProcess.ts';

let dataDir: string;
let current: ExchangeProcess | undefined;

async function startAgain(): Promise<string> {
  current = await startExchangeProcess({ dataDir });
  return current.url;
}

const readDev = async () => JSON.parse(await readFile(join(dataDir, 'dev.json'), 'utf8'));

async function get(path: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const dev = await readDev();
  const response = await fetch(`${dev.baseUrl}${path}`, {
    headers: { authorization: `Bearer ${dev.measurementConsumers[0].token}` },
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'mex-serve-'));
  vi.stubEnv('MEX_DATA_DIR', dataDir);
  vi.stubEnv('DATABASE_URL', undefined);
  vi.stubEnv('PORT', '0');
});
afterAll(async () => {
  await current?.kill();
  await rm(dataDir, { recursive: true, force: true });
});

describe('mex serve --dev', () => {
  it('starts with demo parties, prints DEVELOPMENT MODE, and writes dev.json with mode 0600', async () => {
    const url = await startAgain();
    expect(current!.output()).toContain('DEVELOPMENT MODE');
    const dev = await readDev();
    expect(dev.baseUrl).toBe(url);
    expect(dev.measurementConsumers).toHaveLength(2);
    expect(dev.dataProviders).toHaveLength(3);
    expect(dev.duchies).toEqual([]);
    expect((await stat(join(dataDir, 'dev.json'))).mode & 0o777).toBe(0o600);
    expect((await get('/v2alpha/whoami')).body.principal).toBe(dev.measurementConsumers[0].name);
  });

  it('refuses a second exchange on the same data directory and says what to do', async () => {
    await expect(mex('serve', '--dev')).rejects.toThrow(
      new RegExp(`pid ${current!.pid}\\b.*MEX_DATA_DIR`, 's'),
    );
    expect((await get('/v2alpha/whoami')).status).toBe(200);
  });

  it('lets mex doctor check the database while it runs', async () => {
    expect(await mex('doctor')).toMatch(/^\d+ checks found nothing wrong\.\n$/);
    expect((await get('/v2alpha/whoami')).status).toBe(200);
  });

  it('starts again after SIGKILL with the same parties and keys', async () => {
    const before = await readDev();
    const { name, certificate, privateKeyPem } = before.measurementConsumers[0];
    expect(await current!.kill('SIGKILL')).toBe('SIGKILL');
    await startAgain();
    const after = await readDev();
    expect(after.measurementConsumers[0]).toMatchObject({ name, certificate, privateKeyPem });
    const preferred = await get(`/v2alpha/${name}/certificates/preferred`);
    expect(preferred.body.name).toBe(certificate);
  });

  it('stops itself and its database within 10 s of SIGTERM', async () => {
    const pidFile = join(dataDir, 'pg/postmaster.pid');
    expect((await stat(pidFile)).isFile()).toBe(true);
    const started = performance.now();
    expect(await current!.kill('SIGTERM')).toBe(0);
    expect(performance.now() - started).toBeLessThan(10_000);
    await expect(stat(pidFile)).rejects.toThrow('ENOENT');
  });

  // Only `npm run stress` runs this slow test. Runs of this file with a planted bug (rig/planted) skip the test.
  it.runIf(isStress)('starts again after SIGTERM with the same data', async () => {
    const { certificate } = (await readDev()).dataProviders[0];
    await startAgain();
    expect((await readDev()).dataProviders[0].certificate).toBe(certificate);
  });
});
