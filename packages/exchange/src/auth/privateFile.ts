/** Reads and writes files with secrets. Only the owner can read a file, and a write replaces the file atomically. */
import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

export async function writePrivateFile(path: string, text: string): Promise<void> {
  await viaTemporary(path, text, (temporary) => rename(temporary, path));
}

/**
 * Reads a JSON file, or creates it with `make`. If several processes create the file at the same time, all of them use
 * the file of the first process.
 */
export async function readOrMakePrivateJson<T>(path: string, make: () => Promise<T>): Promise<T> {
  let text = await readIfExists(path);
  if (text === undefined) {
    const made = `${JSON.stringify(await make(), null, 2)}\n`;
    await viaTemporary(path, made, (temporary) => link(temporary, path).catch(unless('EEXIST')));
    text = await readFile(path, 'utf8');
  }
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new Error(`${path} is damaged: remove it, and a new one is made.`, { cause });
  }
}

export async function readIfExists(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(unless('ENOENT'));
}

async function viaTemporary(path: string, text: string, place: (temporary: string) => Promise<void>) {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, text, { mode: 0o600, flag: 'wx', flush: true });
    await place(temporary);
  } finally {
    await rm(temporary, { force: true });
  }
}

function unless(code: string) {
  return (error: NodeJS.ErrnoException): undefined => {
    if (error.code !== code) throw error;
  };
}
