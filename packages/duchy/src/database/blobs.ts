/**
 * Stores uploads and messages in the database as encrypted chunks. Only one chunk is in memory at a time. Nothing is
 * written to the local disk.
 */
import { createHash, randomUUID } from 'node:crypto';
import { blobSecrets } from './computations.ts';
import { type Queryable, type SealingQueryable, sql } from './db.ts';

/** The size of a chunk before encryption. */
export const CHUNK_BYTES = 256 * 1024;

export interface Blob {
  id: string;
  length: number;
  sha256: Uint8Array;
}

const INSERT = sql('insertBlob', 'INSERT INTO blobs (id, computation) VALUES ($1, $2)');
const INSERT_CHUNK = sql('insertChunk', 'INSERT INTO blob_chunks (blob, ordinal, data) VALUES ($1, $2, $3)');
const MEASURE = sql('measureBlob', 'UPDATE blobs SET length = $2, sha256 = $3 WHERE id = $1 RETURNING id');
const DISCARD = sql('discardBlob', 'DELETE FROM blobs WHERE id = $1 AND complete_time IS NULL');

/** Writes a blob, and deletes it again if an error occurs. The blob is incomplete until `completeBlob` is called. */
export async function writeBlob(
  db: SealingQueryable,
  computation: string,
  source: AsyncIterable<Uint8Array>,
): Promise<Blob> {
  const id = randomUUID();
  const secrets = await blobSecrets(db, computation, 'write');
  await db.query(INSERT, [id, computation]);
  try {
    const hash = createHash('sha256');
    let [ordinal, length] = [0, 0];
    for await (const chunk of inChunks(source)) {
      hash.update(chunk);
      length += chunk.length;
      await db.query(INSERT_CHUNK, [id, ordinal, secrets.seal(placeOf(id, ordinal), chunk)]);
      ordinal++;
    }
    const sha256 = hash.digest();
    const measured = await db.query(MEASURE, [id, length, sha256]);
    if (measured.length !== 1) throw new Error(`Blob ${id} was removed while it was written.`);
    return { id, length, sha256 };
  } catch (error) {
    // If deleting fails, the retention job removes the incomplete blob later.
    await discardBlob(db, id).catch(() => {});
    throw error;
  }
}

export async function discardBlob(db: Queryable, id: string): Promise<void> {
  await db.query(DISCARD, [id]);
}

/**
 * Splits the data into equal chunks, except for a shorter last chunk. All chunks share one buffer, so the caller must
 * use each chunk before it requests the next.
 */
async function* inChunks(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let filled = 0;
  for await (const piece of source) {
    for (let at = 0; at < piece.length; ) {
      const taken = piece.subarray(at, at + CHUNK_BYTES - filled);
      buffer.set(taken, filled);
      filled += taken.length;
      at += taken.length;
      if (filled < CHUNK_BYTES) continue;
      yield buffer;
      filled = 0;
    }
  }
  if (filled > 0) yield buffer.subarray(0, filled);
}

const COMPLETE = sql(
  'completeBlob',
  `UPDATE blobs SET complete_time = now()
   WHERE id = $1 AND computation = $2 AND complete_time IS NULL AND length IS NOT NULL RETURNING id`,
);

/** Marks the blob as complete. Call this in the transaction that inserts the row for the upload or message. */
export async function completeBlob(tx: Queryable, id: string, computation: string): Promise<void> {
  const rows = await tx.query(COMPLETE, [id, computation]);
  if (rows.length !== 1)
    throw new Error(`Blob ${id} of ${computation} cannot be completed: it is missing or complete.`);
}

const READ = sql(
  'readBlob',
  'SELECT length, computation FROM blobs WHERE id = $1 AND complete_time IS NOT NULL AND removed_time IS NULL',
);
const READ_CHUNK = sql('readChunk', 'SELECT data FROM blob_chunks WHERE blob = $1 AND ordinal = $2');

export async function* readBlob(db: SealingQueryable, id: string): AsyncGenerator<Uint8Array> {
  const [blob] = await db.query(READ, [id]);
  if (blob === undefined) throw new Error(`Blob ${id} is incomplete or removed.`);
  const secrets = await blobSecrets(db, blob.computation, 'read');
  let read = 0;
  for (let ordinal = 0; read < blob.length; ordinal++) {
    const [row] = await db.query(READ_CHUNK, [id, ordinal]);
    if (row === undefined) throw new Error(`Blob ${id} lacks chunk ${ordinal}.`);
    const chunk = secrets.open(placeOf(id, ordinal), row.data);
    read += chunk.length;
    yield chunk;
  }
}

function placeOf(id: string, ordinal: number): string {
  return `blobs/${id}/${ordinal}`;
}
