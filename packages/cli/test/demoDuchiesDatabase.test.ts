/**
 * Tests `npm start` on a separate PostgreSQL server: the demo duchies get databases there, or are left out with a
 * reason.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onServer } from '@measurement-exchange/testkit/globalSetup';
import { startExchangeProcess } from '@measurement-exchange/testkit/process';
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest';
import type { DevFile } from '../src/files/devFile.ts';

vi.setConfig({ testTimeout: 120_000 });
const WAIT = { timeout: 90_000, interval: 100 };

const server = inject('serverUrl');
const suffix = randomBytes(4).toString('hex');
const [role, database] = [`mex_role_${suffix}`, `mex_start_${suffix}`];
const databases = ['alpha', 'beta', 'gamma'].map((id) => `${database}_duchy_${id}`);
const password = randomBytes(16).toString('hex');
let dataDir: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'mex-own-server-'));
  await onServer(server, `CREATE ROLE ${role} LOGIN PASSWORD '${password}'`);
  await onServer(server, `CREATE DATABASE ${database} OWNER ${role} TEMPLATE template0 ENCODING 'UTF8'`);
});
afterAll(async () => {
  for (const name of [database, ...databases]) {
    await onServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  }
  await onServer(server, `DROP ROLE ${role}`);
  await rm(dataDir, { recursive: true, force: true });
});

function start() {
  const url = new URL(server);
  [url.username, url.password, url.pathname] = [role, password, `/${database}`];
  return startExchangeProcess({ dataDir, databaseUrl: url.href, env: { MEX_DUCHIES: 'on' } });
}
const duchies = async (): Promise<DevFile['duchies']> =>
  JSON.parse(await readFile(join(dataDir, 'dev.json'), 'utf8')).duchies;

it('the exchange starts without demo duchies if its role cannot create databases, and prints what to do', async () => {
  const exchange = await start();
  expect(exchange.output()).toMatch(
    /Started without demo duchies.*may not create.*CREATEDB.*MEX_DUCHIES=off/,
  );
  expect(await duchies()).toEqual([]);
  expect(await exchange.kill('SIGTERM')).toBe(0);
});

it('the exchange creates a database for each demo duchy on its server if its role can create databases', async () => {
  await onServer(server, `ALTER ROLE ${role} CREATEDB`);
  const exchange = await start();
  const isReady = ({ endpoint }: DevFile['duchies'][number]) =>
    fetch(`${endpoint}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  const named = await duchies();
  expect(named).toHaveLength(3);
  await vi.waitUntil(async () => (await Promise.all(named.map(isReady))).every(Boolean), WAIT);
  // This statement fails if the database does not exist.
  for (const name of databases) await onServer(server, `COMMENT ON DATABASE ${name} IS 'of a demo duchy'`);
  expect(exchange.output()).not.toContain('Started without demo duchies');
  expect(await exchange.kill('SIGTERM')).toBe(0);
});
