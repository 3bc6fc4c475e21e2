/** Removes data that is no longer needed. Each statement is atomic, so the process can be stopped at any time. */
import { type Queryable, sql } from './db.ts';

const INCOMPLETE = sql(
  'removeIncompleteBlobs',
  `DELETE FROM blobs WHERE id IN (
     SELECT id FROM blobs WHERE complete_time IS NULL
       AND create_time < now() - interval '1 hour' - $1 * interval '1 second' LIMIT 20)
   RETURNING id`,
);
const BLOBS_OF_ENDED = sql('removeBlobsOfEnded', removing("c.update_time <= now() - $1 * interval '1 hour'"));
const BLOBS_OF = sql('removeBlobsOf', removing('c.id = $1'));
const KEYS = sql(
  'removeBlobKeys',
  `UPDATE computations SET blob_key = NULL WHERE id IN (
     SELECT id FROM computations WHERE outcome IS NOT NULL AND blob_key IS NOT NULL
       AND update_time <= now() - $1 * interval '1 hour' LIMIT 100)
   RETURNING id`,
);

/**
 * Returns a statement that removes up to five blobs. The computations of these blobs have ended and meet `condition`.
 * The limit is low, because blobs can be large.
 */
function removing(condition: string): string {
  return `WITH removed AS (
     UPDATE blobs SET removed_time = now() WHERE id IN (
       SELECT b.id FROM blobs b JOIN computations c ON c.id = b.computation
       WHERE b.removed_time IS NULL AND b.complete_time IS NOT NULL AND c.outcome IS NOT NULL
         AND ${condition} LIMIT 5)
     RETURNING id),
   chunks AS (DELETE FROM blob_chunks USING removed WHERE blob = removed.id)
   SELECT id FROM removed`;
}

/**
 * Removes incomplete blobs that have been incomplete for an hour longer than an upload may take (`uploadSeconds`). Also
 * removes the blobs and blob keys of computations that ended at least `keepHours` ago. Returns the number of blobs
 * removed.
 */
export async function removeBlobs(db: Queryable, keepHours: number, uploadSeconds: number): Promise<number> {
  const incomplete = await repeatedly(db, INCOMPLETE, [uploadSeconds]);
  await repeatedly(db, KEYS, [keepHours]);
  return incomplete + (await repeatedly(db, BLOBS_OF_ENDED, [keepHours]));
}

export async function removeBlobsOf(db: Queryable, computation: string): Promise<void> {
  await repeatedly(db, BLOBS_OF, [computation]);
}

// Skips computations that still have blobs, because `removeBlobs` must first remove these blobs, a few at a time.
const ENDED = sql(
  'removeEnded',
  `WITH ended AS (
     SELECT id FROM computations c
     WHERE outcome IS NOT NULL AND update_time <= now() - $1 * interval '1 day'
       AND NOT EXISTS (SELECT FROM blobs b WHERE b.computation = c.id AND b.removed_time IS NULL)
     ORDER BY update_time LIMIT 100 FOR UPDATE SKIP LOCKED),
   remembered AS (INSERT INTO removed_computations (id) SELECT id FROM ended),
   of_uploads AS (DELETE FROM uploads t USING ended WHERE t.computation = ended.id),
   of_messages AS (DELETE FROM messages t USING ended WHERE t.computation = ended.id),
   of_blobs AS (DELETE FROM blobs t USING ended WHERE t.computation = ended.id),
   of_requisitions AS (DELETE FROM requisitions t USING ended WHERE t.computation = ended.id)
   DELETE FROM computations t USING ended WHERE t.id = ended.id RETURNING t.id`,
);

/**
 * Removes computations that ended at least `keepDays` ago. Keeps their IDs, so that no computation is created twice.
 */
export async function removeComputations(db: Queryable, keepDays: number): Promise<number> {
  return repeatedly(db, ENDED, [keepDays]);
}

async function repeatedly(db: Queryable, statement: Parameters<Queryable['query']>[0], values: unknown[]) {
  for (let removed = 0; ; ) {
    const { length } = await db.query(statement, values);
    if (length === 0) return removed;
    removed += length;
  }
}
