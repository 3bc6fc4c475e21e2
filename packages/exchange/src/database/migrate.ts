/**
 * Migrates the exchange's database, records its mode (development or production), and grants rights to the role that
 * serves requests.
 */
import {
  applyMigrations,
  readMigrations as readFrom,
  type SchemaState,
  schemaState as stateOf,
} from '@measurement-exchange/server';
import pg from 'pg';
import { fillDescriptorTypes } from './descriptorTypes.ts';
import { takeOver } from './transactionIds.ts';

const DIRECTORY = new URL('./migrations/', import.meta.url);
/**
 * The key of the advisory lock that `migrate` takes: an arbitrary number that must be the same in all versions of the
 * exchange.
 */
const ADVISORY_LOCK = 8_270_117;

export const readMigrations = () => readFrom(DIRECTORY);

export async function schemaState(client: pg.ClientBase): Promise<SchemaState> {
  return stateOf(client, readMigrations());
}

interface MigrateOptions {
  /** Must connect as the owner of the schema. */
  connection: pg.ClientConfig;
  /** The role that serves requests. `migrate` grants rights to this role. Undefined if the owner serves requests. */
  appRole?: string | undefined;
  mode: Mode;
}

type Mode = 'development' | 'production';

const NOT_FOR_DEVELOPMENT =
  'The database is not one of development mode, which would add demo parties whose keys are no secret: it was migrated ' +
  'by mex migrate, or has parties already. Use another one (DATABASE_URL), or another data directory (MEX_DATA_DIR).';

interface Migrated {
  applied: string[];
  /**
   * True if the logs contained transaction IDs of another PostgreSQL server, for example after a restore. In that case,
   * `migrate` has emptied the change log, because new changes could otherwise sort before old ones.
   */
  restored: boolean;
}

/** Applies new migrations, and grants rights. Several processes may call this function at the same time. */
export async function migrate(options: MigrateOptions): Promise<Migrated> {
  const client = new pg.Client({ ...options.connection, application_name: 'mex migrate' });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCK]);
    if (options.mode === 'development' && (await modeOf(client)) === 'production') {
      throw new Error(NOT_FOR_DEVELOPMENT);
    }
    const applied = await applyMigrations(client, readMigrations(), foreignMessage);
    const restored = await takeOver(client);
    await client.query(MARK, [options.mode]);
    await fillDescriptorTypes(client);
    if (options.appRole !== undefined) await grant(client, options.appRole);
    return { applied, restored };
  } finally {
    await client.end();
  }
}

export const RESTORED =
  'The database was restored from a dump of another server: its log of changes starts anew, and parties that follow it ' +
  'are told to list.';

/** Records the mode of a database that has no recorded mode yet. A recorded mode never changes. */
const MARK = "INSERT INTO settings (key, value) VALUES ('mode', $1) ON CONFLICT (key) DO NOTHING";

/**
 * Returns the mode of a database, or undefined for a new database. A database with parties but no recorded mode is in
 * production, because development mode records the mode before it adds parties.
 */
async function modeOf(client: pg.ClientBase): Promise<Mode | undefined> {
  const exists = await client.query("SELECT to_regclass('settings') IS NOT NULL AS yes");
  if (!exists.rows[0].yes) return undefined;
  const { rows } = await client.query(`
    SELECT (SELECT value FROM settings WHERE key = 'mode') AS mark, EXISTS (SELECT FROM parties) AS used`);
  return rows[0].mark ?? (rows[0].used ? 'production' : undefined);
}

export function foreignMessage(foreign: string[]): string {
  return (
    `The database has migrations that differ from this version's: ${foreign.join(', ')}. ` +
    'It was migrated by another version; run that version, or restore a backup made before it.'
  );
}

/** Grants the role that serves requests all rights that it needs. The role cannot change log entries or the schema. */
async function grant(client: pg.ClientBase, role: string): Promise<void> {
  const app = pg.escapeIdentifier(role);
  await client.query(`
    GRANT USAGE ON SCHEMA public TO ${app};
    GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${app};
    GRANT INSERT, UPDATE ON parties, certificates, measurements, requisitions,
      event_group_metadata_descriptors, event_groups, populations, computations, reports, last_seen TO ${app};
    GRANT INSERT ON settings, transitions, audit_entries, changes TO ${app};
    GRANT INSERT, DELETE ON principals, api_keys, trusted_roots, descriptor_types, population_model_lines,
      computation_log, report_measurements TO ${app};
    GRANT INSERT, UPDATE, DELETE ON revocation_cascades, webhooks, webhook_deliveries,
      webhook_redeliveries TO ${app};
    GRANT INSERT, UPDATE, DELETE ON replicas TO ${app};
    GRANT UPDATE ON doctor_run TO ${app};
    GRANT EXECUTE ON FUNCTION remove_measurements(text[], timestamptz) TO ${app};
    GRANT EXECUTE ON FUNCTION remove_changes(text, timestamptz, integer) TO ${app};
    GRANT EXECUTE ON FUNCTION expect_rows(bigint, bigint) TO ${app};`);
}
