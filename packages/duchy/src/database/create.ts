import pg from 'pg';

export async function ensureDatabase(server: pg.ClientConfig, database: string): Promise<void> {
  const client = new pg.Client(server);
  await client.connect();
  try {
    const found = await client.query('SELECT FROM pg_database WHERE datname = $1', [database]);
    if (found.rows.length === 0) {
      const name = pg.escapeIdentifier(database);
      await client.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
    }
  } catch (error) {
    // These codes mean that another process created the database first.
    const { code } = error as { code?: string };
    if (code !== '42P04' && code !== '23505') throw error;
  } finally {
    await client.end();
  }
}
