import { applyMigrations, readMigrations } from '@measurement-exchange/server';
import pg from 'pg';

const DIRECTORY = new URL('./migrations/', import.meta.url);
/** The key of the advisory lock for migrations: an arbitrary number that is the same in every duchy process. */
const ADVISORY_LOCK = 8_270_118;

/** Applies pending migrations and returns their names. Several processes may call this at the same time. */
export async function migrate(connection: pg.ClientConfig): Promise<string[]> {
  const client = new pg.Client({ ...connection, application_name: 'mex duchy migrate' });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCK]);
    return await applyMigrations(client, readMigrations(DIRECTORY), foreignMessage);
  } finally {
    await client.end();
  }
}

function foreignMessage(foreign: string[]): string {
  return (
    `The database has migrations that differ from this version's: ${foreign.join(', ')}. ` +
    'It was migrated by another version, or belongs to another program; give the duchy a database of its own.'
  );
}
