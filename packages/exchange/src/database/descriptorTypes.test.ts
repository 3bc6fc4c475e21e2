import { randomBytes } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { onServer, withDatabase } from '@measurement-exchange/testkit/globalSetup';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { migrate, readMigrations } from './migrate.ts';

/** A database in the state that the previous version left, without the table of types. */
const name = `mex_types_${randomBytes(6).toString('hex')}`;
const connection = { connectionString: withDatabase(inject('serverUrl'), name) };
const client = new pg.Client(connection);

beforeAll(async () => {
  await onServer(inject('serverUrl'), `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  await client.connect();
  const [first] = readMigrations();
  await client.query(first!.text);
  await client.query(`CREATE TABLE schema_migrations (
    version integer PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`);
  await client.query('INSERT INTO schema_migrations VALUES ($1, $2, $3)', [1, first!.name, first!.sha256]);
  await client.query(`INSERT INTO parties (name, create_time, update_time)
    SELECT 'dataProviders/' || p, now(), now() FROM unnest('{tv,radio}'::text[]) AS p`);
});

afterAll(async () => {
  await client.end();
  await onServer(inject('serverUrl'), `DROP DATABASE ${name} WITH (FORCE)`);
});

function setOf(...messages: string[]): Uint8Array {
  const file = {
    name: 'a.proto',
    package: 'a',
    dependency: ['google/protobuf/duration.proto'],
    messageType: messages.map((message) => ({ name: message, nestedType: [{ name: 'Nested' }] })),
  };
  const wellKnown = {
    name: 'google/protobuf/duration.proto',
    package: 'google.protobuf',
    messageType: [{ name: 'Duration' }],
  };
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [file, wellKnown] }));
}

/** Inserts a descriptor as an exchange of the previous version does. */
async function describe(id: string, provider: string, descriptorSet: Uint8Array): Promise<void> {
  await client.query(
    `INSERT INTO event_group_metadata_descriptors
       (id, provider, descriptor_set, version, create_time, update_time) VALUES ($1, $2, $3, 1, now(), now())`,
    [id, provider, descriptorSet],
  );
}

async function types(): Promise<string[]> {
  const { rows } = await client.query(`SELECT descriptor || ' ' || type_name || ' ' || provider AS row
    FROM descriptor_types ORDER BY 1`);
  return rows.map(({ row }) => row);
}

it('each migration registers the types of the descriptors that the previous version stored', async () => {
  await describe('films', 'dataProviders/tv', setOf('Film', 'Series'));
  await describe('songs', 'dataProviders/radio', setOf('Song'));
  await describe('damaged', 'dataProviders/radio', Uint8Array.of(255));
  for (let i = 0; i < 120; i++) await describe(`empty${i}`, 'dataProviders/tv', setOf());
  await migrate({ connection, mode: 'production' });
  const registered = [
    'films a.Film dataProviders/tv',
    'films a.Series dataProviders/tv',
    'songs a.Song dataProviders/radio',
  ];
  expect(await types()).toEqual(registered);

  // An exchange of the previous version may add descriptors after the migration. The next migration registers their
  // types.
  await describe('news', 'dataProviders/radio', setOf('Song'));
  await migrate({ connection, mode: 'production' });
  expect(await types()).toEqual([
    ...registered.slice(0, 2),
    'news a.Song dataProviders/radio',
    ...registered.slice(2),
  ]);
});
