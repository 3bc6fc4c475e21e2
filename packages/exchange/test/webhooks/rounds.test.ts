/**
 * Tests the delivery rounds on a database without an exchange: which process holds a lease, what a round costs, and
 * when a round begins.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { timestampOf } from '@measurement-exchange/contract';
import { expect, it, vi } from 'vitest';
import { positionBefore, readChanges } from '../../src/database/changes.ts';
import { Database, statements } from '../../src/database/db.ts';
import { insertTest } from '../../src/database/webhookDeliveries.ts';
import { claimWebhooks, rewindWebhook } from '../../src/database/webhooks.ts';
import { updateWebhook } from '../../src/domain/webhook.ts';
import { logChanges, startReceiver } from './receiver.ts';
import { addParty, holding, now, save, until, useDeliverer } from './useDeliverer.ts';

const LEASE_MS = 60_000;
const EVERYBODY = { except: [], only: undefined };
const world = useDeliverer();
const stored = async () =>
  (await world.database.query('SELECT state, failures, lease_owner, url FROM webhooks'))[0]!;

it('a round changes nothing if its webhook was updated meanwhile, even if its process has the lease again', async () => {
  const old = holding(world.receiver);
  await logChanges(world, world.party, 'moved', 1, 1);
  await world.deliverer.run();
  await until(() => expect(old.arrived).toHaveLength(1));

  const mended = await startReceiver();
  mended.secrets = world.receiver.secrets;
  const current = holding(mended);
  await save(world, updateWebhook(world.webhook, { url: mended.url }, now(), true));
  await world.deliverer.run();
  await until(() => expect(current.arrived).toHaveLength(1));
  const before = await stored();
  expect(before).toMatchObject({ state: 'ACTIVE', url: mended.url, lease_owner: expect.any(String) });

  const rounds = world.ended;
  old.respond(410);
  await until(() => expect(world.ended).toBeGreaterThan(rounds));
  expect(await stored()).toEqual(before);
  current.respond(204);
  await until(async () => {
    const rows = await world.database.query('SELECT state, attempts, status FROM webhook_deliveries');
    expect(rows).toEqual([{ state: 'DELIVERED', attempts: 1, status: 204 }]);
  });
  await mended.leave();
});

it('a lease expires by the clock of the database, not by the clocks of the exchanges', async () => {
  await logChanges(world, world.party, 'leased', 1, 1);
  const HOUR_MS = 3_600_000;
  const claim = (aheadMs: number, leaseMs: number) =>
    claimWebhooks(world.db, now(aheadMs), leaseMs, 1, EVERYBODY);
  expect(await claim(HOUR_MS, 0)).toHaveLength(1);
  expect(await claim(0, LEASE_MS)).toHaveLength(1);
  expect(await claim(HOUR_MS, LEASE_MS)).toEqual([]);
});

it('a round removes at most 1,000 ended deliveries and keeps the last 1,000, even if it only sends a test', async () => {
  await save(world, { ...world.webhook, state: 'PAUSED', pauseReason: 'test' });
  await world.database.query(
    `INSERT INTO webhook_deliveries (webhook, resource, kind, version, time, create_time, state)
     SELECT 'hook', 'x', 'TEST', 1, now(), now(), 'FAILED' FROM generate_series(1, 2500)`,
  );
  const kept = async () =>
    Number((await world.database.query('SELECT count(*) AS n FROM webhook_deliveries'))[0]!.n);
  const test = async () => {
    const rounds = world.ended;
    await world.db.tx('test', (tx) => insertTest(tx, 'hook', 'x', now()));
    await world.deliverer.run();
    await until(() => expect(world.ended).toBeGreaterThan(rounds));
    return kept();
  };
  expect([await test(), await test(), await test()]).toEqual([1_501, 1_000, 1_000]);
  expect(world.receiver.received).toHaveLength(3);
});

it('claims after changes run one at a time, and changes during a claim cause exactly one more', async () => {
  await world.deliverer.run();
  const gate = Promise.withResolvers<void>();
  const { query } = Database.prototype;
  let claims = 0;
  vi.spyOn(world.db, 'query').mockImplementation(async (statement, values) => {
    if (statement.name.startsWith('webhook_claim')) {
      claims += 1;
      await gate.promise;
    }
    return query.call(world.db, statement, values) as never;
  });
  world.deliverer.changed([world.party.name]);
  await until(() => expect(claims).toBe(1));
  for (let i = 0; i < 5; i++) {
    world.deliverer.changed([world.party.name]);
    await sleep(50);
  }
  expect(claims).toBe(1);
  gate.resolve();
  await until(() => expect(claims).toBe(2));
});

it('a claim for some parties finds their webhooks with an index', async () => {
  const client = await world.db.pool.connect();
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

it('rounds wait for a transaction that delays the change log, even if a delivery is pending', async () => {
  await world.database.query(
    `INSERT INTO webhook_deliveries (webhook, resource, kind, version, time, create_time, next_attempt_time)
     VALUES ('hook', 'x', 'PARTY', 1, now(), now(), now() + interval '1 day')`,
  );
  const holder = await world.db.pool.connect();
  await holder.query('BEGIN; SELECT pg_current_xact_id()');
  await logChanges(world, world.party, 'held', 1, 1);
  try {
    const [started, rounds] = [performance.now(), world.ended];
    await world.deliverer.run();
    await sleep(1_500);
    // The rounds must wait for the transaction. Without this wait, a round would start about every 30 ms.
    expect(world.ended - rounds).toBeLessThanOrEqual(1 + (performance.now() - started) / 300);
  } finally {
    await holder.query('COMMIT');
    holder.release();
  }
  await until(() => expect(world.receiver.received).toHaveLength(1));
});

it('positionBefore returns a position before all changes since a time, with fewer than 70 queries', async () => {
  const TRANSACTIONS = 300;
  const followed = 'dataProviders/rewound';
  const begin = Date.parse('2026-01-01T00:00:00Z');
  // Insert one transaction per second, with two changes each. The times of the log are not in order: each transaction
  // with an even number is 15 s earlier than the transaction before it.
  await world.database.query(
    `INSERT INTO changes (party, xid, name, kind, version, time)
     SELECT $1, n::text::xid8, 'x', 'PARTY', 1, $2::timestamptz + (n + CASE n % 2 WHEN 0 THEN -8 ELSE 8 END) * interval '1 second'
       FROM generate_series(1, $3) AS n CROSS JOIN generate_series(1, 2)`,
    [followed, timestampOf(begin), TRANSACTIONS],
  );
  const rows = (await readChanges(world.db, followed, 'OLDEST', 1_000))!.changes;
  expect(rows).toHaveLength(2 * TRANSACTIONS);

  let looks = 0;
  const counted = {
    query: (...[statement, values]: Parameters<Database['query']>) => {
      looks += 1;
      return world.db.query(statement, values);
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
    expect((await readChanges(world.db, followed, place, 1))?.changes).toEqual(behind.slice(0, 1));
    const missed = rows.filter(({ at, change }) => change.time >= from && !isBehind(at, place));
    expect(missed, from).toEqual([]);
    const minuteBefore = timestampOf(begin + 1_000 * (seconds - 60));
    expect(
      behind.filter(({ change }) => change.time < minuteBefore),
      from,
    ).toEqual([]);
  }
  // The statement that moves a webhook back to a position must not search the change log. It runs in a transaction, so
  // it must be fast.
  expect(statements.get('webhook_rewind')!.text).not.toMatch(/\bchanges\b/);
});

it('positionBefore returns the start of the log if the log has no earlier change', async () => {
  const followed = 'dataProviders/removed';
  await world.database.query(`INSERT INTO changes_removed VALUES ($1, '7', 70)`, [followed]);
  expect(await positionBefore(world.db, followed, now())).toEqual({ xid: '7', seq: 70n });
  await world.database.query(
    `INSERT INTO changes (party, xid, name, kind, version, time) VALUES ($1, '8', 'x', 'PARTY', 1, now())`,
    [followed],
  );
  expect(await positionBefore(world.db, followed, now(-60_000))).toEqual({ xid: '7', seq: 70n });
  expect(await positionBefore(world.db, 'dataProviders/quiet', now())).toEqual({ xid: '0', seq: 0n });
});

it('webhooks are claimed in the order of their due times, except those of suspended parties', async () => {
  const [early, suspended] = [`${world.party.name}-early`, `${world.party.name}-suspended`];
  for (const party of [early, suspended]) {
    await addParty(world, party);
    await world.add(party, party);
    await logChanges(world, { name: party }, 'x', 1, 1);
  }
  await logChanges(world, world.party, 'x', 1, 1);
  await world.database.query(`UPDATE parties SET state = 'SUSPENDED' WHERE name = $1`, [suspended]);
  await world.database.query(
    `UPDATE webhooks SET next_attempt_time = now() - interval '1 day' WHERE id = ANY ($1)`,
    [[early, suspended]],
  );
  const claimed = async () =>
    (await claimWebhooks(world.db, now(), 60_000, 1, { except: [], only: undefined })).map(
      ({ webhook }) => webhook.id,
    );
  expect([await claimed(), await claimed(), await claimed()]).toEqual([[early], ['hook'], []]);
});

it('rewinding a webhook removes later pending deliveries and makes it due; moving it forward does nothing', async () => {
  for (const [xid, seq, state] of [
    [5, 1, 'PENDING'],
    [7, 1, 'PENDING'],
    [7, 2, 'DELIVERED'],
  ]) {
    await world.database.query(
      `INSERT INTO webhook_deliveries (webhook, xid, seq, resource, kind, version, time, create_time, next_attempt_time, state)
       VALUES ('hook', $1::text::xid8, $2, 'x', 'PARTY', 1, now(), now(), CASE $3 WHEN 'PENDING' THEN now() END, $3)`,
      [String(xid), seq, state],
    );
  }
  await world.database.query(
    `UPDATE webhooks SET cursor_xid = '9', cursor_seq = 1, failures = 3, next_attempt_time = now() + interval '1 day'`,
  );
  const rewind = (xid: string) =>
    world.db.tx('rewind', async (tx) => rewindWebhook(tx, 'hook', { xid, seq: 0n }, now()));
  const left = async () => ({
    rows: (await world.database.query('SELECT xid::text, state FROM webhook_deliveries ORDER BY number')).map(
      ({ xid, state }) => `${xid} ${state}`,
    ),
    ...(
      await world.database.query(
        'SELECT cursor_xid::text AS xid, failures, next_attempt_time <= now() AS due FROM webhooks',
      )
    )[0],
  });
  await rewind('6');
  const there = { rows: ['5 PENDING', '7 DELIVERED'], xid: '6', failures: 0, due: true };
  expect(await left()).toEqual(there);
  await rewind('8');
  expect(await left()).toEqual(there);
});
