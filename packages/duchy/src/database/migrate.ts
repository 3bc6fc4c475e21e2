/** Numbered SQL files, applied in order, each in a transaction of its own; what was applied never changes. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';

const DIRECTORY = new URL('./migrations/', import.meta.url);
/** Any number will do, as long as every duchy takes the same one. */
const ADVISORY_LOCK = 8_270_118;

interface Migration {
  version: number;
  name: string;
  sha256: string;
  text: string;
}

function readMigrations(): Migration[] {
  return readdirSync(DIRECTORY)
    .filter((file) => /^\d{4}_\w+\.sql$/.test(file))
    .sort()
    .map((file) => {
      const text = readFileSync(new URL(file, DIRECTORY), 'utf8');
      const sha256 = createHash('sha256').update(text).digest('hex');
      return { version: Number(file.slice(0, 4)), name: file.slice(0, -4), sha256, text };
    });
}

/** Applies what is pending and returns its names. Safe when several processes start at once. */
export async function migrate(connection: pg.ClientConfig): Promise<string[]> {
  const client = new pg.Client({ ...connection, application_name: 'mex duchy migrate' });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCK]);
    await client.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
      version integer PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`);
    const { rows } = await client.query<{ name: string; sha256: string }>(
      'SELECT name, sha256 FROM schema_migrations',
    );
    const known = readMigrations();
    requireKnown(rows, known);
    const pending = known.filter((m) => !rows.some((row) => row.name === m.name));
    for (const migration of pending) await apply(client, migration);
    return pending.map((m) => m.name);
  } finally {
    await client.end();
  }
}

async function apply(client: pg.Client, { version, name, sha256, text }: Migration): Promise<void> {
  await client.query('BEGIN');
  await client.query(text);
  await client.query('INSERT INTO schema_migrations (version, name, sha256) VALUES ($1, $2, $3)', [
    version,
    name,
    sha256,
  ]);
  await client.query('COMMIT');
}

function requireKnown(applied: { name: string; sha256: string }[], known: Migration[]): void {
  const foreign = applied.filter((row) => !known.some((m) => m.name === row.name && m.sha256 === row.sha256));
  if (foreign.length === 0) return;
  throw new Error(
    `The database has migrations that differ from this version's: ${foreign.map((row) => row.name).join(', ')}. ` +
      'It was migrated by another version, or is no database of a duchy; give the duchy a database of its own.',
  );
}
