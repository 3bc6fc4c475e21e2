/** Rounds of a deliverer on a database without an exchange: who holds a lease, what a round costs, when one begins. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { timestampOf } from '@measurement-exchange/contract';
import { SECRETS_KEY_BYTES, Secrets } from '@measurement-exchange/server';
import { createDatabase, type Database as TestDatabase } from '@measurement-exchange/testkit/exchange';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { latestPosition, positionBefore, readChanges } from '../../src/database/changes.ts';
import { Database, statements } from '../../src/database/db.ts';
import { insertTest } from '../../src/database/webhookDeliveries.ts';
import { claimWebhooks, deleteWebhook, insertWebhook, saveWebhook } from '../../src/database/webhooks.ts';
import { newWebhook, printSecret, updateWebhook, type WebhookRecord } from '../../src/domain/webhook.ts';
import { Deliverer } from '../../src/webhooks/deliverer.ts';
import { logChanges, type Received, type Receiver, startReceiver } from './receiver.ts';

const LEASE_MS = 60_000;
const EVERYBODY = { except: [], only: undefined };
const secrets = new Secrets(randomBytes(SECRETS_KEY_BYTES));
const now = (aheadMs = 0) => timestampOf(Date.now() + aheadMs);

let database: TestDatabase;
let db: Database;
/** Rounds that have ended. */
let ended = 0;
beforeAll(async () => {
  database = await createDatabase();
  const observer = {
    transaction: (name: string) => {
      if (name === 'settleWebhook') ended += 1;
    },
    retry: () => {},
  };
  db = new Database({ connection: { connectionString: database.url }, applicationName: 'test', observer });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

/** Another one for each test: what other tests of this server hold back is not delivered to the next one. */
let party: { name: string };
let receiver: Receiver;
let webhook: WebhookRecord;
let deliverer: Deliverer;
beforeEach(async ({ task }) => {
  party = { name: `dataProviders/${task.id}` };
  await database.query('INSERT INTO parties (name, create_time, update_time) VALUES ($1, now(), now())', [
    party.name,
  ]);
  receiver = await startReceiver();
  const secret = randomBytes(32);
  receiver.secrets.push(printSecret(secret));
  webhook = newWebhook(party.name, 'hook', { url: receiver.url }, now(), true);
  const position = await latestPosition(db, party.name);
  await db.tx('insert', async (tx) => insertWebhook(tx, webhook, secrets.seal('hook', secret), position));
  deliverer = new Deliverer({ db, clock: now, secrets, allowsHttp: true });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await deliverer.stop();
  await receiver.leave();
  await db.tx('delete', async (tx) => deleteWebhook(tx, 'hook'));
});

const until = (condition: () => void | Promise<void>) =>
  vi.waitFor(condition, { timeout: 50_000, interval: 20 });
const save = (record: WebhookRecord) => db.tx('save', async (tx) => saveWebhook(tx, record, now()));
const stored = async () =>
  (await database.query('SELECT state, failures, lease_owner, url FROM webhooks'))[0]!;

/** Keeps each message until it is told the status. */
function holding(at: Receiver) {
  const arrived: Received[] = [];
  const held = Promise.withResolvers<number>();
  at.respond = (event) => {
    arrived.push(event);
    return held.promise;
  };
  return { arrived, respond: held.resolve };
}

it('a round of a webhook that was changed meanwhile changes nothing, although its process has the lease again', async () => {
  const old = holding(receiver);
  await logChanges({ database }, party, 'moved', 1, 1);
  await deliverer.run();
  await until(() => expect(old.arrived).toHaveLength(1));

  const mended = await startReceiver();
  mended.secrets = receiver.secrets;
  const current = holding(mended);
  await save(updateWebhook(webhook, { url: mended.url }, now(), true));
  await deliverer.run();
  await until(() => expect(current.arrived).toHaveLength(1));
  const before = await stored();
  expect(before).toMatchObject({ state: 'ACTIVE', url: mended.url, lease_owner: expect.any(String) });

  const rounds = ended;
  old.respond(410);
  await until(() => expect(ended).toBeGreaterThan(rounds));
  expect(await stored()).toEqual(before);
  current.respond(204);
  await until(async () => {
    const rows = await database.query('SELECT state, attempts, status FROM webhook_deliveries');
    expect(rows).toEqual([{ state: 'DELIVERED', attempts: 1, status: 204 }]);
  });
  await mended.leave();
});

it('a lease goes by the clock of the database, whatever those of the exchanges say', async () => {
  await logChanges({ database }, party, 'leased', 1, 1);
  const HOUR_MS = 3_600_000;
  const claim = (aheadMs: number, leaseMs: number) => claimWebhooks(db, now(aheadMs), leaseMs, 1, EVERYBODY);
  expect(await claim(HOUR_MS, 0)).toHaveLength(1);
  expect(await claim(0, LEASE_MS)).toHaveLength(1);
  expect(await claim(HOUR_MS, LEASE_MS)).toEqual([]);
});

it('of the deliveries that are over a round removes some, also where it sent a test only', async () => {
  await save({ ...webhook, state: 'PAUSED', pauseReason: 'test' });
  await database.query(
    `INSERT INTO webhook_deliveries (webhook, resource, kind, version, time, create_time, state)
     SELECT 'hook', 'x', 'TEST', 1, now(), now(), 'FAILED' FROM generate_series(1, 2500)`,
  );
  const kept = async () =>
    Number((await database.query('SELECT count(*) AS n FROM webhook_deliveries'))[0]!.n);
  const test = async () => {
    const rounds = ended;
    await db.tx('test', (tx) => insertTest(tx, 'hook', 'x', now()));
    await deliverer.run();
    await until(() => expect(ended).toBeGreaterThan(rounds));
    return kept();
  };
  expect([await test(), await test(), await test()]).toEqual([1_501, 1_000, 1_000]);
  expect(receiver.received).toHaveLength(3);
});

it('one look for what changed runs at a time, and another one follows what came meanwhile', async () => {
  await deliverer.run();
  const gate = Promise.withResolvers<void>();
  const { query } = Database.prototype;
  let claims = 0;
  vi.spyOn(db, 'query').mockImplementation(async (statement, values) => {
    if (statement.name.startsWith('webhook_claim')) {
      claims += 1;
      await gate.promise;
    }
    return query.call(db, statement, values) as never;
  });
  deliverer.changed([party.name]);
  await until(() => expect(claims).toBe(1));
  for (let i = 0; i < 5; i++) {
    deliverer.changed([party.name]);
    await sleep(50);
  }
  expect(claims).toBe(1);
  gate.resolve();
  await until(() => expect(claims).toBe(2));
});

it('a look reads the webhooks of the parties that it is for, however many there are', async () => {
  const client = await db.pool.connect();
  try {
    await client.query(`BEGIN;
      INSERT INTO parties (name, create_time, update_time)
      SELECT 'duchies/' || n, now(), now() FROM generate_series(1, 2000) AS n;
      INSERT INTO webhooks (id, party, url, description, kinds, state, secret, cursor_xid, cursor_seq, next_attempt_time,
                            create_time, update_time)
      SELECT n, 'duchies/' || n, 'https://example.com', '', '{}', 'ACTIVE', '', '0', 0, now(), now(), now() FROM generate_series(1, 2000) AS n;
      ANALYZE parties, webhooks;
      PREPARE looked AS ${statements.get('webhook_claim_of_parties')!.text}`);
    const { rows } = await client.query(`EXPLAIN EXECUTE looked(now(), 4, '{}', 0, '{duchies/1}')`);
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('Index Cond: (party = ANY ($5))');
  } finally {
    await client.query('ROLLBACK');
    client.release(true);
  }
});

it('rounds wait for a transaction that holds the log back, also where something is pending', async () => {
  await database.query(
    `INSERT INTO webhook_deliveries (webhook, resource, kind, version, time, create_time, next_attempt_time)
     VALUES ('hook', 'x', 'PARTY', 1, now(), now(), now() + interval '1 day')`,
  );
  const holder = await db.pool.connect();
  await holder.query('BEGIN; SELECT pg_current_xact_id()');
  await logChanges({ database }, party, 'held', 1, 1);
  try {
    const [started, rounds] = [performance.now(), ended];
    await deliverer.run();
    await sleep(1_500);
    // Without a wait it is one in 30 ms or so.
    expect(ended - rounds).toBeLessThanOrEqual(1 + (performance.now() - started) / 300);
  } finally {
    await holder.query('COMMIT');
    holder.release();
  }
  await until(() => expect(receiver.received).toHaveLength(1));
});

it('the place from which changes are sent again is before everything since then, and found by few looks at the log', async () => {
  const TRANSACTIONS = 300;
  const followed = 'dataProviders/rewound';
  const begin = Date.parse('2026-01-01T00:00:00Z');
  // One in a second; in the order of the log times go back by 15 s.
  await database.query(
    `INSERT INTO changes (party, xid, name, kind, version, time)
     SELECT $1, n::text::xid8, 'x', 'PARTY', 1, $2::timestamptz + (n + CASE n % 2 WHEN 0 THEN -8 ELSE 8 END) * interval '1 second'
       FROM generate_series(1, $3) AS n CROSS JOIN generate_series(1, 2)`,
    [followed, timestampOf(begin), TRANSACTIONS],
  );
  const rows = (await readChanges(db, followed, 'OLDEST', 1_000))!.changes;
  expect(rows).toHaveLength(2 * TRANSACTIONS);

  let looks = 0;
  const counted = {
    query: (...[statement, values]: Parameters<Database['query']>) => {
      looks += 1;
      return db.query(statement, values);
    },
  } as Database;
  const isBehind = (at: { xid: string; seq: bigint }, place: typeof at) =>
    BigInt(at.xid) > BigInt(place.xid) || (at.xid === place.xid && at.seq > place.seq);
  for (let seconds = -60; seconds < TRANSACTIONS + 40; seconds += 9) {
    looks = 0;
    const from = timestampOf(begin + 1_000 * seconds);
    const place = await positionBefore(counted, followed, from);
    expect(looks).toBeLessThan(70);
    const behind = rows.filter(({ at }) => isBehind(at, place));
    expect((await readChanges(db, followed, place, 1))?.changes).toEqual(behind.slice(0, 1));
    const missed = rows.filter(({ at, change }) => change.time >= from && !isBehind(at, place));
    expect(missed, from).toEqual([]);
    const minuteBefore = timestampOf(begin + 1_000 * (seconds - 60));
    expect(
      behind.filter(({ change }) => change.time < minuteBefore),
      from,
    ).toEqual([]);
  }
  // The transaction that moves a webhook there does not search.
  expect(statements.get('webhook_rewind')!.text).not.toMatch(/\bchanges\b/);
});

it('the place of a time before the log is where the log begins', async () => {
  const followed = 'dataProviders/removed';
  await database.query(`INSERT INTO changes_removed VALUES ($1, '7', 70)`, [followed]);
  expect(await positionBefore(db, followed, now())).toEqual({ xid: '7', seq: 70n });
  await database.query(
    `INSERT INTO changes (party, xid, name, kind, version, time) VALUES ($1, '8', 'x', 'PARTY', 1, now())`,
    [followed],
  );
  expect(await positionBefore(db, followed, now(-60_000))).toEqual({ xid: '7', seq: 70n });
  expect(await positionBefore(db, 'dataProviders/quiet', now())).toEqual({ xid: '0', seq: 0n });
});
