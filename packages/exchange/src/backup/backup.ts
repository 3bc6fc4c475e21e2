/**
 * `mex backup` copies the embedded database and the key files of development mode into a directory. The exchange may be
 * running meanwhile.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { type Config, ConfigError } from '../config/config.ts';
import { withDatabase } from '../connections.ts';
import { hasCluster } from '../postgres/index.ts';
import { copyCluster } from './cluster.ts';
import { type CopiedFile, copyFile, type OnProgress, sync, syncPath } from './files.ts';
import { type BackupFacts, factsOf, manifestOf, writeManifest } from './manifest.ts';

export type { BackupFacts } from './manifest.ts';

/** Files with private keys of the demo parties, the demo root, and the token issuer of development mode. */
export const FILES_BESIDE = ['dev.json', 'dev-root.json', 'dev-issuer.json'];
export const CLUSTER = 'pg';
/** The folder with the keys that open the secrets in the databases of the demo duchies. */
export const DUCHIES = 'duchies';
const DUCHY_KEY = 'secrets.key';

export async function backup(
  config: Config,
  directory: string,
  onProgress: OnProgress,
): Promise<BackupFacts> {
  requireEmbedded(config);
  if (!hasCluster(join(config.dataDir, CLUSTER))) {
    throw new Error(
      `${config.dataDir} has no database: set MEX_DATA_DIR to the data directory of the exchange.`,
    );
  }
  const target = resolve(directory);
  const partial = await makePartial(target, config.dataDir);
  try {
    const facts = await fill(config, partial, onProgress);
    await rename(partial, target);
    await syncPath(dirname(target));
    return facts;
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

export function requireEmbedded(config: Config): void {
  if (config.databaseUrl === undefined) return;
  throw new ConfigError([
    'mex backup and mex restore are for the embedded database, and DATABASE_URL names another server: ' +
      'use its own tools (pg_basebackup with WAL archiving, or pg_dump and pg_restore).',
  ]);
}

async function makePartial(target: string, dataDir: string): Promise<string> {
  if (existsSync(target)) throw new Error(`${target} exists already: choose a new directory for the backup.`);
  const cluster = await realpath(join(dataDir, CLUSTER));
  if (`${target}/`.startsWith(`${cluster}/`)) {
    throw new Error(`${target} is inside the database's own folder: put the backup elsewhere.`);
  }
  const partial = `${target}.partial`;
  await mkdir(partial, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') {
      // Do not create the parent directory, because a mistyped or unmounted path would put the backup in the wrong
      // place.
      throw new Error(
        `${dirname(target)} does not exist: create it, or choose another directory for the backup.`,
      );
    }
    if (error.code !== 'EEXIST') throw error;
    throw new Error(
      `${partial} belongs to a backup that was interrupted, or that still runs: remove it and try again.`,
    );
  });
  return partial;
}

async function fill(config: Config, partial: string, onProgress: OnProgress): Promise<BackupFacts> {
  const time = new Date().toISOString();
  const into = join(partial, CLUSTER);
  await mkdir(into, { mode: 0o700 });
  const { postgresVersion, schemaVersion, ...cluster } = await withDatabase(config, ({ owner }) =>
    copyCluster(owner, into, onProgress),
  );
  const directories = [CLUSTER, ...cluster.directories.map((path) => `${CLUSTER}/${path}`)];
  const files: CopiedFile[] = cluster.files.map((file) => ({ ...file, path: `${CLUSTER}/${file.path}` }));
  for (const path of FILES_BESIDE) {
    const from = join(config.dataDir, path);
    if (existsSync(from)) files.push({ path, ...(await copyFile(from, join(partial, path))) });
  }
  for (const folder of await duchyFolders(config.dataDir)) {
    directories.push(...[DUCHIES, folder].filter((name) => !directories.includes(name)));
    await mkdir(join(partial, folder), { recursive: true, mode: 0o700 });
    const path = `${folder}/${DUCHY_KEY}`;
    files.push({ path, ...(await copyFile(join(config.dataDir, path), join(partial, path))) });
  }
  const facts = { time, postgresVersion, exchangeVersion: manifest.version, schemaVersion };
  const made = manifestOf(facts, directories, files);
  await writeManifest(partial, made);
  await sync(partial, made);
  return factsOf(made);
}

/** Returns the folders of the demo duchies that have a key, relative to the data directory. */
async function duchyFolders(dataDir: string): Promise<string[]> {
  const ids = await readdir(join(dataDir, DUCHIES)).catch(() => []);
  return ids.map((id) => `${DUCHIES}/${id}`).filter((folder) => existsSync(join(dataDir, folder, DUCHY_KEY)));
}
