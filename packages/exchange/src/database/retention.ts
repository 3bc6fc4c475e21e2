/** Measurements whose time is over, and what is left of those that were removed. */
import type { MeasurementState, RequisitionState, Timestamp } from '@measurement-exchange/contract';
import { type Queryable, sql, type Transaction } from './db.ts';

type Kind = 'pending' | 'terminal';

/** Both are partial indexes: the scan touches only rows of the kind, oldest first. */
const EXPIRED: Record<Kind, string> = {
  pending: `FROM measurements WHERE state IN ('AWAITING_REQUISITION_FULFILLMENT', 'COMPUTING')
    AND create_time < $1::timestamptz`,
  terminal: `FROM measurements WHERE state IN ('SUCCEEDED', 'FAILED', 'CANCELLED') AND update_time < $1::timestamptz`,
};
const FIND = {
  pending: sql(
    'retention_find_pending',
    `SELECT id ${EXPIRED.pending} ORDER BY create_time, id LIMIT $2::int`,
  ),
  terminal: sql(
    'retention_find_terminal',
    `SELECT id ${EXPIRED.terminal} ORDER BY update_time, id LIMIT $2::int`,
  ),
};
const COUNT = {
  pending: sql('retention_count_pending', `SELECT count(*)::int AS n ${EXPIRED.pending}`),
  terminal: sql('retention_count_terminal', `SELECT count(*)::int AS n ${EXPIRED.terminal}`),
};

export async function findExpired(
  db: Queryable,
  kind: Kind,
  cutoff: Timestamp,
  limit: number,
): Promise<string[]> {
  return (await db.query<{ id: string }>(FIND[kind], [cutoff, limit])).map((row) => row.id);
}

export async function countExpired(db: Queryable, kind: Kind, cutoff: Timestamp): Promise<number> {
  return (await db.query<{ n: number }>(COUNT[kind], [cutoff]))[0]!.n;
}

const REMOVE = sql('retention_remove', 'SELECT remove_measurements($1, $2) AS n');

/** Returns how many were removed: those that another replica holds are passed over. */
export async function removeMeasurements(tx: Transaction, ids: string[], now: Timestamp): Promise<number> {
  return (await tx.query<{ n: number }>(REMOVE, [ids, now]))[0]!.n;
}

/** What is left of a removed measurement. */
export interface MeasurementTombstone {
  id: string;
  consumer: string;
  state: MeasurementState;
  createTime: Timestamp;
  updateTime: Timestamp;
  deleteTime: Timestamp;
}

const TOMBSTONES = sql(
  'tombstone_get_measurements',
  `SELECT id, consumer, state, create_time AS "createTime", update_time AS "updateTime", delete_time AS "deleteTime"
     FROM measurement_tombstones WHERE consumer = $1 AND id = ANY($2)`,
);

export async function getTombstones(
  db: Queryable,
  consumer: string,
  ids: string[],
): Promise<Map<string, MeasurementTombstone>> {
  const rows = await db.query<MeasurementTombstone>(TOMBSTONES, [consumer, ids]);
  return new Map(rows.map((row) => [row.id, row]));
}

export interface RequisitionTombstone {
  id: string;
  provider: string;
  state: RequisitionState;
  createTime: Timestamp;
  updateTime: Timestamp;
  deleteTime: Timestamp;
}

const REQUISITION_COLUMNS = `r.id, r.provider, r.state, r.create_time AS "createTime", r.update_time AS "updateTime",
  m.delete_time AS "deleteTime" FROM requisition_tombstones r JOIN measurement_tombstones m ON m.id = r.measurement`;
const OF_PROVIDER = sql(
  'tombstone_get_requisition',
  `SELECT ${REQUISITION_COLUMNS} WHERE r.provider = $1 AND r.id = $2`,
);
const OF_MEASUREMENT = sql(
  'tombstone_get_requisition_of_measurement',
  `SELECT ${REQUISITION_COLUMNS} WHERE m.consumer = $1 AND m.id = $2 AND r.id = $3`,
);

export async function getRequisitionTombstone(
  db: Queryable,
  by: { provider: string } | { consumer: string; measurement: string },
  id: string,
): Promise<RequisitionTombstone | undefined> {
  const rows =
    'provider' in by
      ? await db.query<RequisitionTombstone>(OF_PROVIDER, [by.provider, id])
      : await db.query<RequisitionTombstone>(OF_MEASUREMENT, [by.consumer, by.measurement, id]);
  return rows[0];
}
