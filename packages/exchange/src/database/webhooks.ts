/** Webhooks of parties. Their secrets are sealed, and only the deliverer reads them. */
import type { Timestamp } from '@measurement-exchange/contract';
import type { WebhookRecord } from '../domain/webhook.ts';
import { lastPlace, type Position } from './changes.ts';
import { type Queryable, sql, type Transaction } from './db.ts';
import { type Cursor, type Page, pageOf, pageRow, pageText } from './page.ts';
import { cell, object } from './roundTrip.ts';
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

/** It gets what changes behind the position. */
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
/** What was leased is claimed anew, with what was changed. */
const UPDATE = sql(
  'webhook_update',
  `WITH pending AS (
     UPDATE webhook_deliveries SET next_attempt_time = $2, first_failure_time = NULL
      WHERE webhook = $1 AND state = 'PENDING'
   )
   UPDATE webhooks SET (${names(CHANGEABLE)}) = (${parameters(CHANGEABLE, 3)}),
     failures = 0, next_attempt_time = $2, lease_owner = NULL, lease_expiry = NULL WHERE id = $1`,
);

/** What is pending is due at once. */
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

/** A transaction takes 8 s at most: what is older than that is before the time in the order of the log, too. */
const REWIND = sql(
  'webhook_rewind',
  `WITH start AS MATERIALIZED (
     ${lastPlace('$2', "time < $3::timestamptz - interval '10 seconds'")}
   ), rewound AS (
     UPDATE webhooks w SET cursor_xid = start.xid, cursor_seq = start.seq, failures = 0, next_attempt_time = $4,
            lease_owner = NULL, lease_expiry = NULL
       FROM start WHERE w.id = $1 AND (start.xid, start.seq) < (w.cursor_xid, w.cursor_seq)
     RETURNING w.id
   )
   DELETE FROM webhook_deliveries d USING rewound, start
    WHERE d.webhook = rewound.id AND d.state = 'PENDING' AND (d.xid, d.seq) > (start.xid, start.seq)`,
);

/** Changes since the time become deliveries again. */
export function rewindWebhook(
  tx: Transaction,
  { id, party }: WebhookRecord,
  from: Timestamp,
  now: Timestamp,
): void {
  tx.last(REWIND, [id, party, from, now]);
}

/** What a deliverer needs of a webhook that it has leased. */
export interface LeasedWebhook {
  webhook: WebhookRecord;
  cursor: Position;
  failures: number;
  secret: Uint8Array;
  oldSecret: Uint8Array | null;
}

/** The deliverer reads no more of the log while so many are pending. */
export const MAX_PENDING = 100;

/**
 * Those that have something to deliver, the longest waiting first. `$1` owner, `$2` now, `$3` expiry of the lease, `$4`
 * limit, `$5` parties to pass over, `$6` of these parties only, unless null. A test is sent to a paused one as well.
 */
const CLAIM = sql(
  'webhook_claim',
  `WITH due AS MATERIALIZED (
     SELECT w.id FROM webhooks w JOIN parties p ON p.name = w.party
      WHERE (w.lease_expiry IS NULL OR w.lease_expiry <= $2) AND p.state = 'ACTIVE' AND w.party <> ALL ($5::text[])
        AND ($6::text[] IS NULL OR w.party = ANY ($6::text[]))
        AND (EXISTS (SELECT FROM webhook_deliveries t WHERE t.webhook = w.id AND t.state = 'PENDING' AND t.kind = 'TEST')
          OR w.state = 'ACTIVE' AND w.next_attempt_time <= $2 AND (
            EXISTS (SELECT FROM webhook_deliveries d WHERE d.webhook = w.id AND d.state = 'PENDING' AND d.next_attempt_time <= $2)
            OR EXISTS (SELECT FROM changes c WHERE c.party = w.party AND (c.xid, c.seq) > (w.cursor_xid, w.cursor_seq))
              AND (SELECT count(*) FROM webhook_deliveries d WHERE d.webhook = w.id AND d.state = 'PENDING') < ${MAX_PENDING}))
      ORDER BY w.next_attempt_time, w.id LIMIT $4::int FOR NO KEY UPDATE OF w SKIP LOCKED
   )
   UPDATE webhooks SET lease_owner = $1, lease_expiry = $3 FROM due WHERE webhooks.id = due.id
   RETURNING ${COLUMNS}, cursor_xid, cursor_seq, failures, secret,
     CASE WHEN old_secret_expiry > $2 THEN old_secret END AS old_secret`,
  object<LeasedWebhook>({
    webhook,
    cursor: object<Position>({ xid: cell('cursor_xid'), seq: cell('cursor_seq') }),
    failures: cell('failures'),
    secret: cell('secret'),
    oldSecret: cell('old_secret'),
  }),
);

export function claimWebhooks(
  db: Queryable,
  lease: { owner: string; now: Timestamp; expiry: Timestamp },
  limit: number,
  parties: { except: string[]; only: string[] | undefined },
): Promise<LeasedWebhook[]> {
  return db.query(CLAIM, [lease.owner, lease.now, lease.expiry, limit, parties.except, parties.only]);
}

const PARTIES = sql<{ party: string }>('webhook_parties', 'SELECT DISTINCT party FROM webhooks');

/** Those that have webhooks. */
export async function partiesWithWebhooks(db: Queryable): Promise<Set<string>> {
  return new Set((await db.query(PARTIES, [])).map(({ party }) => party));
}
