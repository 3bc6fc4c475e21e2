/**
 * Opens a duchy's database. If the settings contain no database URL, the duchy uses its own database on the embedded
 * PostgreSQL server of the data directory. A demo duchy's database is on the same server as the exchange's database.
 */
import type { DuchyConfig, StartOptions } from '@measurement-exchange/duchy';
import { loadConfig } from '@measurement-exchange/exchange/config';
import { acquireDataDirLock, DataDirInUse, startPostgres } from '@measurement-exchange/exchange/postgres';
import { type DuchyOptions, loadDuchy } from './settings.ts';

/**
 * Returns the settings for connecting to the duchy's database. If this function starts a server, the server stops when
 * `opened` is disposed.
 */
export async function openDuchyDatabase(
  { databaseUrl, dataDir }: DuchyConfig,
  { duchy, as }: DuchyOptions & { duchy: string },
  opened: AsyncDisposableStack,
): Promise<StartOptions['connection']> {
  if (databaseUrl !== undefined) return { connectionString: databaseUrl };
  const exchangeUrl = as && loadConfig(process.env, { mode: 'development' }).databaseUrl;
  if (exchangeUrl !== undefined) return { connectionString: await ensureDemoDatabase(exchangeUrl, duchy) };
  const { ensureDatabase } = await loadDuchy();
  const name = nameOf(duchy);
  const lock = await acquireDataDirLock(dataDir).catch((error: unknown) => {
    if (error instanceof DataDirInUse) return undefined;
    throw error;
  });
  if (lock !== undefined) opened.defer(() => lock.release());
  const server = await startPostgres({ dataDir });
  if (lock !== undefined) opened.defer(() => server.stop());
  await ensureDatabase(server.connection, name);
  return { ...server.connection, database: name };
}

export async function ensureDemoDatabase(exchangeUrl: string, duchy: string): Promise<string> {
  const url = new URL(exchangeUrl);
  // Include the name of the exchange's database, because several exchanges may share the server. If the result is too
  // long for PostgreSQL, keep its end, which identifies the duchy.
  const name = `${decodeURIComponent(url.pathname.slice(1))}_${nameOf(duchy)}`.slice(-63);
  const { ensureDatabase } = await loadDuchy();
  await ensureDatabase({ connectionString: exchangeUrl }, name).catch((cause: Error & { code?: string }) => {
    if (cause.code !== INSUFFICIENT_PRIVILEGE) throw cause;
    throw new NoDemoDatabase(name, url.username, cause);
  });
  url.pathname = `/${encodeURIComponent(name)}`;
  return url.href;
}

const INSUFFICIENT_PRIVILEGE = '42501';

export class NoDemoDatabase extends Error {
  constructor(name: string, role: string, cause: Error) {
    super(
      `Each demo duchy needs a database of its own, and the role ${role} of DATABASE_URL may not create ${name}: ` +
        `ALTER ROLE ${role} CREATEDB, or leave the duchies out with MEX_DUCHIES=off.`,
      { cause },
    );
    this.name = 'NoDemoDatabase';
  }
}

function nameOf(duchy: string): string {
  return `duchy_${duchy.split('/').at(-1)}`;
}
