import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isStress } from '@measurement-exchange/testkit/rounds';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../src/database/db.ts';
import { type Check, MAX_EXAMPLES } from '../../src/database/doctor/check.ts';
import { TRIGGERS, UNIQUE_INDEXES } from '../../src/database/doctor/server.ts';
import { CHECKS, doctor } from '../../src/database/doctor.ts';
import { migrate, readMigrations } from '../../src/database/migrate.ts';
import { ensureRole } from '../../src/database/roles.ts';
import { type EmbeddedPostgres, startPostgres } from '../../src/postgres/index.ts';
import { CHANGE_ILLNESSES } from './doctor/changeIllnesses.ts';
import { addComputations, COMPUTATION_ILLNESSES } from './doctor/computations.ts';
import {
  addDescriptors,
  addEventGroups,
  addMeasurements,
  addOperatorsThings,
  addParties,
  addPopulations,
  addReports,
  BRAND,
} from './doctor/data.ts';
import type { Illness } from './doctor/illness.ts';
import { MEASUREMENT_ILLNESSES } from './doctor/measurementIllnesses.ts';
import { REPORT_ILLNESSES } from './doctor/reportIllnesses.ts';
import { RESOURCE_ILLNESSES } from './doctor/resourceIllnesses.ts';
import { ROW_ILLNESSES } from './doctor/rowIllnesses.ts';

const MIGRATIONS = readMigrations().map(({ name }) => name);
const HEALTHY = 'healthy';
/** A clone of the database without CHECK constraints, because these would reject most of the planted defects. */
const UNGUARDED = 'unguarded';
const UNGUARD = `
  -- Make the generated column a normal column, so that the rows of event_groups can be saved and restored.
  ALTER TABLE event_groups ALTER COLUMN search DROP EXPRESSION;
  DO $$ DECLARE k record; BEGIN
  FOR k IN SELECT conrelid::regclass AS relation, conname FROM pg_constraint
            WHERE contype = 'c' AND connamespace = 'public'::regnamespace
  LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', k.relation, k.conname); END LOOP; END $$;`;
/**
 * Tables to restore after a case in which all checks run. Restoring them takes about 60 ms, and a new clone takes 200
 * ms.
 */
const TABLES = [
  ...['parties', 'principals', 'trusted_roots', 'certificates', 'revocation_cascades'],
  ...['measurements', 'requisitions', 'measurement_tombstones', 'requisition_tombstones'],
  ...['computations', 'computation_log'],
  ...['event_group_metadata_descriptors', 'descriptor_types', 'event_groups', 'transitions', 'audit_entries'],
  ...['populations', 'population_model_lines', 'changes', 'changes_removed'],
  ...['reports', 'report_measurements'],
];
const SAVE = `CREATE SCHEMA saved; ${TABLES.map((t) => `CREATE TABLE saved.${t} AS TABLE ${t};`).join(' ')}`;
const RESTORE = TABLES.map(
  (t) => `DELETE FROM ${t}; INSERT INTO ${t} OVERRIDING SYSTEM VALUE SELECT * FROM saved.${t};`,
).join(' ');
/** Disables triggers and foreign keys. */
const UNCHECKED = 'SET session_replication_role = replica;';
const ILLNESSES = [
  ...MEASUREMENT_ILLNESSES,
  ...COMPUTATION_ILLNESSES,
  ...RESOURCE_ILLNESSES,
  ...REPORT_ILLNESSES,
  ...ROW_ILLNESSES,
];

const folder = mkdtempSync(join(tmpdir(), 'mex-doctor-test-'));
let server: EmbeddedPostgres;
let clones = 0;
/** A connection to the unguarded database with triggers and foreign keys disabled. */
let patient: pg.Client;

beforeAll(async () => {
  chmodSync(folder, 0o755); // PostgreSQL may run under another account, which needs access to this directory.
  server = await startPostgres({ dataDir: folder });
  await run('postgres', `CREATE DATABASE ${HEALTHY}`);
  await migrate({ connection: at(HEALTHY), mode: 'production' });
  const db = new Database({ connection: at(HEALTHY), applicationName: 'doctor test', maxConnections: 1 });
  await addParties(db);
  await addMeasurements(db);
  await addReports(db);
  await addDescriptors(db);
  await addEventGroups(db);
  await addOperatorsThings(db);
  await addPopulations(db);
  await addComputations(db);
  await db.close();
  await run(await clone(HEALTHY, UNGUARDED), `${UNGUARD} ${SAVE}`);
  patient = new pg.Client(at(UNGUARDED));
  await patient.connect();
  await patient.query(UNCHECKED);
});

