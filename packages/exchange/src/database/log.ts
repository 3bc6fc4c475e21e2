/** The two append-only logs: transitions of measurements, and every other mutation. */
import type { Finding, Timestamp } from '@measurement-exchange/contract';
import { type Queryable, sql, type Transaction } from './db.ts';
import { hasMore, type Page, pageText } from './page.ts';

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

export interface AuditRecord {
  time: Timestamp;
  principal: string;
  operation: string;
  name: string;
  requestId: string;
  xid: string;
  seq: string;
}

function auditStatement(name: string, condition: string) {
  const rows = `SELECT time, principal, operation, name, request_id, xid, seq FROM audit_entries
    WHERE ${condition} AND (xid, seq) > ($1::xid8, $2::bigint) AND xid < pg_snapshot_xmin(pg_current_snapshot())`;
  return sql(name, pageText(rows, 'xid, seq'));
}
const AUDIT_ALL = auditStatement('audit_list', 'true');
const AUDIT_OF_NAME = auditStatement('audit_list_of_name', 'name = $4');

export async function listAudit(
  db: Queryable,
  name: string | undefined,
  after: { xid: string; seq: string },
  limit: number,
): Promise<Page<AuditRecord>> {
  const page = [after.xid, after.seq, limit];
  const rows =
    name === undefined ? await db.query(AUDIT_ALL, page) : await db.query(AUDIT_OF_NAME, [...page, name]);
  return {
    items: rows.map((row) => ({ ...row, requestId: row.request_id, seq: String(row.seq) }) as AuditRecord),
    more: hasMore(rows),
  };
}
