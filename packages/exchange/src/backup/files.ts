/** Copies files, computes their hashes, and flushes them to disk. */
import { createHash } from 'node:crypto';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const CHUNK_BYTES = 64 * 1024;

export type OnProgress = (done: number, total: number) => void;

export interface CopiedFile {
  path: string;
  bytes: number;
  sha256: string;
}

/** Copies a file so that only the owner can read the copy. Throws if `to` exists. */
export async function copyFile(
  from: string,
  to: string,
  onBytes: (bytes: number) => void = () => {},
): Promise<Omit<CopiedFile, 'path'>> {
  const hash = createHash('sha256');
  let bytes = 0;
  await using source = await open(from);
  await using copy = await open(to, 'wx', 0o600);
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (;;) {
    const { bytesRead } = await source.read(buffer);
    if (bytesRead === 0) break;
    const chunk = buffer.subarray(0, bytesRead);
    hash.update(chunk);
    await copy.writeFile(chunk);
    bytes += bytesRead;
    onBytes(bytesRead);
  }
  return { bytes, sha256: hash.digest('hex') };
}

export async function writeCopy(base: string, path: string, contents: Uint8Array): Promise<CopiedFile> {
  await writeFile(join(base, path), contents, { flag: 'wx', mode: 0o600 });
  return { path, bytes: contents.length, sha256: createHash('sha256').update(contents).digest('hex') };
}

export async function makeDirectories(base: string, directories: string[]): Promise<void> {
  for (const directory of directories) await mkdir(join(base, directory), { recursive: true, mode: 0o700 });
}

/**
 * Flushes copied files to disk. Flushing all files at the end is several times faster than flushing each file after it
 * is copied.
 */
export async function sync(
  base: string,
  { files, directories }: { files: CopiedFile[]; directories: string[] },
) {
  await forEachFile(files, ({ path }) => syncPath(join(base, path), 'r+'));
  for (const directory of [...directories, '.']) await syncPath(join(base, directory));
}

export async function syncPath(path: string, flags: 'r' | 'r+' = 'r'): Promise<void> {
  const handle = await open(path, flags);
  await handle.sync().finally(() => handle.close());
}

/** Processes a few files at a time, so that reading overlaps with hashing. Stops and throws after the first error. */
export async function forEachFile<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  let failure: unknown;
  const workers = Array.from({ length: 8 }, async () => {
    for (const item of queue) {
      if (failure !== undefined) return;
      await work(item).catch((error) => {
        failure ??= error;
      });
    }
  });
  await Promise.all(workers);
  if (failure !== undefined) throw failure;
}
