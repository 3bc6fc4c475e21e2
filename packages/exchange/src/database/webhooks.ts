/** Webhooks of parties. Their secrets are sealed, and only the deliverer reads them. */
import type { Timestamp } from '@measurement-exchange/contract';
import { cell, object } from '@measurement-exchange/server/database';
import type { WebhookRecord } from '../domain/webhook.ts';
import type { Position } from './changes.ts';
import { type Queryable, sql, type Transaction } from './db.ts';
import { type Cursor, type Page, pageOf, pageRow, pageText } from './page.ts';
import { column, names, only, optional, parameters, select, table, values } from './table.ts';

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
const AFTER = webhooks.columns.length + 1;

const INSERT = sql(
  'webhook_insert',
  `INSERT INTO webhooks (${names(webhooks.columns)}, secret, cursor_xid, cursor_seq, next_attempt_time)
   VALUES (${parameters(webhooks.columns, 1)}, $${AFTER}, $${AFTER + 1}, $${AFTER + 2}, $${AFTER + 3})`,
);

/** The webhook gets the changes behind the position. */
export function insertWebhook(
  tx: Transaction,
  record: WebhookRecord,
  sealedSecret: Uint8Array,
  { xid, seq }: Position,
): void {
  tx.last(INSERT, [...values(webhooks.columns, record), sealedSecret, xid, seq, record.createTime]);
}

const COUNT = sql<{ n: number }>('webhook_count', 'SELECT count(*)::int AS n FROM webhooks WHERE party = $1');

export async function countWebhooks(db: Queryable, party: string): Promise<number> {
  return (await db.query(COUNT, [party]))[0]!.n;
}

const GET = sql('webhook_get', `SELECT ${COLUMNS} FROM webhooks WHERE id = $2 AND party = $1`, webhook);
const LOCK = sql(
  'webhook_lock',
  `SELECT ${COLUMNS} FROM webhooks WHERE id = $2 AND party = $1 FOR NO KEY UPDATE`,
  webhook,
);

export async function getWebhook(
  db: Queryable,
  party: string,
  id: string,
): Promise<WebhookRecord | undefined> {
  return (await db.query(GET, [party, id]))[0];
}

export async function lockWebhook(
  tx: Transaction,
  party: string,
  id: string,
): Promise<WebhookRecord | undefined> {
  return (await tx.query(LOCK, [party, id]))[0];
}

const LIST = sql(
  'webhook_list',
  pageText(
    `SELECT ${COLUMNS} FROM webhooks WHERE party = $4 AND (create_time, id) > ($1::timestamptz, $2)`,
    'create_time, id',
  ),
  pageRow(webhook),
);

export async function listWebhooks(
  db: Queryable,
  party: string,
  after: Cursor,
  limit: number,
): Promise<Page<WebhookRecord>> {
  return pageOf(await db.query(LIST, [after.time, after.id, limit, party]));
}

const CHANGEABLE = only(
  webhooks,
  ...(['url', 'description', 'kinds', 'state', 'pauseReason', 'updateTime'] as const),
);
/** Ends the lease, so that the webhook is claimed again with its new values. */
const UPDATE = sql(
  'webhook_update',
  `WITH pending AS (
     UPDATE webhook_deliveries SET next_attempt_time = $2, first_failure_time = NULL
      WHERE webhook = $1 AND state = 'PENDING'
   )
   UPDATE webhooks SET (${names(CHANGEABLE)}) = (${parameters(CHANGEABLE, 3)}),
     failures = 0, next_attempt_time = $2, lease_owner = NULL, lease_expiry = NULL WHERE id = $1`,
);

/** Saves the webhook; its pending deliveries are due at once. */
export function saveWebhook(tx: Transaction, record: WebhookRecord, now: Timestamp): void {
  tx.last(UPDATE, [record.id, now, ...values(CHANGEABLE, record)]);
}

const DELETE = sql('webhook_delete', 'DELETE FROM webhooks WHERE id = $1');

export function deleteWebhook(tx: Transaction, id: string): void {
  tx.last(DELETE, [id]);
}

