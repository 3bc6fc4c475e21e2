/** Finds the database server: the one at `databaseUrl`, or else the embedded server in the data directory. */
import type pg from 'pg';
import { type Logger, pino } from 'pino';
import type { Config } from './config/config.ts';
import { ensureRole } from './database/roles.ts';
import { acquireDataDirLock, DataDirInUse, startPostgres } from './postgres/index.ts';

export interface Connections {
  owner: pg.ClientConfig;
  app: pg.ClientConfig;
  appRole: string | undefined;
  embedded: boolean;
}

/**
 * The database role that serves requests. This role does not own the schema, so it cannot rewrite the logs (the tables
 * `transitions` and `audit_entries`).
 */
const EMBEDDED_APP_ROLE = 'mex_app';

/**
 * Returns the connection settings of the database. If `databaseUrl` is not set, locks the data directory and starts the
 * embedded server. In that case, disposing `opened` stops the server and unlocks the data directory.
 */
export async function openDatabase(
  config: Config,
  log: Logger,
  opened: AsyncDisposableStack,
): Promise<Connections> {
  if (config.databaseUrl !== undefined) {
    requireUrl('DATABASE_URL', config.databaseUrl);
    requireUrl('DATABASE_OWNER_URL', config.databaseOwnerUrl ?? config.databaseUrl);
    return {
      owner: { connectionString: config.databaseOwnerUrl ?? config.databaseUrl },
      app: { connectionString: config.databaseUrl },
      appRole: config.databaseAppRole,
      embedded: false,
    };
  }
  const lock = await acquireDataDirLock(config.dataDir, { url: `http://${config.host}:${config.port}` });
  opened.defer(() => lock.release());
  const server = await startPostgres({
    dataDir: config.dataDir,
    log: (message) => log.info({ component: 'postgres' }, message),
  });
  opened.defer(() => server.stop());
  await ensureRole(server.connection, EMBEDDED_APP_ROLE);
  return embeddedConnections(server.connection);
}

/** Throws if `text` is not a PostgreSQL URL. The error omits the text, because a URL may contain a password. */
function requireUrl(setting: string, text: string): void {
  if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text)) return;
  throw new Error(`${setting} must be a URL such as postgres://user:password@host:5432/database.`);
}

export async function withDatabase<T>(
  config: Config,
  work: (connections: Connections) => Promise<T>,
): Promise<T> {
  await using opened = new AsyncDisposableStack();
  try {
    return await work(await openDatabase(config, pino({ level: 'warn' }), opened));
  } catch (error) {
    if (!(error instanceof DataDirInUse)) throw error;
    // Another process has locked the data directory. Connect to its PostgreSQL server, and leave that server running.
    const { connection } = await startPostgres({ dataDir: config.dataDir });
    return await work(embeddedConnections(connection));
  }
}

function embeddedConnections(owner: pg.ClientConfig): Connections {
  return {
    owner,
    app: { ...owner, user: EMBEDDED_APP_ROLE },
    appRole: EMBEDDED_APP_ROLE,
    embedded: true,
  };
}
