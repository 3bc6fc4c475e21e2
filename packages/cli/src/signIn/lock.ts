/** A lock between processes, so that two commands do not use one refresh token at the same time. */
import { mkdir, open, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The age at which a lock file is removed. Renewing a token takes less time, so the process that created such an old
 * file must have been killed.
 */
const STALE_MS = 45_000;
const POLL_MS = 50;

export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  while (!(await acquired(path))) await sleep(POLL_MS);
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function acquired(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
  if (Date.now() - mtimeMs > STALE_MS) await rm(path, { force: true });
  return false;
}
