/** Stores which uploads duchies have rejected, until the upload succeeds or its requisition is closed. */
import type { DatabaseSync } from 'node:sqlite';
import { timestampOf } from '@measurement-exchange/contract';

/** The rejections of one upload. */
export interface Rejection {
  /** The number of counted rejections. See multiParty/rejections.ts for when a rejection is counted. */
  count: number;
  /** The time of the last counted rejection, in milliseconds since 1970. */
  countedAt: number;
  /** The error message from the duchy's most recent rejection. */
  why: string;
}

/** An upload that its duchy has rejected. */
export interface RejectedUpload extends Rejection {
  requisition: string;
  /** The duchy's resource name, `duchies/…`. */
  duchy: string;
}

/** The part of a ledger that stores the rejections of uploads. */
export interface Rejections {
  get(requisition: string): Rejection | undefined;
  set(requisition: string, rejection: Rejection): void;
  remove(requisition: string): void;
  keepOnly(requisitions: Iterable<string>): void;
}

export function rejectionsIn(database: DatabaseSync): Rejections {
  const select = database.prepare(
    'SELECT count, counted_at AS countedAt, why FROM rejections WHERE requisition = ?',
  );
  const put = database.prepare('INSERT OR REPLACE INTO rejections VALUES (?, ?, ?, ?)');
  const remove = database.prepare('DELETE FROM rejections WHERE requisition = ?');
  return {
    get(requisition) {
      const row = select.get(requisition) as unknown as Stored<Rejection> | undefined;
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

export function rejectedUploads(database: DatabaseSync): RejectedUpload[] {
  const select = database.prepare(
    `SELECT requisition, duchy, count, counted_at AS countedAt, why
     FROM rejections JOIN responses USING (requisition) ORDER BY counted_at, requisition`,
  );
  return (select.all() as unknown as Stored<RejectedUpload>[]).map(rejectionOf);
}

type Stored<R extends Rejection> = Omit<R, 'countedAt'> & { countedAt: string };

function rejectionOf<R extends Rejection>(row: Stored<R>): R {
  return { ...row, countedAt: Date.parse(row.countedAt) } as unknown as R;
}
