/** Loads the console's files, which come from an optional package. */
import type { ConsoleFiles } from '@measurement-exchange/console/files';
import { note } from '../terminal/output.ts';

/**
 * Returns the console's files. In a clone of the repository, first builds the files if their sources have changed, and
 * announces the build with `tell`. `connectTo` lists the origins that the page may connect to, besides its own.
 */
export async function loadConsole(
  connectTo: readonly string[] = [],
  tell: (message: string) => void = note,
): Promise<ConsoleFiles> {
  const { ensureBuilt } = await import('@measurement-exchange/console/build').catch(missingConsole);
  const { readConsole } = await import('@measurement-exchange/console/files').catch(missingConsole);
  await ensureBuilt(tell);
  return readConsole(connectTo);
}

export function missingConsole(error: NodeJS.ErrnoException): never {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  throw new Error('The console is not installed here: npm install @measurement-exchange/console');
}
