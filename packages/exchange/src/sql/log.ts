/** The two append-only logs: transitions of measurements, and every other mutation. */
import type { Finding, Timestamp } from '@measurement-exchange/contract';
import { type Queryable, sql, type Transaction } from './db.ts';

export interface TransitionRow {
  /** '' for the measurement itself. */
  requisition: string;
  from_state: string | null;
  to_state: string;
  time: Timestamp;
  actor: string;
  cause: string;
  request_id: string;
  findings: Finding[] | null;
}

const COLUMNS = 't.requisition, t.from_state, t.to_state, t.time, t.actor, t.cause, t.request_id, t.findings';

const OF_MEASUREMENT = sql(
  'transitions_of_measurement',
  `SELECT ${COLUMNS} FROM measurements m JOIN transitions t ON t.measurement = m.id
    WHERE m.consumer = $1 AND m.id = $2 ORDER BY t.seq`,
);
const OF_REQUISITION = sql(
  'transitions_of_requisition',
  `SELECT ${COLUMNS} FROM requisitions r
     JOIN transitions t ON t.measurement = r.measurement AND t.requisition = r.id
    WHERE r.provider = $1 AND r.id = $2 ORDER BY t.version`,
);

/** Empty when there is no such measurement: every one has at least its creation. */
export function transitionsOfMeasurement(
  db: Queryable,
  consumer: string,
  id: string,
): Promise<TransitionRow[]> {
  return db.query(OF_MEASUREMENT, [consumer, id]);
}

export function transitionsOfRequisition(
  db: Queryable,
  provider: string,
  id: string,
): Promise<TransitionRow[]> {
  return db.query(OF_REQUISITION, [provider, id]);
}

const AUDIT = sql(
  'audit_insert',
  `INSERT INTO audit_entries (time, principal, operation, name, version, request_id) VALUES ($1, $2, $3, $4, $5, $6)`,
);

export function audit(
  tx: Transaction,
  entry: {
    time: Timestamp;
    principal: string;
    operation: string;
    name: string;
    version: number;
    requestId: string;
  },
): void {
  tx.last(AUDIT, [entry.time, entry.principal, entry.operation, entry.name, entry.version, entry.requestId]);
}
