/** Lets only one process at a time build the console, because several processes may start at the same time. */
import { readFile, rm, stat, writeFile } from 'node:fs/promises';

/**
 * A lock older than this counts as abandoned, even if a process with the owner's ID is running. The system may have
 * given that ID to another process.
 */
const STALE_MS = 180_000;

/**
 * Tries to take the lock, and returns whether it succeeded. Takes over the lock of a process that has ended, for
 * example by Ctrl-C.
 */
export async function takeLock(file: string): Promise<boolean> {
  if (await isAbandoned(file)) await rm(file, { recursive: true, force: true });
  return writeFile(file, String(process.pid), { flag: 'wx' }).then(
    () => true,
    () => false,
  );
}

async function isAbandoned(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return false;
  const owner = Number(await readFile(file, 'utf8').catch(() => ''));
  // Keep a recent lock that contains no ID yet, because the owner writes the ID a moment after it creates the file.
  return Date.now() - found.mtimeMs > STALE_MS || (owner > 0 && !isRunning(owner));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
