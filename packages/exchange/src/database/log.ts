/**
 * Writes and reads two append-only logs. The transition log records changes to measurements, requisitions, and
 * participants. The audit log records all other changes.
 */
import type { Finding, Timestamp } from '@measurement-exchange/contract';
import { cell, object } from '@measurement-exchange/server/database';
import type { Step } from '../domain/aggregate.ts';
import { sql } from './db.ts';
import { pageRow, pageText } from './page.ts';
import { inTransaction, read } from './run.ts';
import { column, insertText, optional, select, table, values } from './table.ts';

export interface TransitionRecord extends Omit<Step, 'cause'> {
  measurement: string;
  actor: string;
  cause: string;
  requestId: string;
  findings: Finding[] | undefined;
}

export const transitions = table<TransitionRecord>('transitions', {
  measurement: column('measurement'),
  subject: column('requisition'),
  version: column('version', 'int'),
  from: optional('from_state'),
  to: column('to_state'),
  time: column('time', 'time'),
  actor: column('actor'),
  cause: column('cause'),
  requestId: column('request_id'),
  findings: optional('findings', 'json'),
});

/** `place` is the position in the timeline of a measurement or a requisition. */
export interface PlacedTransition {
  transition: TransitionRecord;
  place: bigint;
}
const placedTransition = pageRow(
  object<PlacedTransition>({ transition: transitions.reader(), place: cell('place') }),
);

/**
 * Reads a page of a measurement's transitions. The first page is empty only if the measurement does not exist, because
 * every measurement has a transition.
 */
export const transitionsOfMeasurement = read.page(
  (consumer: string, id: string, after: bigint, limit: number) => [consumer, id, limit, after],
  'transitions_of_measurement',
  pageText(
    `SELECT ${select(transitions, 't')}, t.seq AS place FROM measurements m JOIN transitions t ON t.measurement = m.id
      WHERE m.consumer = $1 AND m.id = $2 AND t.seq > $4::bigint`,
    'place',
  ),
  placedTransition,
);

export const transitionsOfRequisition = read.page(
  (provider: string, id: string, after: bigint, limit: number) => [provider, id, limit, after],
  'transitions_of_requisition',
  pageText(
    `SELECT ${select(transitions, 't')}, t.version::bigint AS place FROM requisitions r
       JOIN transitions t ON t.measurement = r.measurement AND t.requisition = r.id
      WHERE r.provider = $1 AND r.id = $2 AND t.version > $4::bigint`,
    'place',
  ),
  placedTransition,
);

export interface AuditEntry {
  time: Timestamp;
  principal: string;
  operation: string;
  name: string;
  version: number;
  requestId: string;
}

const auditEntries = table<AuditEntry>('audit_entries', {
  time: column('time', 'time'),
  principal: column('principal'),
  operation: column('operation'),
  name: column('name'),
  version: column('version', 'int'),
  requestId: column('request_id'),
});

export const audit = inTransaction.last(
  (entry: AuditEntry) => values(auditEntries.columns, entry),
  'audit_insert',
  insertText(auditEntries),
);

interface PlacedEntry {
  entry: AuditEntry;
  xid: string;
  seq: bigint;
}
const placedEntry = object<PlacedEntry>({ entry: auditEntries.reader(), xid: cell('xid'), seq: cell('seq') });

const AUDIT_ORDERS = {
  oldestFirst: { beyond: '>', order: 'xid, seq' },
  latestFirst: { beyond: '<', order: 'xid DESC, seq DESC' },
};

function auditStatement(
  name: string,
  condition: string,
  { beyond, order }: { beyond: string; order: string },
) {
  const rows = `SELECT ${select(auditEntries)}, xid, seq FROM audit_entries
    WHERE ${condition} AND (xid, seq) ${beyond} ($1::xid8, $2::bigint) AND xid < pg_snapshot_xmin(pg_current_snapshot())`;
  return sql(name, pageText(rows, order), pageRow(placedEntry));
}

function auditList(prefix: string, order: { beyond: string; order: string }) {
  return read.filteredPage(
    (after: { xid: string; seq: string }, limit: number) => [after.xid, after.seq, limit],
    auditStatement(prefix, 'true', order),
    auditStatement(`${prefix}_of_name`, 'name = $4', order),
  );
}

export const listAudit = auditList('audit_list', AUDIT_ORDERS.oldestFirst);
export const listLatestAudit = auditList('audit_list_latest', AUDIT_ORDERS.latestFirst);