afterAll(async () => {
  await patient?.end();
  // Stop the server without a flush, which would take seconds. The data is no longer needed.
  if (server !== undefined) process.kill(server.pid, 'SIGQUIT');
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const at = (database: string): pg.ClientConfig => ({ ...server.connection, database });

async function run(database: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client(at(database));
  await client.connect();
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}

async function clone(template: string, name = `clone${++clones}`): Promise<string> {
  await run('postgres', `CREATE DATABASE ${name} TEMPLATE ${template}`);
  return name;
}

/** Runs the doctor and returns the check and the examples of each finding. */
async function findings(database: string) {
  return (await doctor({ connection: at(database) })).map(({ check, examples }) => [check, examples]);
}

/**
 * Returns the findings for a planted defect. With `npm run stress`, and in one case of ten, all checks run. In the
 * other cases, only the defect's own check runs, in the transaction that plants the defect. `before` is SQL that runs
 * before the SQL of the defect.
 */
async function findingsOf([title, sql, id]: Illness, before = '') {
  if (isStress || title.length % 10 === 0) {
    await run(UNGUARDED, `${UNCHECKED} ${before} ${sql}`);
    try {
      return await findings(UNGUARDED);
    } finally {
      await run(UNGUARDED, `${UNCHECKED} ${RESTORE}`);
    }
  }
  const check = (CHECKS as readonly Check[]).find((each) => each.id === id)!;
  await patient.query(`BEGIN; ${before} ${sql}`);
  try {
    return [[id, (await check.find(patient)).names.slice(0, MAX_EXAMPLES)]];
  } finally {
    await patient.query('ROLLBACK');
  }
}

const SCHEMA_ILLNESSES: Illness[] = [
  [
    'a migration that was not run',
    'DELETE FROM schema_migrations',
    'migration-pending',
    MIGRATIONS.slice(0, 5),
  ],
  [
    'a migration that was edited, and one of a later version',
    `UPDATE schema_migrations SET sha256 = 'another' WHERE version <= 2;
     INSERT INTO schema_migrations VALUES (9999, '9999_later', 'sha256')`,
    'migration-foreign',
    [...MIGRATIONS.slice(0, 2), '9999_later'],
  ],
  [
    'a missing unique index, an index that is no longer unique, and an invalid index',
    `DROP INDEX certificates_der;
     DROP INDEX measurements_request_id;
     CREATE INDEX measurements_request_id ON measurements (consumer, request_id);
     UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'measurements_by_create_time'::regclass`,
    'index-damaged',
    ['certificates_der', 'measurements_by_create_time', 'measurements_request_id'],
  ],
  [
    'a missing trigger, a disabled trigger, and a foreign key that is not enforced',
    `DROP TRIGGER requisition_count ON measurements;
     ALTER TABLE transitions DISABLE TRIGGER append_only;
     ALTER TABLE trusted_roots DISABLE TRIGGER ALL`,
    'trigger-off',
    ['measurements requisition_count', 'transitions append_only', 'trusted_roots trusted_roots_party_fkey'],
  ],
  [
    'a constraint that is not validated',
    `ALTER TABLE requisitions ADD CONSTRAINT later CHECK (ordinal >= 0) NOT VALID`,
    'constraint-not-valid',
    ['requisitions later'],
  ],
  [
    'a database with synchronous_commit = off',
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$`,
    'settings-unsafe',
    ['synchronous_commit = off'],
  ],
  [
    'a server without data checksums',
    // Replace only the view that reports the setting, because the setting itself is chosen when a cluster is created.
    `CREATE VIEW pg_settings AS SELECT name, CASE name WHEN 'data_checksums' THEN 'off' ELSE setting END AS setting
       FROM pg_catalog.pg_settings;
     DO $$ BEGIN
       EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database());
     END $$`,
    'checksums-off',
    ['data_checksums = off'],
  ],
];

describe('the doctor', () => {
  it('reports no findings for a healthy database', async () => {
    expect(await findings(HEALTHY)).toEqual([]);
  });

  it.each(ILLNESSES)('finds %s', async (...illness) => {
    const [, , check, examples] = illness;
    // Empty the change log. Otherwise the checks of the change log would also report each defect that changes a
    // version.
    expect(await findingsOf(illness, 'DELETE FROM changes;')).toEqual([[check, examples]]);
  });

  it.each(CHANGE_ILLNESSES)('finds %s', async (...illness) => {
    const [, , check, examples] = illness;
    expect(await findingsOf(illness)).toEqual([[check, examples]]);
  });

  it.each(SCHEMA_ILLNESSES)('finds %s', async (_, sql, check, examples) => {
    const database = await clone(HEALTHY);
    await run(database, sql);
    expect(await findings(database)).toEqual([[check, examples]]);
  });

  it('has a test for every check', () => {
    const found = [...ILLNESSES, ...CHANGE_ILLNESSES, ...SCHEMA_ILLNESSES].map(([, , check]) => check);
    expect(new Set(found)).toEqual(new Set(CHECKS.map(({ id }) => id)));
  });

  it('reports the row count, five examples, the meaning and the remedy of a finding', async () => {
    const database = await clone(HEALTHY);
    await run(database, `${UNCHECKED} UPDATE requisitions SET ordinal = 7`);
    const five = ['awaiting', 'cancelled', 'computing', 'refused', 'revoked'];
    expect(await doctor({ connection: at(database) })).toEqual([
      {
        check: 'requisition-order',
        severity: 'error',
        rows: 14,
        examples: five.map((id) => `${BRAND}/measurements/${id}`),
        meaning: expect.stringContaining('numbered'),
        remedy: expect.stringContaining('ordinal'),
      },
    ]);
  });

  it('finds a server with fsync = off', async () => {
    const fsyncIs = (value: string) =>
      expect.poll(async () => (await run(HEALTHY, 'SHOW fsync')).rows[0].fsync).toBe(value);
    try {
      await run('postgres', 'ALTER SYSTEM SET fsync = off');
      await run('postgres', 'SELECT pg_reload_conf()');
      await fsyncIs('off');
      expect(await findings(HEALTHY)).toEqual([['settings-unsafe', ['fsync = off']]]);
    } finally {
      await run('postgres', 'ALTER SYSTEM RESET fsync');
      await run('postgres', 'SELECT pg_reload_conf()');
      await fsyncIs('on');
    }
  });

  it('finds a role that can write with unsafe commits, but not a role that cannot write', async () => {
    const database = await clone(HEALTHY);
    await run(
      database,
      `CREATE ROLE writer; CREATE ROLE reader; GRANT INSERT ON measurements TO writer;
       ALTER ROLE writer SET synchronous_commit = local; ALTER ROLE reader SET synchronous_commit = off`,
    );
    expect(await findings(database)).toEqual([
      ['settings-unsafe', ['role writer: synchronous_commit=local']],
    ]);
  });

  it('finds a database with the encoding SQL_ASCII', async () => {
    const database = 'any_bytes';
    await run(
      'postgres',
      `CREATE DATABASE ${database} TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'
      LOCALE_PROVIDER libc`,
    );
    await migrate({ connection: at(database), mode: 'production' });
    expect(await findings(database)).toEqual([['settings-unsafe', ['server_encoding = SQL_ASCII']]]);
  });

  it('runs with the rights of the serving role', async () => {
    const database = await clone(HEALTHY);
    await ensureRole(at(database), 'app');
    await migrate({ connection: at(database), appRole: 'app', mode: 'production' });
    expect(await doctor({ connection: { ...at(database), user: 'app' } })).toEqual([]);
  });

  it('reads one snapshot of the database and does not block writers', async () => {
    const database = await clone(HEALTHY);
    const writer = new pg.Client(at(database));
    await writer.connect();
    await writer.query(`${UNCHECKED} SET lock_timeout = 5000; BEGIN`);
    await writer.query('LOCK TABLE transitions'); // where the doctor waits
    const reached = Promise.withResolvers<void>();
    const seen: string[] = [];
    const examined = doctor({
      connection: at(database),
      onCheck: (id, done, total) => {
        seen.push(id);
        expect([done, total]).toEqual([seen.length, CHECKS.length]);
        if (id === 'failure-justification') reached.resolve();
      },
    });
    await reached.promise;
    await writer.query(`UPDATE measurements SET requisition_count = 9; DELETE FROM transitions; COMMIT`);
    expect(await examined).toEqual([]);
    expect(seen).toEqual(CHECKS.map(({ id }) => id));
    await writer.end();
    expect(await findings(database)).toHaveLength(2);
  });

  it('ignores the statement_timeout of the database', async () => {
    const database = await clone(HEALTHY);
    await run('postgres', `ALTER DATABASE ${database} SET statement_timeout = 1`);
    expect(await findings(database)).toEqual([]);
  });

  it('lists every unique index and every trigger that the migrations create', async () => {
    const indexes = await run(
      HEALTHY,
      `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE i.indisunique AND c.relnamespace = 'public'::regnamespace ORDER BY c.relname`,
    );
    expect(indexes.rows.map((row) => row.name)).toEqual(UNIQUE_INDEXES);
    const triggers = await run(
      HEALTHY,
      `SELECT tgrelid::regclass::text AS relation, tgname AS name FROM pg_trigger
        WHERE NOT tgisinternal ORDER BY relation, name`,
    );
    expect(triggers.rows.map((row) => [row.relation, row.name])).toEqual(TRIGGERS);
  });
});
