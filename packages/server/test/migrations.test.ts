import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { applyMigrations, readMigrations, schemaState } from '@measurement-exchange/server';
import { createDuchyDatabase, type DuchyDatabase } from '@measurement-exchange/testkit/duchy';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';

let database: DuchyDatabase;
let client: pg.Client;
let folder: string;
beforeAll(async () => {
  database = await createDuchyDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('CREATE SCHEMA migrated; SET search_path TO migrated');
  folder = mkdtempSync(join(tmpdir(), 'mex-migrations-'));
});
afterEach(async () => {
  await client.query('ROLLBACK');
  await client.query('DROP SCHEMA migrated CASCADE');
  await client.end();
  rmSync(folder, { recursive: true });
});

const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
const known = () => readMigrations(pathToFileURL(`${folder}/`));
const apply = () => applyMigrations(client, known(), (foreign) => `differs: ${foreign.join(', ')}`);
const tables = async () => {
  const { rows } = await client.query(
    "SELECT tablename FROM pg_tables WHERE schemaname = 'migrated' ORDER BY tablename",
  );
  return rows.map(({ tablename }) => tablename).filter((name) => name !== 'schema_migrations');
};

test('migrations are applied once, in the order of their numbers, and other files are ignored', async () => {
  write('0002_second.sql', 'ALTER TABLE one RENAME TO two');
  write('0001_first.sql', 'CREATE TABLE one (n integer)');
  write('SHA256SUMS', 'no SQL');
  write('0003_notes.md', 'no SQL');
  expect(await schemaState(client, known())).toMatchObject({ applied: [], foreign: [] });
  expect(await apply()).toEqual(['0001_first', '0002_second']);
  expect(await tables()).toEqual(['two']);
  expect(await apply()).toEqual([]);
  write('0003_third.sql', 'CREATE TABLE three (n integer)');
  expect((await schemaState(client, known())).pending.map(({ name }) => name)).toEqual(['0003_third']);
  expect(await apply()).toEqual(['0003_third']);
  const { rows } = await client.query('SELECT version, name FROM schema_migrations ORDER BY version');
  expect(rows.map(({ version, name }) => [version, name])).toEqual([
    [1, '0001_first'],
    [2, '0002_second'],
    [3, '0003_third'],
  ]);
});

test('no more migrations are applied if an applied one was edited or removed', async () => {
  write('0001_first.sql', 'CREATE TABLE one (n integer)');
  await apply();
  write('0001_first.sql', 'CREATE TABLE one (n bigint)');
  write('0002_second.sql', 'CREATE TABLE two (n integer)');
  await expect(apply()).rejects.toThrow('differs: 0001_first');
  rmSync(join(folder, '0001_first.sql'));
  await expect(apply()).rejects.toThrow('differs: 0001_first');
  expect(await tables()).toEqual(['one']);
});

test('a migration that fails is rolled back, and earlier migrations stay applied', async () => {
  write('0001_first.sql', 'CREATE TABLE one (n integer)');
  write('0002_second.sql', 'CREATE TABLE two (n integer); SELECT 1 / 0');
  await expect(apply()).rejects.toThrow('division by zero');
  await client.query('ROLLBACK');
  expect(await tables()).toEqual(['one']);
  expect((await schemaState(client, known())).applied).toEqual(['0001_first']);
});
