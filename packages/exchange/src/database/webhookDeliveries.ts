/**
 * Stores webhook deliveries, which are created in the order of the change log. The latest completed deliveries are
 * kept, so that the webhook's owner can read them.
 */
import type { DeliveryState, Timestamp } from '@measurement-exchange/contract';
import { cell, object } from '@measurement-exchange/server/database';
import type { WebhookEvent } from '../domain/webhook.ts';
import type { PlacedChange, Position } from './changes.ts';
import { type Queryable, sql, type Transaction } from './db.ts';
import { pageRow, pageText } from './page.ts';
import { inTransaction, read } from './run.ts';
import { arrayParameters, arrays, column, group, names, only, optional, select, table } from './table.ts';
import { MAX_PENDING } from './webhooks.ts';

export interface DeliveryRecord {
  webhook: string;
  event: WebhookEvent;
  state: DeliveryState;
  attempts: number;
  firstFailureTime: Timestamp | undefined;
  lastAttemptTime: Timestamp | undefined;
  nextAttemptTime: Timestamp | undefined;
  status: number | undefined;
  error: string | undefined;
  milliseconds: number | undefined;
  createTime: Timestamp;
}

export interface NumberedDelivery {
  delivery: DeliveryRecord;
  /** The delivery's number. The exchange sends deliveries in the order of their numbers. */
  number: bigint;
}

const deliveries = table<DeliveryRecord>('webhook_deliveries', {
  webhook: column('webhook'),
  event: group({
    name: column('resource'),
    kind: column('kind'),
    state: optional('resource_state'),
    version: column('version', 'int'),
    time: column('time', 'time'),
  }),
  state: column('state'),
  attempts: column('attempts', 'int'),
  firstFailureTime: optional('first_failure_time', 'time'),
  lastAttemptTime: optional('last_attempt_time', 'time'),
  nextAttemptTime: optional('next_attempt_time', 'time'),
  status: optional('status', 'int'),
  error: optional('error'),
  milliseconds: optional('milliseconds', 'int'),
  createTime: column('create_time', 'time'),
});
const COLUMNS = `${select(deliveries)}, number`;
const numbered = object<NumberedDelivery>({ delivery: deliveries.reader(), number: cell('number') });

/** The number of deliveries kept per webhook. The oldest are removed first. Pending deliveries are always kept. */
const KEPT = 1_000;
/**
 * The maximum number of old deliveries that one run of SETTLE removes. Old deliveries cannot accumulate, because one
 * run completes fewer deliveries than this.
 */
const MAX_PRUNED = 1_000;

const EVENT = only(deliveries, 'event');
const ENQUEUE = sql(
  'webhook_delivery_enqueue',
  `WITH moved AS (
     UPDATE webhooks SET cursor_xid = $5, cursor_seq = $6, skipped_time = coalesce($7, skipped_time)
      WHERE id = $1 AND lease_owner = $2 AND (cursor_xid, cursor_seq) = ($3::xid8, $4::bigint) RETURNING id
   ), taken AS (
     INSERT INTO webhook_deliveries (webhook, xid, seq, ${names(EVENT)}, create_time, next_attempt_time)
     SELECT moved.id, c.xid, c.seq, ${names(EVENT, 'c')}, $8,
            -- A delivery is not sent before pending deliveries of the same resource.
            coalesce((SELECT max(d.next_attempt_time) FROM webhook_deliveries d
                       WHERE d.webhook = $1 AND d.state = 'PENDING' AND d.resource = c.resource), $8)
       FROM moved, unnest($9::xid8[], $10::bigint[], ${arrayParameters(EVENT, 11)})
            WITH ORDINALITY AS c(xid, seq, ${names(EVENT)}, n) ORDER BY c.n
   )
   SELECT id FROM moved`,
);

/**
 * Creates deliveries and moves the webhook's cursor. If the lease was lost, or if the cursor is no longer at `from`,
 * stores nothing and returns false.
 */
