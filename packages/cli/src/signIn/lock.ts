/** A lock between processes, so that two commands do not use one refresh token at the same time. */
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 50;
const SQLITE_BUSY = 5;

/**
 * Runs the work while this process has the lock. The lock is an exclusive transaction on an empty SQLite database, so
 * the operating system releases it when the process ends, even after `kill -9`.
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await createPrivate(path);
  const lock = new DatabaseSync(path);
  try {
    while (!acquired(lock)) await sleep(POLL_MS);
    return await work();
  } finally {
    lock.close();
  }
}

/** Creates the file unless it exists. An existing file is not opened, because closing it would release SQLite's locks. */
async function createPrivate(path: string): Promise<void> {
  try {
    await (await open(path, 'wx', 0o600)).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function acquired(lock: DatabaseSync): boolean {
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    return false;
  }
}
