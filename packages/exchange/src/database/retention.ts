/** Finds and removes expired measurements, and reads the tombstones of removed measurements. */
import {
  type MeasurementState,
  PENDING_MEASUREMENT_STATES,
  type RequisitionState,
  TERMINAL_MEASUREMENT_STATES,
  type Timestamp,
} from '@measurement-exchange/contract';
import { cell } from '@measurement-exchange/server/database';
import { literals, type Queryable, sql } from './db.ts';
import { inTransaction, read } from './run.ts';
import { column, type Fields, select, table } from './table.ts';

type Kind = 'pending' | 'terminal';

/** Pending and terminal measurements have separate partial indexes, so a query for one kind never reads the other. */
export const expiredMeasurements = {
  pending: expired('pending', PENDING_MEASUREMENT_STATES, 'create_time'),
  terminal: expired('terminal', TERMINAL_MEASUREMENT_STATES, 'update_time'),
};
function expired(kind: Kind, states: readonly string[], since: 'create_time' | 'update_time') {
  const rows = `FROM measurements WHERE state IN (${literals(states)}) AND ${since} < $1::timestamptz`;
  return {
    find: read.all(
      (cutoff: Timestamp, limit: number) => [cutoff, limit],
      `retention_find_${kind}`,
      `SELECT id ${rows} ORDER BY ${since}, id LIMIT $2::int`,
      cell<string>('id'),
    ),
    count: read.number(
      (cutoff: Timestamp) => [cutoff],
      `retention_count_${kind}`,
      `SELECT count(*)::int AS n ${rows}`,
    ),
  };
}

/**
 * Replaces terminal measurements with tombstones, except those that another replica has locked. Returns the number of
 * measurements removed.
 */
export const removeMeasurements = inTransaction.number(
  (ids: string[], now: Timestamp) => [ids, now],
  'retention_remove',
  'SELECT remove_measurements($1, $2) AS n',
);

/** The fields that the exchange keeps of a removed measurement or requisition. */
interface Tombstone<State> {
  id: string;
  state: State;
  createTime: Timestamp;
  updateTime: Timestamp;
  deleteTime: Timestamp;
}
function tombstoneFields<State extends string>(): Fields<Tombstone<State>> {
  return {
    id: column('id'),
    state: column('state'),
    createTime: column('create_time', 'time'),
    updateTime: column('update_time', 'time'),
    deleteTime: column('delete_time', 'time'),
  };
}

export interface MeasurementTombstone extends Tombstone<MeasurementState> {
  consumer: string;
}

const measurementTombstones = table<MeasurementTombstone>('measurement_tombstones', {
  ...tombstoneFields<MeasurementState>(),
  consumer: column('consumer'),
});

export const getTombstones = read.byKey(
  ({ id }: MeasurementTombstone) => id,
  (consumer: string, ids: string[]) => [consumer, ids],
  'tombstone_get_measurements',
  `SELECT ${select(measurementTombstones)} FROM measurement_tombstones WHERE consumer = $1 AND id = ANY($2)`,
  measurementTombstones.reader(),
);

/** Joins a requisition's tombstone with its measurement's tombstone, which has the consumer and the time of removal. */
const JOINED = `(SELECT r.*, m.consumer, m.delete_time FROM requisition_tombstones r
  JOIN measurement_tombstones m ON m.id = r.measurement)`;
const requisitionTombstones = table<Tombstone<RequisitionState>>('requisition_tombstones', tombstoneFields());
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
): Promise<Tombstone<RequisitionState> | undefined> {
  const rows =
    'provider' in by
      ? await db.query(OF_PROVIDER, [by.provider, id])
      : await db.query(OF_MEASUREMENT, [by.consumer, by.measurement, id]);
  return rows[0];
}
