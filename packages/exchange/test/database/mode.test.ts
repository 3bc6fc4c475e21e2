import { createDatabase, type Database } from '@measurement-exchange/testkit/exchange';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { migrate } from '../../src/database/migrate.ts';

let database: Database;

beforeEach(async () => {
  database = await createDatabase();
  // Simulate a database that an earlier version created without this setting.
  await database.query("DELETE FROM settings WHERE key = 'mode'");
});
afterEach(() => database.drop());

const migrateAs = (mode: 'development' | 'production') =>
  migrate({ connection: { connectionString: database.url }, mode });
const mark = async () => (await database.query("SELECT value FROM settings WHERE key = 'mode'"))[0]?.value;
const addParty = () =>
  database.query("INSERT INTO parties (name, create_time, update_time) VALUES ('duchies/d', now(), now())");

it('an empty database keeps the mode of its first migration', async () => {
  await migrateAs('development');
  expect(await mark()).toBe('development');
  await addParty();
  await migrateAs('development');
  // Migrating for production does not change the recorded mode. Production mode later refuses to serve this database.
  await migrateAs('production');
  expect(await mark()).toBe('development');
});

it('development mode rejects a database that was migrated for production', async () => {
  await migrateAs('production');
  expect(await mark()).toBe('production');
  await expect(migrateAs('development')).rejects.toThrow('not one of development mode');
  await migrateAs('production');
});

it('development mode rejects an unmarked database with parties, and does not change it', async () => {
  await addParty();
  await database.query('DELETE FROM schema_migrations WHERE version = 3');
  await expect(migrateAs('development')).rejects.toThrow('not one of development mode');
  expect(await mark()).toBeUndefined();
  expect(await database.query('SELECT FROM schema_migrations WHERE version = 3')).toEqual([]);
});
