/**
 * Applies numbered SQL files in order, each in its own transaction. A file must never change once it has been applied.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type pg from 'pg';

export interface Migration {
  version: number;
  name: string;
  sha256: string;
  text: string;
}

export function readMigrations(directory: URL): Migration[] {
  return readdirSync(directory)
    .filter((file) => /^\d{4}_\w+\.sql$/.test(file))
    .sort()
    .map((file) => {
      const text = readFileSync(new URL(file, directory), 'utf8');
      const sha256 = createHash('sha256').update(text).digest('hex');
      return { version: Number(file.slice(0, 4)), name: file.slice(0, -4), sha256, text };
    });
}

export interface SchemaState {
  applied: Migration['name'][];
  pending: Migration[];
  /** Applied migrations that are unknown to this version, or whose contents differ in this version. */
  foreign: string[];
}

export async function schemaState(client: pg.ClientBase, known: Migration[]): Promise<SchemaState> {
  const exists = await client.query("SELECT to_regclass('schema_migrations') IS NOT NULL AS yes");
  const rows: { name: string; sha256: string }[] = exists.rows[0].yes
    ? (await client.query('SELECT name, sha256 FROM schema_migrations ORDER BY version')).rows
    : [];
  return {
    applied: rows.map((row) => row.name),
    pending: known.filter((m) => !rows.some((row) => row.name === m.name)),
    foreign: rows
      .filter((row) => !known.some((m) => m.name === row.name && m.sha256 === row.sha256))
      .map((row) => row.name),
  };
}

/**
 * Applies pending migrations and returns their names. If a different version has migrated the database, throws an Error
 * with the message that `foreignMessage` returns.
 */
export async function applyMigrations(
  client: pg.ClientBase,
  known: Migration[],
  foreignMessage: (foreign: string[]) => string,
): Promise<string[]> {
  await client.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
    version integer PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`);
  const { pending, foreign } = await schemaState(client, known);
  if (foreign.length > 0) throw new Error(foreignMessage(foreign));
  for (const { version, name, sha256, text } of pending) {
    await client.query('BEGIN');
    await client.query(text);
    await client.query('INSERT INTO schema_migrations (version, name, sha256) VALUES ($1, $2, $3)', [
      version,
      name,
      sha256,
    ]);
    await client.query('COMMIT');
  }
  return pending.map((m) => m.name);
}