const ROTATE = sql(
  'webhook_rotate_secret',
  `UPDATE webhooks SET old_secret = secret, old_secret_expiry = $3, secret = $2, update_time = $4 WHERE id = $1`,
);

export function rotateSecret(
  tx: Transaction,
  { id, updateTime }: WebhookRecord,
  sealedSecret: Uint8Array,
  oldExpiry: Timestamp,
): void {
  tx.last(ROTATE, [id, sealedSecret, oldExpiry, updateTime]);
}

const REWIND = sql(
  'webhook_rewind',
  `WITH rewound AS (
     UPDATE webhooks SET cursor_xid = $2, cursor_seq = $3, failures = 0, next_attempt_time = $4,
            lease_owner = NULL, lease_expiry = NULL
      WHERE id = $1 AND ($2::xid8, $3::bigint) < (cursor_xid, cursor_seq) RETURNING id
   )
   DELETE FROM webhook_deliveries d USING rewound
    WHERE d.webhook = rewound.id AND d.state = 'PENDING' AND (d.xid, d.seq) > ($2::xid8, $3::bigint)`,
);

/** Changes behind the position become deliveries again. */
export function rewindWebhook(tx: Transaction, id: string, { xid, seq }: Position, now: Timestamp): void {
  tx.last(REWIND, [id, xid, seq, now]);
}

const COUNT_BEHIND = sql<{ n: number }>(
  'webhook_count_behind',
  `SELECT count(*)::int AS n FROM (
     SELECT FROM changes c JOIN webhooks w ON w.id = $1 AND c.party = w.party
      WHERE (c.xid, c.seq) > ($2::xid8, $3::bigint) AND (c.xid, c.seq) <= (w.cursor_xid, w.cursor_seq)
        AND (w.kinds = '{}' OR c.kind = ANY (w.kinds)) LIMIT $4) counted`,
);

/** How many changes a rewind to the position delivers again, `limit` at most. The webhook is locked. */
export async function countBehind(
  tx: Transaction,
  id: string,
  { xid, seq }: Position,
  limit: number,
): Promise<number> {
  return (await tx.query(COUNT_BEHIND, [id, xid, seq, limit]))[0]!.n;
}

const REDELIVER = sql<{ since: Timestamp; count: number }>(
  'webhook_redeliver',
  `INSERT INTO webhook_redeliveries AS r VALUES ($1, $3, $2)
   ON CONFLICT (party) DO UPDATE SET
     since = CASE WHEN r.since <= $4 THEN excluded.since ELSE r.since END,
     count = CASE WHEN r.since <= $4 THEN 0 ELSE r.count END + excluded.count
   RETURNING since, count`,
);

/** Adds to what the party had delivered again within the hour that began after `hourAgo`. */
export async function addRedeliveries(
  tx: Transaction,
  party: string,
  count: number,
  now: Timestamp,
  hourAgo: Timestamp,
): Promise<{ since: Timestamp; count: number }> {
  return (await tx.query(REDELIVER, [party, count, now, hourAgo]))[0]!;
}

/** A webhook that a deliverer has leased. */
export interface LeasedWebhook {
  webhook: WebhookRecord;
  /** Identifies this lease: each claim, also by the same process, has another owner. */
  owner: string;
  cursor: Position;
  failures: number;
  secret: Uint8Array;
  oldSecret: Uint8Array | null;
}

/** The deliverer reads no more of the log while so many are pending. */
export const MAX_PENDING = 100;

/**
 * Those that have something to deliver, the longest waiting first. `$1` now, `$2` limit, `$3` parties to pass over, `$4`
 * milliseconds of the lease, which go by the clock that all exchanges share. A test is sent to a paused one as well.
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

/** Claims webhooks of the parties in `only`, or of all parties where it is undefined. */
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

const PARTIES = sql<{ party: string }>('webhook_parties', 'SELECT DISTINCT party FROM webhooks');

/** The parties that have webhooks. */
export async function partiesWithWebhooks(db: Queryable): Promise<Set<string>> {
  return new Set((await db.query(PARTIES, [])).map(({ party }) => party));
}
