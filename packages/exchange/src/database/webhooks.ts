/** Stores the parties' webhooks. Their secrets are encrypted in the database. */
import type { Timestamp } from '@measurement-exchange/contract';
import { cell, object } from '@measurement-exchange/server/database';
import type { WebhookHealth, WebhookRecord } from '../domain/webhook.ts';
import type { Position } from './changes.ts';
import { type Queryable, sql } from './db.ts';
import { type Cursor, pageRow, pageText } from './page.ts';
import { inTransaction, read } from './run.ts';
import { column, insertText, names, only, optional, parameters, select, table, values } from './table.ts';

const webhooks = table<WebhookRecord>('webhooks', {
  party: column('party'),
  id: column('id'),
  url: column('url'),
  description: column('description'),
  kinds: column('kinds', 'texts'),
  state: column('state'),
  pauseReason: optional('pause_reason'),
  skippedTime: optional('skipped_time', 'time'),
  createTime: column('create_time', 'time'),
  updateTime: column('update_time', 'time'),
});
const COLUMNS = select(webhooks);
const webhook = webhooks.reader();
export const insertWebhook = inTransaction.last(
  (record: WebhookRecord, sealedSecret: Uint8Array, { xid, seq }: Position) => [
    ...[...values(webhooks.columns, record), sealedSecret, xid, seq, record.createTime],
  ],
  'webhook_insert',
  insertText(webhooks, ['secret', 'cursor_xid', 'cursor_seq', 'next_attempt_time']),
);

export const countWebhooks = read.number(
  (party: string) => [party],
  'webhook_count',
  'SELECT count(*)::int AS n FROM webhooks WHERE party = $1',
);

export const getWebhook = read.first(
  (party: string, id: string) => [party, id],
  'webhook_get',
  `SELECT ${COLUMNS} FROM webhooks WHERE id = $2 AND party = $1`,
  webhook,
);

export const lockWebhook = inTransaction.first(
  (party: string, id: string) => [party, id],
  'webhook_lock',
  `SELECT ${COLUMNS} FROM webhooks WHERE id = $2 AND party = $1 FOR NO KEY UPDATE`,
  webhook,
);

export const listWebhooks = read.page(
  (party: string, after: Cursor, limit: number) => [after.time, after.id, limit, party],
  'webhook_list',
  pageText(
    `SELECT ${COLUMNS} FROM webhooks WHERE party = $4 AND (create_time, id) > ($1::timestamptz, $2)`,
    'create_time, id',
  ),
  pageRow(webhook),
);

export const webhookHealth = read.all(
  (parties: string[]) => [parties],
  sql<WebhookHealth>(
    'webhook_health',
    `SELECT w.party, w.id, w.state, w.pause_reason AS "pauseReason", w.update_time AS "updateTime",
            (SELECT min(d.first_failure_time) FROM webhook_deliveries d
              WHERE d.webhook = w.id AND d.state = 'PENDING') AS "failingSince"
       FROM webhooks w WHERE w.party = ANY($1::text[]) ORDER BY w.party, w.create_time, w.id`,
  ),
);

const CHANGEABLE = only(
  webhooks,
  ...(['url', 'description', 'kinds', 'state', 'pauseReason', 'updateTime'] as const),
);
/**
 * Saves a webhook and ends its lease. The next replica that leases the webhook reads the new values. Pending deliveries
 * become due immediately.
 */
export const saveWebhook = inTransaction.last(
  (record: WebhookRecord, now: Timestamp) => [record.id, now, ...values(CHANGEABLE, record)],
  'webhook_update',
  `WITH pending AS (
     UPDATE webhook_deliveries SET next_attempt_time = $2, first_failure_time = NULL
      WHERE webhook = $1 AND state = 'PENDING'
   )
   UPDATE webhooks SET (${names(CHANGEABLE)}) = (${parameters(CHANGEABLE, 3)}),
     failures = 0, next_attempt_time = $2, lease_owner = NULL, lease_expiry = NULL WHERE id = $1`,
);

export const deleteWebhook = inTransaction.last(
  (id: string) => [id],
  'webhook_delete',
  'DELETE FROM webhooks WHERE id = $1',
);

export const rotateSecret = inTransaction.last(
  ({ id, updateTime }: WebhookRecord, sealedSecret: Uint8Array, oldExpiry: Timestamp) => [
    ...[id, sealedSecret, oldExpiry, updateTime],
  ],
  'webhook_rotate_secret',
  `UPDATE webhooks SET old_secret = secret, old_secret_expiry = $3, secret = $2, update_time = $4 WHERE id = $1`,
);

export const rewindWebhook = inTransaction.last(
  (id: string, { xid, seq }: Position, now: Timestamp) => [id, xid, seq, now],
  'webhook_rewind',
  `WITH rewound AS (
     UPDATE webhooks SET cursor_xid = $2, cursor_seq = $3, failures = 0, next_attempt_time = $4,
            lease_owner = NULL, lease_expiry = NULL
      WHERE id = $1 AND ($2::xid8, $3::bigint) < (cursor_xid, cursor_seq) RETURNING id
   )
   DELETE FROM webhook_deliveries d USING rewound
    WHERE d.webhook = rewound.id AND d.state = 'PENDING' AND (d.xid, d.seq) > ($2::xid8, $3::bigint)`,
);

