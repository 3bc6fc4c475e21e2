/** Measurements whose time is over, and what is left of those that were removed. */
import {
  type MeasurementState,
  PENDING_MEASUREMENT_STATES,
  type RequisitionState,
  TERMINAL_MEASUREMENT_STATES,
  type Timestamp,
} from '@measurement-exchange/contract';
import { literals, type Queryable, sql } from './db.ts';
import { inTransaction } from './run.ts';
import { column, select, table } from './table.ts';

type Kind = 'pending' | 'terminal';

/** Both are partial indexes: the scan touches only rows of the kind, oldest first. */
const EXPIRED: Record<Kind, string> = {
  pending: `FROM measurements WHERE state IN (${literals(PENDING_MEASUREMENT_STATES)})
    AND create_time < $1::timestamptz`,
  terminal: `FROM measurements WHERE state IN (${literals(TERMINAL_MEASUREMENT_STATES)})
    AND update_time < $1::timestamptz`,
};
const FIND = {
  pending: sql<{ id: string }>(
    'retention_find_pending',
    `SELECT id ${EXPIRED.pending} ORDER BY create_time, id LIMIT $2::int`,
  ),
  terminal: sql<{ id: string }>(
    'retention_find_terminal',
    `SELECT id ${EXPIRED.terminal} ORDER BY update_time, id LIMIT $2::int`,
  ),
};
const COUNT = {
  pending: sql<{ n: number }>('retention_count_pending', `SELECT count(*)::int AS n ${EXPIRED.pending}`),
  terminal: sql<{ n: number }>('retention_count_terminal', `SELECT count(*)::int AS n ${EXPIRED.terminal}`),
};

export async function findExpired(
  db: Queryable,
  kind: Kind,
  cutoff: Timestamp,
  limit: number,
): Promise<string[]> {
  return (await db.query(FIND[kind], [cutoff, limit])).map((row) => row.id);
}

export async function countExpired(db: Queryable, kind: Kind, cutoff: Timestamp): Promise<number> {
  return (await db.query(COUNT[kind], [cutoff]))[0]!.n;
}

/** Returns how many were removed: those that another replica holds are skipped. */
export const removeMeasurements = inTransaction.number(
  (ids: string[], now: Timestamp) => [ids, now],
  'retention_remove',
  'SELECT remove_measurements($1, $2) AS n',
);

/** The remains of a removed measurement. */
export interface MeasurementTombstone {
  id: string;
  consumer: string;
  state: MeasurementState;
  createTime: Timestamp;
  updateTime: Timestamp;
  deleteTime: Timestamp;
}

const measurementTombstones = table<MeasurementTombstone>('measurement_tombstones', {
  id: column('id'),
  consumer: column('consumer'),
  state: column('state'),
  createTime: column('create_time', 'time'),
  updateTime: column('update_time', 'time'),
  deleteTime: column('delete_time', 'time'),
});
const TOMBSTONES = sql(
  'tombstone_get_measurements',
  `SELECT ${select(measurementTombstones)} FROM measurement_tombstones WHERE consumer = $1 AND id = ANY($2)`,
  measurementTombstones.reader(),
);

export async function getTombstones(
  db: Queryable,
  consumer: string,
  ids: string[],
): Promise<Map<string, MeasurementTombstone>> {
  const rows = await db.query(TOMBSTONES, [consumer, ids]);
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

/** The time of removal is stored with the measurement. */
const JOINED = `(SELECT r.*, m.consumer, m.delete_time FROM requisition_tombstones r
  JOIN measurement_tombstones m ON m.id = r.measurement)`;
const requisitionTombstones = table<RequisitionTombstone>('requisition_tombstones', {
  id: column('id'),
  provider: column('provider'),
  state: column('state'),
  createTime: column('create_time', 'time'),
  updateTime: column('update_time', 'time'),
  deleteTime: column('delete_time', 'time'),
});
const OF_PROVIDER = sql(
  'tombstone_get_requisition',
  `SELECT ${select(requisitionTombstones, 'r')} FROM ${JOINED} r WHERE r.provider = $1 AND r.id = $2`,
  requisitionTombstones.reader(),
);
const OF_MEASUREMENT = sql(
  'tombstone_get_requisition_of_measurement',
  `SELECT ${select(requisitionTombstones, 'r')} FROM ${JOINED} r
    WHERE r.consumer = $1 AND r.measurement = $2 AND r.id = $3`,
  requisitionTombstones.reader(),
);

export async function getRequisitionTombstone(
  db: Queryable,
  by: { provider: string } | { consumer: string; measurement: string },
  id: string,
): Promise<RequisitionTombstone | undefined> {
  const rows =
    'provider' in by
      ? await db.query(OF_PROVIDER, [by.provider, id])
      : await db.query(OF_MEASUREMENT, [by.consumer, by.measurement, id]);
  return rows[0];
}
