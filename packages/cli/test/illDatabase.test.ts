/**
 * Tests commands whose database is damaged, empty or unreachable. Each command must explain the problem and exit with a
 * code other than 0.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DoctorFinding } from '@measurement-exchange/exchange/maintenance';
import { createDatabase, type Database } from '@measurement-exchange/testkit/exchange';
import { onServer, withDatabase } from '@measurement-exchange/testkit/globalSetup';
import { spawnMex } from '@measurement-exchange/testkit/process';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { afterAll, afterEach, beforeAll, expect, inject, it, vi } from 'vitest';
import { isIll } from '../src/terminal/doctorReport.ts';
import { type Ran, run } from './mexInProcess.ts';

/** The URL of a database that is unreachable, because no server listens on the port. */
const AWAY = 'postgres://mex_owner@127.0.0.1:9/mex';

let database: Database;
let folder: string;
beforeAll(async () => {
  database = await createDatabase();
  folder = await mkdtemp(join(tmpdir(), 'mex-ill-'));
  const config = join(folder, 'config.json');
  await writeFile(config, JSON.stringify({ retention: { cancelPendingAfterDays: 1 } }));
  vi.stubEnv('MEX_CONFIG', config);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
  await database.drop();
});
afterEach(() => {
  process.exitCode = undefined;
});

/** Runs a command and returns its output and its exit code. */
async function mexOn(url: string, ...args: string[]): Promise<Ran & { code: number }> {
  vi.stubEnv('DATABASE_URL', url);
  process.exitCode = undefined;
  const ran = await run(...args);
  const code = ran.error === undefined ? Number(process.exitCode ?? 0) : (ran.error.exitCode ?? 1);
  return { ...ran, code };
}

it('mex doctor exits with 0 if it finds nothing', async () => {
  expect(await mexOn(database.url, 'doctor')).toMatchObject({
    code: 0,
    out: expect.stringContaining('found nothing wrong'),
  });
});

it('isIll returns false for warnings only, and true for an error after a warning', () => {
  const warned = { severity: 'warning' } as DoctorFinding;
  expect(isIll([warned, warned])).toBe(false);
  expect(isIll([warned, { severity: 'error' } as DoctorFinding])).toBe(true);
});

it('mex doctor exits with 1 and names the problem, as text and as JSON', async () => {
  await database.query(`INSERT INTO changes_removed VALUES ('dataProviders/x', '9000000000000000000', 1)`);
  const told = await mexOn(database.url, 'doctor');
  expect(told).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^changes-ahead: .* 1 found: changes_removed\n {2}\S/m),
  });
  const json = await mexOn(database.url, 'doctor', '--json');
  expect(json.code).toBe(1);
  const { checks, ailments } = JSON.parse(json.out);
  expect(checks).toBeGreaterThan(30);
  expect(ailments).toContainEqual(
    expect.objectContaining({
      check: 'changes-ahead',
      severity: 'error',
      rows: 1,
      examples: ['changes_removed'],
    }),
  );
});

it('mex doctor reports a database without the schema, and finds nothing after mex migrate', async () => {
  const server = inject('serverUrl');
  const name = `mex_empty_${process.pid}`;
  await onServer(server, `CREATE DATABASE ${name} TEMPLATE template0`);
  const url = withDatabase(server, name);
  try {
    expect(await mexOn(url, 'doctor')).toMatchObject({
      code: 1,
      out: expect.stringContaining('migration-pending'),
    });
    const retention = await mexOn(url, 'admin', 'retention');
    expect(retention).toMatchObject({
      code: 1,
      error: expect.objectContaining({ message: expect.stringContaining('run mex migrate first') }),
    });
    expect(await mexOn(url, 'migrate', '--json')).toMatchObject({ code: 0 });
    expect(await mexOn(url, 'migrate')).toMatchObject({ code: 0, out: 'The schema is current.\n' });
    expect(await mexOn(url, 'doctor')).toMatchObject({ code: 0 });
  } finally {
    await onServer(server, `DROP DATABASE ${name} WITH (FORCE)`);
  }
});

it('every command that needs the database exits with 1 if the database is unreachable', async () => {
  const commands = [
    ['doctor'],
    ['doctor', '--json'],
    ['migrate'],
    ['migrate', '--json'],
    ['admin', 'retention'],
  ];
  for (const command of commands) {
    const { code, out, error } = await mexOn(AWAY, ...command);
    expect({ command, code, out }).toEqual({ command, code: 1, out: '' });
    expect(error?.message).toMatch(/ECONNREFUSED|out of reach/);
  }
});

it('a separate mex process exits with 1 if the database is unreachable', async () => {
  const env = {
    DATABASE_URL: AWAY,
    MEX_DUCHIES: 'off',
    MEX_AGENTS: 'off',
    MEX_DATA_DIR: join(folder, 'data'),
  };
  const commands = [['serve', '--dev', '--port', '0'], ...(isStress ? [['doctor']] : [])];
  const ends = await Promise.all(commands.map((args) => spawnMex(args, { env }).ended));
  for (const end of ends) {
    expect(end).toMatchObject({ code: 1, stderr: expect.stringMatching(/^mex: .*ECONNREFUSED/m) });
  }
});
