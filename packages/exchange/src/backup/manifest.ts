/** Writes and reads manifest.json, which lists a backup's time, versions, and files with their hashes. */
import { readFile, writeFile } from 'node:fs/promises';
import { join, normalize, sep } from 'node:path';
import type { CopiedFile } from './files.ts';

export interface BackupFacts {
  time: string;
  /** For example `18.4`. */
  postgresVersion: string;
  exchangeVersion: string;
  /** The last applied migration, for example `0002_parties_and_event_groups`. */
  schemaVersion: string;
  fileCount: number;
  bytes: number;
}

export interface Manifest extends BackupFacts {
  format: 1;
  /** Includes empty directories, because PostgreSQL needs them. */
  directories: string[];
  files: CopiedFile[];
}

const NAME = 'manifest.json';

export function manifestOf(
  facts: Omit<BackupFacts, 'fileCount' | 'bytes'>,
  directories: string[],
  files: CopiedFile[],
): Manifest {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return { format: 1, ...facts, fileCount: files.length, bytes, directories, files: sorted };
}

export function factsOf(manifest: Manifest): BackupFacts {
  const { format: _format, directories: _directories, files: _files, ...facts } = manifest;
  return facts;
}

/** Writes the manifest. Call this last, because a backup without a manifest counts as incomplete. */
export async function writeManifest(directory: string, manifest: Manifest): Promise<void> {
  const text = `${JSON.stringify(manifest, null, 1)}\n`;
  await writeFile(join(directory, NAME), text, { mode: 0o600, flag: 'wx', flush: true });
}

export async function readManifest(directory: string): Promise<Manifest> {
  const text = await readFile(join(directory, NAME), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      `${directory} has no readable ${NAME} (${error.code}): it is not a backup that mex backup finished.`,
    );
  });
  let manifest: Manifest;
  try {
    manifest = JSON.parse(text);
  } catch {
    throw damaged(directory, `${NAME} is not JSON`);
  }
  if (manifest.format !== 1) {
    throw new Error(
      `${directory} has a format this version does not know: restore it with the version that made it.`,
    );
  }
  const { files, directories, fileCount } = manifest;
  if (!Array.isArray(files) || !Array.isArray(directories) || files.length !== fileCount) {
    throw damaged(directory, `${NAME} does not list the files it counts`);
  }
  const strange = [...files.map((file) => file.path), ...directories].find((path) => !isInside(path));
  if (strange !== undefined) throw damaged(directory, `${NAME} lists ${strange}, which is outside of it`);
  return manifest;
}

/** Returns whether the path stays inside the backup. A damaged or malicious manifest could contain other paths. */
function isInside(path: unknown): boolean {
  return (
    typeof path === 'string' &&
    path !== '' &&
    normalize(path) === path &&
    !/^(\/|\.\.?(\/|$))/.test(path) &&
    sep === '/'
  );
}

export function damaged(directory: string, how: string): Error {
  return new Error(`The backup ${directory} is damaged: ${how}. Nothing was restored: use another backup.`);
}