/** Counts the changes that a rewind to this position would redeliver, up to `limit`. The webhook must be locked. */
export const countBehind = inTransaction.number(
  (id: string, { xid, seq }: Position, limit: number) => [id, xid, seq, limit],
  'webhook_count_behind',
  `SELECT count(*)::int AS n FROM (
     SELECT FROM changes c JOIN webhooks w ON w.id = $1 AND c.party = w.party
      WHERE (c.xid, c.seq) > ($2::xid8, $3::bigint) AND (c.xid, c.seq) <= (w.cursor_xid, w.cursor_seq)
        AND (w.kinds = '{}' OR c.kind = ANY (w.kinds)) LIMIT $4) counted`,
);

/**
 * Adds `count` to the number of changes redelivered to a party in the current hour. Returns the start of the hour and
 * the sum. A new hour begins if the current hour began at or before `hourAgo`.
 */
export const addRedeliveries = inTransaction.one(
  (party: string, count: number, now: Timestamp, hourAgo: Timestamp) => [party, count, now, hourAgo],
  sql<{ since: Timestamp; count: number }>(
    'webhook_redeliver',
    `INSERT INTO webhook_redeliveries AS r VALUES ($1, $3, $2)
   ON CONFLICT (party) DO UPDATE SET
     since = CASE WHEN r.since <= $4 THEN excluded.since ELSE r.since END,
     count = CASE WHEN r.since <= $4 THEN 0 ELSE r.count END + excluded.count
   RETURNING since, count`,
  ),
);

export interface LeasedWebhook {
  webhook: WebhookRecord;
  /** Identifies the lease. Each claim gets a new value, even if the same process claims the webhook again. */
  owner: string;
  cursor: Position;
  failures: number;
  secret: Uint8Array;
  oldSecret: Uint8Array | null;
}

/** The exchange reads no further changes for a webhook with this many pending deliveries. */
export const MAX_PENDING = 100;

/**
 * Generates SQL that leases webhooks with pending deliveries or unread changes. `of` is an additional condition on the
 * webhooks. The webhooks that have waited longest come first. A paused webhook is leased only for test deliveries.
 * Parameters: `$1` now, `$2` maximum number of webhooks, `$3` parties to skip, `$4` length of the lease in
 * milliseconds. The database's clock determines when the lease ends.
 */
const claim = (of: string) => `WITH due AS MATERIALIZED (
     SELECT w.id FROM webhooks w JOIN parties p ON p.name = w.party
      WHERE (w.lease_expiry IS NULL OR w.lease_expiry <= now()) AND p.state = 'ACTIVE' AND w.party <> ALL ($3::text[])
        AND ${of}
        AND (EXISTS (SELECT FROM webhook_deliveries t WHERE t.webhook = w.id AND t.state = 'PENDING' AND t.kind = 'TEST')
          OR w.state = 'ACTIVE' AND w.next_attempt_time <= $1 AND (
            EXISTS (SELECT FROM webhook_deliveries d WHERE d.webhook = w.id AND d.state = 'PENDING' AND d.next_attempt_time <= $1)
            OR EXISTS (SELECT FROM changes c WHERE c.party = w.party AND (c.xid, c.seq) > (w.cursor_xid, w.cursor_seq))
              AND (SELECT count(*) FROM webhook_deliveries d WHERE d.webhook = w.id AND d.state = 'PENDING') < ${MAX_PENDING}))
      ORDER BY w.next_attempt_time, w.id LIMIT $2::int FOR NO KEY UPDATE OF w SKIP LOCKED
   )
   UPDATE webhooks SET lease_owner = gen_random_uuid(), lease_expiry = now() + $4::int * interval '1 millisecond'
     FROM due WHERE webhooks.id = due.id
   RETURNING ${COLUMNS}, lease_owner, cursor_xid, cursor_seq, failures, secret,
     CASE WHEN old_secret_expiry > $1 THEN old_secret END AS old_secret`;
const leased = object<LeasedWebhook>({
  webhook,
  owner: cell('lease_owner'),
  cursor: object<Position>({ xid: cell('cursor_xid'), seq: cell('cursor_seq') }),
  failures: cell('failures'),
  secret: cell('secret'),
  oldSecret: cell('old_secret'),
});
const CLAIM = sql('webhook_claim', claim('true'), leased);
const CLAIM_OF_PARTIES = sql('webhook_claim_of_parties', claim('w.party = ANY ($5::text[])'), leased);

/** Leases webhooks of the parties in `only`, or of all parties if `only` is undefined. */
export function claimWebhooks(
  db: Queryable,
  now: Timestamp,
  leaseMs: number,
  limit: number,
  { except, only }: { except: string[]; only: string[] | undefined },
): Promise<LeasedWebhook[]> {
  const values = [now, limit, except, leaseMs];
  return only === undefined ? db.query(CLAIM, values) : db.query(CLAIM_OF_PARTIES, [...values, only]);
}

export const partiesWithWebhooks = read.all(
  () => [],
  'webhook_parties',
  'SELECT DISTINCT party FROM webhooks',
  cell<string>('party'),
);
