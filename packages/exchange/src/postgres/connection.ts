import pg from 'pg';

/** Connection settings for `pg`. `host` is the directory of a Unix socket. */
export type Connection = { host: string; port: number; user: string; database: string };

export type ServerFacts = { version: string; pid: number };

export function connectionUrl({ host, port, user, database }: Connection): string {
  return `postgres://${user}@${encodeURIComponent(host)}:${port}/${database}`;
}

/**
 * Connects to the database, and creates it if needed. Returns `silent` if no server is listening, or `busy` if the
 * server is starting, recovering, or stopping.
 */
export async function openDatabase(connection: Connection): Promise<ServerFacts | 'silent' | 'busy'> {
  try {
    try {
      return await facts(connection);
    } catch (error) {
      if (codeOf(error) !== '3D000') throw error; // On the first start, the database does not exist yet.
      await query({ ...connection, database: 'postgres' }, `CREATE DATABASE ${connection.database}`);
      return await facts(connection);
    }
  } catch (error) {
    if (codeOf(error) === '57P03') return 'busy';
    if (isConnectionLost(error)) return 'silent';
    throw error;
  }
}

async function facts(connection: Connection): Promise<ServerFacts> {
  const sql =
    "SELECT current_setting('server_version') AS version, pg_read_file('postmaster.pid') AS pid_file";
  const [row] = await query(connection, sql);
  return { version: row.version, pid: Number.parseInt(row.pid_file, 10) };
}

async function query(connection: Connection, sql: string) {
  // PGSSLMODE may request TLS, which does not work over a Unix socket.
  const client = new pg.Client({ ...connection, ssl: false, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {}); // Ignore the event, because the running query also rejects.
  try {
    await client.connect();
    return (await client.query(sql)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined) return ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(code);
  // Errors that pg itself creates have no code, so match their messages.
  return /^(Connection terminated|timeout expired)/.test((error as Error).message);
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string }).code;
}
