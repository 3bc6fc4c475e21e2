/**
 * chDB, which is ClickHouse as a library. Because of its size (543 MB), it is not part of the normal installation. When
 * it is first needed, npm installs it into a cache, with the versions and checksums of the lockfile in `chdb/`.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** The parts of the library's API that the tests use. */
export interface Chdb {
  Session: new (
    folder: string,
  ) => {
    query(sql: string, format?: string): string;
    queryStream(sql: string, options: { format: string }): ChdbQueryStream;
  };
}
export interface ChdbQueryStream extends AsyncIterable<{ raw(): Uint8Array }> {
  cancel(): void;
}

const MANIFEST = fileURLToPath(new URL('chdb/', import.meta.url));
const CACHE = fileURLToPath(new URL('../../../../node_modules/.cache/chdb/', import.meta.url));
const POLL_MS = 200;

/** The package with the library for this platform. */
const LIBRARY = `node_modules/@chdb/lib-${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`;

/** Installs chDB unless it is already installed. Returns its folder, or the reason that it cannot be installed. */
export async function installedChdb(): Promise<{ folder: string } | { reason: string }> {
  const lockfile = await readFile(join(MANIFEST, 'package-lock.json'), 'utf8');
  if (!(LIBRARY in JSON.parse(lockfile).packages))
    return { reason: `npm has no chDB for ${process.platform} on ${process.arch}` };
  const folder = join(CACHE, createHash('sha256').update(lockfile).digest('hex').slice(0, 16));
  if (existsSync(folder)) return { folder };
  await mkdir(CACHE, { recursive: true });
  const isInstalled = await alone(() => existsSync(folder) || install(folder));
  return isInstalled
    ? { folder }
    : { reason: 'npm could not install chDB: see that it reaches its registry' };
}

export const loadChdb = (folder: string): Chdb => createRequire(join(folder, 'package.json'))('chdb');

/** Installs into another folder and then renames it, so that a folder with the final name is always complete. */
async function install(folder: string): Promise<boolean> {
  console.warn('Installing chDB (543 MB) for the tests of ClickHouse, once.');
  const partial = `${folder}.partial`;
  await rm(partial, { recursive: true, force: true });
  await cp(MANIFEST, partial, { recursive: true });
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=1'];
  const npm = spawn('npm', args, { cwd: partial, stdio: 'ignore' });
  await once(npm, 'close').catch(() => {});
  // The library is an optional dependency, so npm succeeds even if the download of the library failed.
  if (!existsSync(join(partial, LIBRARY))) return false;
  await rename(partial, folder);
  return true;
}

/** Runs `work` in only one process at a time. If that process is killed, its lock is released. */
async function alone<T>(work: () => T | Promise<T>): Promise<T> {
  const lock = new DatabaseSync(join(CACHE, 'lock'));
  try {
    while (!isAcquired(lock)) await sleep(POLL_MS);
    return await work();
  } finally {
    lock.close();
  }
}

function isAcquired(lock: DatabaseSync): boolean {
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return true;
  } catch {
    return false;
  }
}