export async function enqueueDeliveries(
  db: Queryable,
  lease: { webhook: string; owner: string; now: Timestamp },
  from: Position,
  to: Position,
  taken: PlacedChange[],
  skippedTime: Timestamp | undefined,
): Promise<boolean> {
  const rows = await db.query(ENQUEUE, [
    ...[lease.webhook, lease.owner, from.xid, from.seq, to.xid, to.seq, skippedTime, lease.now],
    ...[taken.map(({ at }) => at.xid), taken.map(({ at }) => at.seq)],
    ...arrays(
      EVENT,
      taken.map(({ change }) => ({ event: change })),
    ),
  ]);
  return rows.length === 1;
}

export const pendingDeliveries = read.all(
  (webhook: string) => [webhook],
  'webhook_delivery_pending',
  `SELECT ${COLUMNS} FROM webhook_deliveries WHERE webhook = $1 AND state = 'PENDING'
    ORDER BY number LIMIT ${2 * MAX_PENDING}`,
  numbered,
);

const TRACEPARENTS = sql<{ id: string; traceparent: string }>(
  'webhook_delivery_traceparents',
  `SELECT id, traceparent FROM measurements WHERE id = ANY ($1) AND traceparent IS NOT NULL
    UNION ALL
   SELECT r.id, m.traceparent FROM requisitions r JOIN measurements m ON m.id = r.measurement
    WHERE r.id = ANY ($1) AND m.traceparent IS NOT NULL`,
);

export async function traceparentsOf(
  db: Queryable,
  names: string[],
): Promise<(name: string) => string | undefined> {
  const idOf = (name: string) => name.slice(name.lastIndexOf('/') + 1);
  const rows = await db.query(TRACEPARENTS, [names.map(idOf)]);
  const byId = new Map(rows.map(({ id, traceparent }) => [id, traceparent]));
  return (name) => byId.get(idOf(name));
}

const TEST = sql(
  'webhook_delivery_test',
  `INSERT INTO webhook_deliveries (webhook, resource, kind, version, time, create_time, next_attempt_time)
   VALUES ($1, $2, 'TEST', 1, $3, $3, $3) RETURNING ${COLUMNS}`,
  numbered,
);

export async function insertTest(
  tx: Transaction,
  webhook: string,
  name: string,
  now: Timestamp,
): Promise<DeliveryRecord> {
  return (await tx.query(TEST, [webhook, name, now]))[0]!.delivery;
}

/**
 * Copies a delivery, so that the exchange sends it again. If deliveries for the same resource are pending, the copy
 * becomes due when the last of them becomes due. Otherwise, the copy is due immediately.
 */
export const insertAgain = inTransaction.last(
  (webhook: string, number: bigint, now: Timestamp) => [webhook, number, now],
  'webhook_delivery_again',
  `WITH again AS (
     INSERT INTO webhook_deliveries (webhook, xid, seq, ${names(EVENT)}, create_time, next_attempt_time)
     SELECT d.webhook, d.xid, d.seq, ${names(EVENT, 'd')}, $3,
            coalesce((SELECT max(p.next_attempt_time) FROM webhook_deliveries p
                       WHERE p.webhook = $1 AND p.state = 'PENDING' AND p.resource = d.resource), $3)
       FROM webhook_deliveries d WHERE d.webhook = $1 AND d.number = $2
   )
   UPDATE webhooks SET failures = 0, next_attempt_time = $3 WHERE id = $1`,
);

export const countTests = inTransaction.number(
  (webhook: string) => [webhook],
  'webhook_delivery_count_tests',
  `SELECT count(*)::int AS n FROM webhook_deliveries WHERE webhook = $1 AND state = 'PENDING' AND kind = 'TEST'`,
);

export interface Settled {
  number: bigint;
  resource: string;
  state: DeliveryState;
  time: Timestamp;
  nextAttemptTime: Timestamp | undefined;
  status: number | undefined;
  error: string | undefined;
  milliseconds: number;
}

/**
 * Stores the outcomes of attempts and removes the oldest completed deliveries. After a failed attempt, later deliveries
 * for the same resource wait until the failed delivery is tried again.
 */
