/**
 * The database of a duchy: the one that its settings name, or one of its own in the embedded server of the data directory.
 * That of a demo duchy is beside the one of the exchange.
 */
import type { DuchyConfig, StartOptions } from '@measurement-exchange/duchy';
import { loadConfig } from '@measurement-exchange/exchange/config';
import { acquireDataDirLock, DataDirInUse, startPostgres } from '@measurement-exchange/exchange/postgres';
import { type DuchyOptions, loadDuchy } from './settings.ts';

/** `opened` closes what was opened here. A server that another process keeps running is used, and left running. */
export async function openDuchyDatabase(
  { databaseUrl, dataDir }: DuchyConfig,
  { duchy, as }: DuchyOptions & { duchy: string },
  opened: AsyncDisposableStack,
): Promise<StartOptions['connection']> {
  if (databaseUrl !== undefined) return { connectionString: databaseUrl };
  const { ensureDatabase } = await loadDuchy();
  const name = `duchy_${duchy.split('/').at(-1)}`;
  const exchangeUrl = as && loadConfig(process.env, { mode: 'development' }).databaseUrl;
  if (exchangeUrl !== undefined) {
    await ensureDatabase({ connectionString: exchangeUrl }, name);
    const url = new URL(exchangeUrl);
    url.pathname = `/${name}`;
    return { connectionString: url.href };
  }
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
