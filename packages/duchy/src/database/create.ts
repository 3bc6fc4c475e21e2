import pg from 'pg';

/** Creates a database of this name on the server, unless it exists. */
export async function ensureDatabase(server: pg.ClientConfig, database: string): Promise<void> {
  const client = new pg.Client(server);
  await client.connect();
  try {
    const found = await client.query('SELECT FROM pg_database WHERE datname = $1', [database]);
    if (found.rows.length === 0) {
      await client.query(
        `CREATE DATABASE ${pg.escapeIdentifier(database)} TEMPLATE template0 ENCODING 'UTF8'`,
      );
    }
  } catch (error) {
    // Another process of the duchy was first.
    const { code } = error as { code?: string };
    if (code !== '42P04' && code !== '23505') throw error;
  } finally {
    await client.end();
  }
}
