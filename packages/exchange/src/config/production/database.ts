/**
 * Checks the database of production mode. The database must be durable and up to date. The role that serves requests
 * must not be able to rewrite the logs (the tables `transitions` and `audit_entries`).
 */
import type pg from 'pg';
import { Database } from '../../database/db.ts';
import { foreignMessage, schemaState } from '../../database/migrate.ts';
import { isAhead } from '../../database/transactionIds.ts';

export interface DatabaseFacts {
  role: string;
  /** Rights that the role must not have, such as `owns table transitions`. The most dangerous right comes first. */
  excessRights: string[];
  versionNum: number;
  fsync: string;
  fullPageWrites: string;
  synchronousCommit: string;
  encoding: string;
  dataChecksums: string;
  inRecovery: boolean;
  pendingMigrations: string[];
  foreignMigrations: string[];
  unreadableTables: string[];
  mode: string | undefined;
  /**
   * True if the logs contain transaction IDs that this PostgreSQL server has not assigned yet, because another server
   * wrote the logs.
   */
  ahead: boolean;
}

const [OLDEST_VERSION, NEWEST_VERSION] = [15, 18];
/** The values of `synchronous_commit` with which an acknowledged request survives a server crash. */
const DURABLE_COMMIT = ['on', 'remote_write', 'remote_apply'];

export function databaseProblems(facts: DatabaseFacts): string[] {
  const { role } = facts;
  const major = Math.floor(facts.versionNum / 10_000);
  const problems = [
    (major < OLDEST_VERSION || major > NEWEST_VERSION) &&
      `PostgreSQL ${major} is not tested. Use ${OLDEST_VERSION} to ${NEWEST_VERSION}.`,
    facts.inRecovery && 'The database is a standby. Point databaseUrl at the primary.',
    facts.fsync !== 'on' &&
      'fsync is off: a crash would destroy the database. Set fsync = on in postgresql.conf.',
    facts.fullPageWrites !== 'on' &&
      'full_page_writes is off: a crash could tear pages. Set it on in postgresql.conf.',
    !DURABLE_COMMIT.includes(facts.synchronousCommit) &&
      `synchronous_commit is ${facts.synchronousCommit}: an acknowledged request could be lost. ` +
        `Set it on for the server, the database and the role ${role}.`,
    facts.encoding !== 'UTF8' &&
      `The database's encoding is ${facts.encoding}. Create it anew: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`,
    facts.excessRights.length > 0 &&
      `The role ${role} of databaseUrl ${facts.excessRights.slice(0, 3).join(', ')}: it could rewrite the logs. ` +
        'Serve with a role that owns nothing, named in databaseAppRole and granted by mex migrate.',
    facts.foreignMigrations.length > 0 && foreignMessage(facts.foreignMigrations),
    facts.pendingMigrations.length > 0 &&
      `The schema lacks ${facts.pendingMigrations.join(', ')}. Run: mex migrate (with databaseOwnerUrl and databaseAppRole set)`,
    facts.unreadableTables.length > 0 &&
      `The role ${role} may not read ${facts.unreadableTables.join(', ')}. Set databaseAppRole to ${role} and run: mex migrate`,
    facts.ahead &&
      'The database was restored from a dump of another server: its logs have transaction IDs that this one has not ' +
        'reached. Run: mex migrate',
    facts.mode === 'development' &&
      'The database has served development mode: it has demo parties whose keys are no secret. Use another one.',
  ];
  return problems.filter((problem) => problem !== false);
}

export function databaseWarnings(facts: DatabaseFacts): string[] {
  if (facts.dataChecksums === 'on') return [];
  return [
    'data_checksums is off: a failing disk could change data unseen. Stop the server and run pg_checksums.',
  ];
}

/** Reads the facts as the role that serves requests, because PostgreSQL settings may differ between roles. */
export async function readDatabaseFacts({ app }: { app: pg.ClientConfig }): Promise<DatabaseFacts> {
  const db = new Database({ connection: app, applicationName: 'mex start', maxConnections: 1 });
  try {
    const client = await db.pool.connect();
    try {
      const server = (await client.query(SERVER)).rows[0];
      const excessRights = (await client.query(EXCESS_RIGHTS)).rows.map((row) => row.right);
      const unreadableTables = (await client.query(UNREADABLE_TABLES)).rows.map((row) => row.name);
      const facts = { ...server, excessRights, unreadableTables, ahead: false };
      if (unreadableTables.length > 0) return { ...facts, pendingMigrations: [], foreignMigrations: [] };
      const { applied, pending, foreign } = await schemaState(client);
      const mode = applied.length > 0 ? (await client.query(MODE)).rows[0]?.value : undefined;
      const ahead = pending.length === 0 && foreign.length === 0 && (await isAhead(client));
      return {
        ...facts,
        pendingMigrations: pending.map((m) => m.name),
        foreignMigrations: foreign,
        mode,
        ahead,
      };
    } finally {
      client.release();
    }
  } finally {
    await db.close();
  }
}

const SERVER = `
  SELECT current_user AS role,
         current_setting('server_version_num')::integer AS "versionNum",
         current_setting('fsync') AS fsync,
         current_setting('full_page_writes') AS "fullPageWrites",
         current_setting('synchronous_commit') AS "synchronousCommit",
         current_setting('server_encoding') AS encoding,
         current_setting('data_checksums') AS "dataChecksums",
         pg_is_in_recovery() AS "inRecovery"`;

// Selects the rights with which the role could rewrite the logs. Includes rights on single columns, and rights of other
// roles that the role could assume with SET ROLE.
const EXCESS_RIGHTS = `
  WITH reachable AS (SELECT * FROM pg_roles WHERE pg_has_role(oid, 'MEMBER')),
       logs AS (SELECT * FROM pg_class WHERE oid IN (to_regclass('transitions'), to_regclass('audit_entries')))
  SELECT 1, 'is a superuser' AS right FROM reachable WHERE rolsuper
  UNION SELECT 2, 'may create roles' FROM reachable WHERE rolcreaterole
  UNION SELECT 3, 'owns the database' FROM pg_database
         WHERE datname = current_database() AND pg_has_role(datdba, 'MEMBER')
  UNION SELECT 4, 'owns schema ' || nspname FROM pg_namespace
         WHERE oid IN (SELECT relnamespace FROM logs) AND pg_has_role(nspowner, 'MEMBER')
  UNION SELECT 5, 'owns table ' || relname FROM logs WHERE pg_has_role(relowner, 'MEMBER')
  UNION SELECT 6, 'may ' || privilege || ' ' || relname
          FROM reachable, logs, unnest(ARRAY['UPDATE', 'DELETE', 'TRUNCATE']) AS privilege
         WHERE has_table_privilege(reachable.oid, logs.oid, privilege)
            OR (privilege = 'UPDATE' AND has_any_column_privilege(reachable.oid, logs.oid, privilege))
  ORDER BY 1, 2`;

// Lists only tables with the same owner as schema_migrations, because the schema may contain tables of other
// applications.
const UNREADABLE_TABLES = `
  SELECT relname AS name FROM pg_class
   WHERE relkind = 'r' AND NOT has_table_privilege(oid, 'SELECT')
     AND (relnamespace, relowner) IN
         (SELECT relnamespace, relowner FROM pg_class WHERE oid = to_regclass('schema_migrations'))
   ORDER BY 1`;

const MODE = "SELECT value FROM settings WHERE key = 'mode'";
