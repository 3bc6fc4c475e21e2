/** The indexes of a population's VIDs, kept in a file: ordering many VIDs takes seconds, so it is done once. */
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { VidRange } from '@measurement-exchange/contract';
import { canonicalRanges } from '@measurement-exchange/contract/population';
import { populationFingerprint, VidIndex } from '@measurement-exchange/mpc/shares/vidIndex';
import { VidPositions } from '@measurement-exchange/mpc/shares/vidOrder';

/** TypeScript in the workspace, JavaScript in the packages. */
const THREAD = new URL(`./vidOrderThread${extname(import.meta.url)}`, import.meta.url);

/** Orders that are kept in a folder: of the populations that were used last. */
const MAX_KEPT = 8;
/** A file that is still being written is younger. */
const ABANDONED_MS = 3_600_000;

/** The index of a population, from its file in the folder. The file is written where it is missing or spoiled. */
export async function openVidIndex(
  folder: string,
  ranges: readonly VidRange[],
  signal?: AbortSignal,
): Promise<VidIndex> {
  const fingerprint = populationFingerprint(ranges);
  const path = join(folder, `${Buffer.from(fingerprint).toString('hex')}.vids`);
  const canonical = canonicalRanges(ranges);
  const { size } = new VidPositions(canonical);
  const kept = await readIndexes(path, fingerprint, size);
  if (kept !== undefined) return new VidIndex(canonical, kept);
  const indexes = await orderInThread(canonical, signal);
  await mkdir(folder, { recursive: true });
  await writeIndexes(path, fingerprint, indexes);
  await removeOld(folder);
  return new VidIndex(canonical, indexes);
}

/** Removes what a crash left half written, and all but the orders that were used last. */
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

/** Off the event loop; an abort ends the thread. */
async function orderInThread(ranges: VidRange[], signal?: AbortSignal): Promise<Uint32Array<ArrayBuffer>> {
  signal?.throwIfAborted();
  const worker = new Worker(THREAD, { workerData: ranges });
  // One that comes after an abort has nobody else who listens.
  worker.on('error', () => {});
  try {
    const [indexes] = await once(worker, 'message', { signal });
    return indexes;
  } finally {
    await worker.terminate();
  }
}

/**
 * A file has a magic number, the fingerprint of the population, the SHA-256 of the rest, and the rest: a uint32 for each VID.
 * All numbers are in the byte order of the machine, and the magic number tells which that was.
 */
const MAGIC = 0x4d455856;
const HEADER_BYTES = 4 + 32 + 32;
const CHUNK = 1 << 20;

/** Under another name first, so that there is never a part of a file under the right one. */
export async function writeIndexes(
  path: string,
  fingerprint: Uint8Array,
  indexes: Uint32Array,
): Promise<void> {
  const temporary = `${path}.${randomUUID()}`;
  const bytes = new Uint8Array(indexes.buffer, indexes.byteOffset, indexes.byteLength);
  const header = new Uint8Array(HEADER_BYTES);
  new Uint32Array(header.buffer, 0, 1)[0] = MAGIC;
  header.set(fingerprint, 4);
  const hash = createHash('sha256');
  const file = await open(temporary, 'wx', 0o600);
  try {
    for (let at = 0; at < bytes.length; at += CHUNK) {
      const chunk = bytes.subarray(at, at + CHUNK);
      hash.update(chunk);
      await writeAll(file, chunk, HEADER_BYTES + at);
    }
    header.set(hash.digest(), 36);
    await writeAll(file, header, 0);
    await file.sync();
    await file.close();
    await rename(temporary, path);
  } catch (error) {
    await file.close().catch(() => {});
    await rm(temporary, { force: true });
    throw error;
  }
}

async function writeAll(
  file: Awaited<ReturnType<typeof open>>,
  bytes: Uint8Array,
  at: number,
): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
  }
}

/** Undefined where there is no file, or one that is not whole or of something else. */
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
    const header = Buffer.alloc(HEADER_BYTES);
    const { size: length } = await file.stat();
    if (length !== HEADER_BYTES + size * 4) return undefined;
    await readAll(file, header, 0);
    if (new Uint32Array(header.buffer, header.byteOffset, 1)[0] !== MAGIC) return undefined;
    if (!header.subarray(4, 36).equals(fingerprint)) return undefined;
    const indexes = new Uint32Array(size);
    const bytes = new Uint8Array(indexes.buffer);
    const hash = createHash('sha256');
    for (let at = 0; at < bytes.length; at += CHUNK) {
      const chunk = bytes.subarray(at, at + CHUNK);
      await readAll(file, chunk, HEADER_BYTES + at);
      hash.update(chunk);
    }
    if (!header.subarray(36).equals(hash.digest())) return undefined;
    await file.utimes(new Date(), new Date());
    return indexes;
  } finally {
    await file.close();
  }
}

async function readAll(file: Awaited<ReturnType<typeof open>>, into: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < into.length; ) {
    const { bytesRead } = await file.read(into, done, into.length - done, at + done);
    if (bytesRead === 0) throw new Error('the file ended early');
    done += bytesRead;
  }
}
