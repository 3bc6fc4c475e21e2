/**
 * Stores the order of a population's virtual person IDs (VIDs) in a file, because sorting many VIDs takes seconds. The
 * order determines each VID's register in a share.
 */
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { VidRange } from '@measurement-exchange/contract';
import { canonicalRanges } from '@measurement-exchange/contract/population';
import { populationFingerprint, VidIndex } from '@measurement-exchange/mpc/shares/vidIndex';
import { VidPositions } from '@measurement-exchange/mpc/shares/vidOrder';

/** The file extension is .ts in the workspace, and .js in the published packages. */
const THREAD = new URL(`./vidOrderThread${extname(import.meta.url)}`, import.meta.url);

/** The maximum number of index files in a folder, one per population. The least recently used files are removed. */
const MAX_KEPT = 8;
/** A temporary file older than this was left by a crash, because no write takes that long. */
const ABANDONED_MS = 3_600_000;

/**
 * Reads the order of a population's VIDs from its index file in the folder. If the file is missing or corrupt, orders
 * the VIDs and writes a new file.
 */
export async function openVidIndex(
  folder: string,
  ranges: readonly VidRange[],
  signal?: AbortSignal,
): Promise<VidIndex> {
  const { path, fingerprint, canonical, size } = placeOf(folder, ranges);
  const kept = await readIndexes(path, fingerprint, size);
  if (kept !== undefined) return new VidIndex(canonical, kept);
  const indexes = await orderInThread(canonical, signal);
  await mkdir(folder, { recursive: true });
  await writeIndexes(path, fingerprint, indexes);
  await removeOld(folder);
  return new VidIndex(canonical, indexes);
}

/** Whether the folder has an index file of the right size. Does not read the file, so the file may be corrupt. */
export async function isOrdered(folder: string, ranges: readonly VidRange[]): Promise<boolean> {
  const { path, size } = placeOf(folder, ranges);
  return stat(path).then(
    (file) => file.size === fileBytes(size),
    () => false,
  );
}

function placeOf(folder: string, ranges: readonly VidRange[]) {
  const fingerprint = populationFingerprint(ranges);
  const path = join(folder, `${Buffer.from(fingerprint).toString('hex')}.vids`);
  const canonical = canonicalRanges(ranges);
  return { path, fingerprint, canonical, size: new VidPositions(canonical).size };
}

/** Removes temporary files left by a crash, and all index files except the `MAX_KEPT` most recently used. */
async function removeOld(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => /\.vids(\.|$)/.test(name));
  const files = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const usedAt = await stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => Date.now(),
      );
      return { path, usedAt, isWhole: name.endsWith('.vids') };
    }),
  );
  const whole = files.filter(({ isWhole }) => isWhole).sort((a, b) => b.usedAt - a.usedAt);
  const abandoned = files.filter(({ isWhole, usedAt }) => !isWhole && Date.now() - usedAt > ABANDONED_MS);
  await Promise.all([...whole.slice(MAX_KEPT), ...abandoned].map(({ path }) => rm(path, { force: true })));
}

/** Orders the VIDs in a thread, so that the event loop is not blocked. An abort terminates the thread. */
async function orderInThread(ranges: VidRange[], signal?: AbortSignal): Promise<Uint32Array<ArrayBuffer>> {
  signal?.throwIfAborted();
  const worker = new Worker(THREAD, { workerData: ranges });
  // Without this listener, an error in the thread after an abort would be an uncaught exception.
  worker.on('error', () => {});
  try {
    const [indexes] = await once(worker, 'message', { signal });
    return indexes;
  } finally {
    await worker.terminate();
  }
}

/**
 * An index file contains this magic number, the population's fingerprint, the SHA-256 of the indexes, and the indexes.
 * The index of a VID is its position in the order, as a uint32. Numbers are in the machine's byte order. A machine with
 * another byte order reads a different magic number, and ignores the file.
 */
const MAGIC = 0x4d455856;
const HEADER_BYTES = 4 + 32 + 32;
const CHUNK = 1 << 20;
const fileBytes = (size: number) => HEADER_BYTES + size * 4;

function headerOf(fingerprint: Uint8Array, indexes: Uint32Array): Uint8Array {
  const digest = createHash('sha256');
  for (const chunk of chunksOf(indexes)) digest.update(chunk);
  const magic = new Uint8Array(Uint32Array.of(MAGIC).buffer);
  return Buffer.concat([magic, fingerprint, digest.digest()]);
}

/** Splits the indexes into chunks, because one call cannot hash or write a very long array. */
function* chunksOf({ buffer, byteOffset, byteLength }: Uint32Array): Generator<Uint8Array> {
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  for (let at = 0; at < byteLength; at += CHUNK) yield bytes.subarray(at, at + CHUNK);
}

/** Writes a temporary file and renames it, so that a crash never leaves a partial file at `path`. */
export async function writeIndexes(
  path: string,
  fingerprint: Uint8Array,
  indexes: Uint32Array,
): Promise<void> {
  const temporary = `${path}.${randomUUID()}`;
  const chunks = [headerOf(fingerprint, indexes), ...chunksOf(indexes)];
  try {
    await writeFile(temporary, chunks, { flag: 'wx', mode: 0o600, flush: true });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Reads an index file. Returns undefined if the file is missing, incomplete, corrupt, or for another population. */
export async function readIndexes(
  path: string,
  fingerprint: Uint8Array,
  size: number,
): Promise<Uint32Array<ArrayBuffer> | undefined> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (file === undefined) return undefined;
  try {
    const { size: length } = await file.stat();
    if (length !== fileBytes(size)) return undefined;
    const bytes = new Uint8Array(length);
    for (let at = 0; at < length; ) {
      const { bytesRead } = await file.read(bytes, at, Math.min(CHUNK, length - at), at);
      if (bytesRead === 0) throw new Error('the file ended early');
      at += bytesRead;
    }
    const indexes = new Uint32Array(bytes.buffer, HEADER_BYTES);
    const header = Buffer.from(bytes.buffer, 0, HEADER_BYTES);
    if (!header.equals(headerOf(fingerprint, indexes))) return undefined;
    await file.utimes(new Date(), new Date());
    return indexes;
  } finally {
    await file.close();
  }
}
