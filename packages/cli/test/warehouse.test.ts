/** Runs the PostgreSQL part of docs/quickstart/warehouse.md, exactly as printed. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onServer, withDatabase } from '@measurement-exchange/testkit/globalSetup';
import { ROOT } from '@measurement-exchange/testkit/process';
import { useWorld } from '@measurement-exchange/testkit/world';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { type DocumentShell, openDocumentShell } from './documentShell.ts';
import { useEnvironment } from './environment.ts';

const w = useWorld();
useEnvironment(() => w.exchange);
const DOCUMENT = 'docs/quickstart/warehouse.md';
const DATABASE = `warehouse_quickstart_${process.pid}`;
let folder: string;
let shell: DocumentShell;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mex-warehouse-'));
  await onServer(inject('serverUrl'), `CREATE DATABASE ${DATABASE} TEMPLATE template0 ENCODING 'UTF8'`);
  const url = new URL(withDatabase(inject('serverUrl'), DATABASE));
  const { username, password, hostname, port } = url;
  shell = await openDocumentShell(folder, {
    MEX_DATA_DIR: w.exchange.dataDir,
    ...{ PGHOST: decodeURIComponent(hostname), PGPORT: port || '5432', PGDATABASE: DATABASE },
    ...{ PGUSER: username, PGPASSWORD: password },
    WAREHOUSE: `postgres://${hostname}:${port || '5432'}/${DATABASE}`,
  });
  const psql = join(folder, 'bin', 'psql');
  await writeFile(
    psql,
    `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'packages/cli/test/psql.mjs')}'\n`,
  );
  await chmod(psql, 0o755);
});
afterAll(async () => {
  shell.close();
  await onServer(inject('serverUrl'), `DROP DATABASE ${DATABASE} WITH (FORCE)`);
  await onServer(inject('serverUrl'), 'DROP ROLE IF EXISTS mex_reader');
  await rm(folder, { recursive: true, force: true });
});

it('the warehouse quickstart with PostgreSQL ends with a figure near the truth', async () => {
  const shown = await shell.typed(DOCUMENT, '## PostgreSQL', '## ClickHouse');
  expect(shown).toHaveLength(5);
  const [, , , checked, answered] = shown as [string, string, string, string, string];
  expect(checked).toContain('rows 30,000');
  expect(checked).toMatch(/vid +person +bigint +0\n/);
  expect(checked).toMatch(/device +string +0 +2\n/);
  expect(checked).toMatch(/autumn +30000 +28 /);
  expect(answered).toContain('fulfilled in');
  const client = new pg.Client(withDatabase(inject('serverUrl'), DATABASE));
  await client.connect();
  const { rows } = await client.query(
    `SELECT count(DISTINCT vid) AS people FROM ads.impressions WHERE device = 'phone'`,
  );
  await client.end();
  const [, reach] = /reach +([\d,]+) +95 %/.exec(answered) ?? [];
  // The noise has a standard deviation of 50, so the limit of 300 is six deviations.
  expect(Math.abs(Number(reach!.replace(',', '')) - Number(rows[0].people))).toBeLessThan(300);
});
