import pg from 'pg';

export async function ensureRole(connection: pg.ClientConfig, role: string): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    const found = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [role]);
    if (found.rows.length === 0) await client.query(`CREATE ROLE ${pg.escapeIdentifier(role)} LOGIN`);
  } finally {
    await client.end();
  }
}