const SETTLE = sql(
  'webhook_delivery_settle',
  `WITH leased AS (
     SELECT id FROM webhooks WHERE id = $1 AND lease_owner = $2 FOR NO KEY UPDATE
   ), outcome AS MATERIALIZED (
     SELECT * FROM unnest($3::bigint[], $4::text[], $5::text[], $6::timestamptz[], $7::timestamptz[], $8::int[],
       $9::text[], $10::int[]) AS o(number, resource, state, time, next, status, error, milliseconds)
   ), behind AS (
     UPDATE webhook_deliveries d SET next_attempt_time = o.next FROM leased, outcome o
      WHERE d.webhook = leased.id AND d.state = 'PENDING' AND d.resource = o.resource AND o.state = 'PENDING'
        AND d.number > o.number
   ), old AS MATERIALIZED (
     SELECT number FROM webhook_deliveries WHERE webhook = $1 AND state <> 'PENDING' AND number <=
       (SELECT number FROM webhook_deliveries WHERE webhook = $1 ORDER BY number DESC OFFSET ${KEPT} LIMIT 1)
      ORDER BY number LIMIT ${MAX_PRUNED}
   ), pruned AS (
     DELETE FROM webhook_deliveries d USING leased
      WHERE d.webhook = leased.id AND d.number = ANY (ARRAY(SELECT number FROM old))
   )
   UPDATE webhook_deliveries d
      SET state = o.state, attempts = d.attempts + 1, last_attempt_time = o.time, next_attempt_time = o.next,
          status = o.status, error = o.error, milliseconds = o.milliseconds,
          first_failure_time = CASE WHEN o.state = 'DELIVERED' THEN d.first_failure_time
                                    ELSE coalesce(d.first_failure_time, o.time) END
     FROM leased, outcome o WHERE d.webhook = leased.id AND d.number = o.number AND d.state = 'PENDING'`,
);
const RELEASE = sql(
  'webhook_release',
  `UPDATE webhooks SET lease_owner = NULL, lease_expiry = NULL, failures = $3, next_attempt_time = $4,
     state = CASE WHEN $5::text IS NULL THEN state ELSE 'PAUSED' END, pause_reason = coalesce($5, pause_reason)
    WHERE id = $1 AND lease_owner = $2`,
);

export interface Release {
  failures: number;
  nextAttemptTime: Timestamp;
  pauseReason: string | undefined;
}

/**
 * Stores the outcomes of delivery attempts and ends the webhook's lease. If the lease was lost, nothing is stored, and
 * the replica that now has the lease sends the deliveries again.
 */
export function settle(
  tx: Transaction,
  lease: { webhook: string; owner: string },
  settled: Settled[],
  { failures, nextAttemptTime, pauseReason }: Release,
): void {
  tx.last(SETTLE, [
    ...[lease.webhook, lease.owner, settled.map((s) => s.number), settled.map((s) => s.resource)],
    ...[settled.map((s) => s.state), settled.map((s) => s.time), settled.map((s) => s.nextAttemptTime)],
    ...[settled.map((s) => s.status), settled.map((s) => s.error), settled.map((s) => s.milliseconds)],
  ]);
  tx.last(RELEASE, [lease.webhook, lease.owner, failures, nextAttemptTime, pauseReason]);
}

export const keptDeliveries = read.all(
  (webhook: string) => [webhook],
  'webhook_delivery_kept',
  `SELECT ${COLUMNS} FROM webhook_deliveries WHERE webhook = $1 ORDER BY number DESC LIMIT ${KEPT + 2 * MAX_PENDING}`,
  numbered,
);

export const listDeliveries = read.page(
  (webhook: string, before: bigint | undefined, limit: number) => [webhook, before, limit],
  'webhook_delivery_list',
  pageText(
    `SELECT ${COLUMNS} FROM webhook_deliveries WHERE webhook = $1 AND number < coalesce($2::bigint, 9223372036854775807)`,
    'number DESC',
  ),
  pageRow(numbered),
);
