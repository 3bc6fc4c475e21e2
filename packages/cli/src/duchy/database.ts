/** The database of a duchy: the one that its settings name, or one of its own in the embedded server of the data directory. */
import type { DuchyConfig, StartOptions } from '@measurement-exchange/duchy';
import { acquireDataDirLock, DataDirInUse, startPostgres } from '@measurement-exchange/exchange/postgres';
import { loadDuchy } from './settings.ts';

/** `opened` closes what was opened here. A server that another process keeps running is used, and left running. */
export async function openDuchyDatabase(
  { databaseUrl, dataDir }: DuchyConfig,
  duchy: string,
  opened: AsyncDisposableStack,
): Promise<StartOptions['connection']> {
  if (databaseUrl !== undefined) return { connectionString: databaseUrl };
  const lock = await acquireDataDirLock(dataDir).catch((error: unknown) => {
    if (error instanceof DataDirInUse) return undefined;
    throw error;
  });
  if (lock !== undefined) opened.defer(() => lock.release());
  const server = await startPostgres({ dataDir });
  if (lock !== undefined) opened.defer(() => server.stop());
  const { ensureDatabase } = await loadDuchy();
  return ensureDatabase(server.connection, `duchy_${duchy.split('/').at(-1)}`);
}
