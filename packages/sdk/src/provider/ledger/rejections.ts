/** Uploads that their duchies reject, until the requisition is closed: how often, and what the duchy said last. */
import type { DatabaseSync } from 'node:sqlite';
import { timestampOf } from '@measurement-exchange/contract';

/** A stored upload that its duchy rejects. */
export interface Rejection {
  /** How often, one for each wait; what is sent sooner does not count. */
  count: number;
  /** When the last of them was counted, in milliseconds since 1970. */
  countedAt: number;
  /** The last message of the duchy. */
  why: string;
}

/** A rejection, and what it is of. */
export interface RejectedUpload extends Rejection {
  requisition: string;
  /** `duchies/…` */
  duchy: string;
}

/** The rejections of uploads in a ledger. */
export interface Rejections {
  get(requisition: string): Rejection | undefined;
  set(requisition: string, rejection: Rejection): void;
  remove(requisition: string): void;
  /** Removes those of requisitions that are not among these. */
  keepOnly(requisitions: Iterable<string>): void;
}

export function rejectionsIn(database: DatabaseSync): Rejections {
  const select = database.prepare('SELECT count, counted_at, why FROM rejections WHERE requisition = ?');
  const put = database.prepare('INSERT OR REPLACE INTO rejections VALUES (?, ?, ?, ?)');
  const remove = database.prepare('DELETE FROM rejections WHERE requisition = ?');
  return {
    get(requisition) {
      const row = select.get(requisition) as unknown as Row | undefined;
      return row && rejectionOf(row);
    },
    set: (requisition, { count, countedAt, why }) =>
      void put.run(requisition, count, timestampOf(countedAt), why),
    remove: (requisition) => void remove.run(requisition),
    keepOnly(requisitions) {
      const kept = new Set(requisitions);
      for (const { requisition } of rejectedUploads(database)) {
        if (!kept.has(requisition)) remove.run(requisition);
      }
    },
  };
}

/** In the order in which they were counted last. */
export function rejectedUploads(database: DatabaseSync): RejectedUpload[] {
  const rows = database
    .prepare('SELECT * FROM rejections JOIN responses USING (requisition) ORDER BY counted_at, requisition')
    .all() as unknown as (Row & Pick<RejectedUpload, 'requisition' | 'duchy'>)[];
  return rows.map((row) => ({ requisition: row.requisition, duchy: row.duchy, ...rejectionOf(row) }));
}

interface Row {
  count: number;
  counted_at: string;
  why: string;
}

function rejectionOf({ count, counted_at, why }: Row): Rejection {
  return { count, countedAt: Date.parse(counted_at), why };
}
