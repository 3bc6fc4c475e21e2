import { randomBytes } from 'node:crypto';
import { onServer, withDatabase } from '@measurement-exchange/testkit/globalSetup';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { migrate } from '../../database/migrate.ts';
import { type DatabaseFacts, databaseProblems, databaseWarnings, readDatabaseFacts } from './database.ts';

const sound: DatabaseFacts = {
  role: 'mex_app',
  excessRights: [],
  versionNum: 170_004,
  fsync: 'on',
  fullPageWrites: 'on',
  synchronousCommit: 'on',
  encoding: 'UTF8',
  dataChecksums: 'on',
  inRecovery: false,
  pendingMigrations: [],
  foreignMigrations: [],
  unreadableTables: [],
  mode: 'production',
  ahead: false,
};

describe('the check of a production database', () => {
  it.each<Partial<DatabaseFacts>>([
    {},
    { versionNum: 150_000 },
    { versionNum: 180_009 },
    { synchronousCommit: 'remote_write' },
    { synchronousCommit: 'remote_apply' },
  ])('reports no problem and no warning with %j', (change) => {
    expect(databaseProblems({ ...sound, ...change })).toEqual([]);
    expect(databaseWarnings({ ...sound, ...change })).toEqual([]);
  });

  it.each<[Partial<DatabaseFacts>, RegExp]>([
    [{ versionNum: 140_011 }, /^PostgreSQL 14 is not tested. Use 15 to 18/],
    [{ versionNum: 190_000 }, /^PostgreSQL 19 is not tested/],
    [{ fsync: 'off' }, /^fsync is off/],
    [{ fullPageWrites: 'off' }, /^full_page_writes is off/],
    [{ synchronousCommit: 'off' }, /^synchronous_commit is off.*the role mex_app/],
    [{ synchronousCommit: 'local' }, /^synchronous_commit is local/],
    [{ inRecovery: true }, /standby.*databaseUrl at the primary/],
    [{ encoding: 'SQL_ASCII' }, /encoding is SQL_ASCII/],
    [
      { excessRights: ['is a superuser'] },
      /^The role mex_app of databaseUrl is a superuser: .*databaseAppRole/,
    ],
    [{ pendingMigrations: ['0002_more'] }, /^The schema lacks 0002_more. Run: mex migrate/],
    [{ foreignMigrations: ['0001_first'] }, /differ from this version's: 0001_first/],
    [{ unreadableTables: ['parties'] }, /may not read parties.*run: mex migrate/],
    [{ mode: 'development' }, /has served development mode/],
    [{ ahead: true }, /dump of another server.*Run: mex migrate$/],
  ])('reports a problem with %j', (change, words) => {
    expect(databaseProblems({ ...sound, ...change })).toEqual([expect.stringMatching(words)]);
  });

  it('reports a warning, but no problem, if data checksums are off', () => {
    expect(databaseProblems({ ...sound, dataChecksums: 'off' })).toEqual([]);
    expect(databaseWarnings({ ...sound, dataChecksums: 'off' })).toEqual([
      expect.stringMatching(/^data_checksums is off/),
    ]);
  });
});

describe('readDatabaseFacts', () => {
  const server = inject('serverUrl');
  // Use random names, because roles belong to the whole server, and other test runs create roles, too.
  const suffix = randomBytes(4).toString('hex');
  const [own, app, group] = [`mex_own_${suffix}`, `mex_app_${suffix}`, `mex_group_${suffix}`];
  const password = randomBytes(16).toString('hex');
  const database = `mex_facts_${suffix}`;

  beforeAll(async () => {
    for (const role of [own, app, group]) {
      await onServer(server, `CREATE ROLE ${role} LOGIN PASSWORD '${password}'`);
    }
    await onServer(server, `CREATE DATABASE ${database} OWNER ${own} TEMPLATE template0 ENCODING 'UTF8'`);
  });
  afterAll(async () => {
    await onServer(server, `DROP DATABASE ${database} WITH (FORCE)`);
    await onServer(server, `DROP ROLE ${own}, ${app}, ${group}`);
  });

  function as(role: string): { connectionString: string } {
    const url = new URL(withDatabase(server, database));
    [url.username, url.password] = [role, password];
    return { connectionString: url.href };
  }
  const admin = () => withDatabase(server, database);
  const facts = (role = app) => readDatabaseFacts({ app: as(role) });
  const migrated = () => migrate({ connection: as(own), appRole: app, mode: 'production' });
  async function factsWhile(change: string, undo: string): Promise<DatabaseFacts> {
    await onServer(admin(), change);
    return facts().finally(() => onServer(admin(), undo));
  }

  it('reports pending migrations of an empty database', async () => {
    const [first] = (await facts()).pendingMigrations;
    expect(first).toMatch(/^0001_/);
  });

  it('reports tables that the role cannot read, instead of failing', async () => {
    await migrate({ connection: as(own), mode: 'production' });
    expect((await facts()).unreadableTables).toEqual(
      expect.arrayContaining(['schema_migrations', 'settings']),
    );
  });

  describe('with a migrated database', () => {
    beforeAll(migrated);

    it('finds no problem for a serving role', async () => {
      const read = await facts();
      expect(read).toMatchObject({ ...sound, role: app, versionNum: expect.any(Number) });
      expect(databaseProblems(read)).toEqual([]);
    });

    it('reports an unknown migration and an edited migration', async () => {
      const read = await factsWhile(
        `INSERT INTO schema_migrations (version, name, sha256) VALUES (9999, '9999_alien', '');
         UPDATE schema_migrations SET sha256 = 'edited' || sha256 WHERE version = 1`,
        `DELETE FROM schema_migrations WHERE version = 9999;
         UPDATE schema_migrations SET sha256 = substr(sha256, 7) WHERE version = 1`,
      );
      expect(read.foreignMigrations).toEqual([expect.stringMatching(/^0001_/), '9999_alien']);
    });

    it('reports the mode of a development database', async () => {
      const mark = (mode: string) => `UPDATE settings SET value = '${mode}' WHERE key = 'mode'`;
      expect((await factsWhile(mark('development'), mark('production'))).mode).toBe('development');
    });

    it('reports a database restored from a dump of another server as ahead, until it is migrated', async () => {
      await onServer(
        admin(),
        `INSERT INTO parties (name, create_time, update_time) VALUES ('duchies/d', now(), now());
         INSERT INTO changes (party, xid, name, kind, version, time)
           VALUES ('duchies/d', '9000000000000000000', 'duchies/d', 'PARTY', 1, now())`,
      );
      expect((await facts()).ahead).toBe(true);
      await migrated();
      expect((await facts()).ahead).toBe(false);
    });

    it('ignores tables that do not belong to the exchange', async () => {
      const read = await factsWhile('CREATE TABLE theirs (secret text)', 'DROP TABLE theirs');
      expect(read.unreadableTables).toEqual([]);
    });

    it('reads settings that are set for the role', async () => {
      const setting = `ALTER ROLE ${app} IN DATABASE ${database}`;
      const read = await factsWhile(`${setting} SET synchronous_commit = off`, `${setting} RESET ALL`);
      expect(read.synchronousCommit).toBe('off');
    });

    it.each([
      ['UPDATE on transitions', 'UPDATE ON transitions', app, ['may UPDATE transitions']],
      ['DELETE on audit_entries', 'DELETE ON audit_entries', app, ['may DELETE audit_entries']],
      ['TRUNCATE on transitions', 'TRUNCATE ON transitions', app, ['may TRUNCATE transitions']],
      ['UPDATE on one column', 'UPDATE (actor) ON transitions', app, ['may UPDATE transitions']],
      ['UPDATE for everyone', 'UPDATE ON transitions', 'public', ['may UPDATE transitions']],
    ])('reports the excess right %s', async (_title, right, role, excessRights) => {
      const read = await factsWhile(`GRANT ${right} TO ${role}`, `REVOKE ${right} FROM ${role}`);
      expect(read.excessRights).toEqual(excessRights);
      expect((await facts()).excessRights).toEqual([]);
    });

    it('reports an excess right that the role can get with SET ROLE', async () => {
      const read = await factsWhile(
        `GRANT DELETE ON transitions TO ${group}; ALTER ROLE ${app} NOINHERIT; GRANT ${group} TO ${app}`,
        `ALTER ROLE ${app} INHERIT; REVOKE ${group} FROM ${app}; REVOKE DELETE ON transitions FROM ${group}`,
      );
      expect(read.excessRights).toEqual(['may DELETE transitions']);
    });

    it('reports a role that owns the database, and a superuser', async () => {
      expect((await facts(own)).excessRights.slice(0, 3)).toEqual([
        'owns the database',
        'owns schema public',
        'owns table audit_entries',
      ]);
      expect((await readDatabaseFacts({ app: { connectionString: admin() } })).excessRights[0]).toBe(
        'is a superuser',
      );
    });

    it('reports a role that may create roles', async () => {
      const read = await factsWhile(`ALTER ROLE ${app} CREATEROLE`, `ALTER ROLE ${app} NOCREATEROLE`);
      expect(read.excessRights).toEqual(['may create roles']);
    });
  });
});
