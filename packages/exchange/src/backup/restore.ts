/**
 * `mex restore` verifies a backup, copies it into a data directory, recovers the database, and runs the doctor's
 * checks.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { type DoctorFinding, doctor } from '../database/doctor.ts';
import {
  acquireDataDirLock,
  binariesVersion,
  giveCluster,
  startPostgres,
  unfinished,
} from '../postgres/index.ts';
import { CLUSTER, DUCHIES, FILES_BESIDE, requireEmbedded } from './backup.ts';
import { copyFile, forEachFile, makeDirectories, type OnProgress, sync, syncPath } from './files.ts';
import { damaged, factsOf, type Manifest, readManifest } from './manifest.ts';

/**
 * Restores the backup in `directory`. The data directory must not contain a database, DUCHIES, or any of FILES_BESIDE.
 * If the restore fails, all restored files are removed.
 */
export async function restore(config: Config, directory: string, onProgress: OnProgress) {
  requireEmbedded(config);
  const manifest = await readManifest(directory);
  await requireSameMajor(manifest);
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  const home = await realpath(config.dataDir);
  const lock = await acquireDataDirLock(home);
  try {
    requireFree(home);
    await place(manifest, directory, home, onProgress);
    return { ...factsOf(manifest), ailments: await examine(home) };
  } finally {
    await lock.release();
  }
}

/**
 * Starts the server, which makes PostgreSQL replay the WAL up to the end of the backup. Then runs the doctor's checks.
 * If anything fails, removes the restored files.
 */
async function examine(home: string): Promise<DoctorFinding[]> {
  try {
    const server = await startPostgres({ dataDir: home });
    return await doctor({ connection: server.connection }).finally(() => server.stop());
  } catch (error) {
    await clear(home);
    throw error;
  }
}

async function requireSameMajor({ postgresVersion, exchangeVersion }: Manifest): Promise<void> {
  const ours = await binariesVersion();
  if (majorOf(postgresVersion) === majorOf(ours)) return;
  throw new Error(
    `The backup is of PostgreSQL ${postgresVersion}, and this version includes ${ours}, which cannot read it. ` +
      `Restore it with version ${exchangeVersion} of the exchange, then upgrade as docs/operating.md says under Upgrading.`,
  );
}

function majorOf(version: string): string {
  return version.split('.', 1)[0]!;
}

function requireFree(home: string): void {
  const taken = [CLUSTER, DUCHIES, ...FILES_BESIDE].find((name) => existsSync(join(home, name)));
  if (taken === undefined) return;
  throw new Error(
    `${join(home, taken)} is there already, and nothing is overwritten: set MEX_DATA_DIR to another folder, ` +
      'or move the old one away first.',
  );
}

/**
 * Copies the backup to a temporary directory, then renames its files into the data directory. The cluster is renamed
 * last, so that the data directory has a database only if all files were restored.
 */
async function place(
  manifest: Manifest,
  directory: string,
  home: string,
  onProgress: OnProgress,
): Promise<void> {
  const temporary = await mkdtemp(join(home, unfinished));
  try {
    await copyAll(manifest, directory, temporary, onProgress);
    // If the process runs as root, the owner of the data directory becomes the owner of the files.
    const { uid, gid } = await stat(home);
    if (process.geteuid!() === 0) await giveCluster(temporary, { uid, gid });
    for (const name of [DUCHIES, ...FILES_BESIDE]) {
      if (existsSync(join(temporary, name))) await rename(join(temporary, name), join(home, name));
    }
    await rename(join(temporary, CLUSTER), join(home, CLUSTER));
    await syncPath(home);
  } catch (error) {
    await clear(home);
    throw error;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function copyAll(
  manifest: Manifest,
  directory: string,
  into: string,
  onProgress: OnProgress,
): Promise<void> {
  await makeDirectories(into, manifest.directories);
  let done = 0;
  const count = (chunk: number) => {
    done += chunk;
    onProgress(done, manifest.bytes);
  };
  await forEachFile(manifest.files, async ({ path, bytes, sha256 }) => {
    const copy = await copyFile(join(directory, path), join(into, path), count).catch((error) => {
      throw error.code === 'ENOENT' ? damaged(directory, `${path} is missing`) : error;
    });
    if (copy.bytes !== bytes || copy.sha256 !== sha256) {
      throw damaged(directory, `${path} is not what was backed up`);
    }
  });
  await sync(into, manifest);
}

/** Removes the files that a failed restore created. None of these files existed before the restore. */
async function clear(home: string): Promise<void> {
  for (const name of [CLUSTER, DUCHIES, ...FILES_BESIDE])
    await rm(join(home, name), { recursive: true, force: true });
}
