/** Tests when a deliverer retries, how much it does in a round, and what it records in the database. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { claimWebhooks, MAX_PENDING } from '../../src/database/webhooks.ts';
import { logChanges } from './receiver.ts';
import { addParty, everywhere, holding, now, save, until, useDeliverer } from './useDeliverer.ts';

const world = useDeliverer();

const query = (text: string, values: unknown[] = []) => world.database.query(text, values);
const log = (prefix: string, resources: number, versions = 1) =>
  logChanges(world, world.party, prefix, resources, versions);
/**
 * Returns the deliveries in order. Each has the last part of the resource's name, and the seconds between the last
 * attempt and the next.
 */
const deliveries = () =>
  query(
    `SELECT split_part(resource, '/', 4) AS resource, version, state, attempts, status, error, milliseconds,
            extract(epoch FROM next_attempt_time - last_attempt_time)::float8 AS delay, next_attempt_time, first_failure_time,
            last_attempt_time FROM webhook_deliveries ORDER BY number`,
  );
const seconds = async (column: string): Promise<number> =>
  (
    await query(
      `SELECT extract(epoch FROM ${column} - now())::float8 AS n FROM webhooks ORDER BY id = 'hook' DESC LIMIT 1`,
    )
  )[0]!.n as number;

const isFree = async () =>
  expect(await query('SELECT FROM webhooks WHERE lease_owner IS NOT NULL')).toEqual([]);

/** Waits until no transaction of other tests on this server delays the log. */
const isReadable = () =>
  until(async () =>
    expect(await query('SELECT FROM changes WHERE xid >= pg_snapshot_xmin(pg_current_snapshot())')).toEqual(
      [],
    ),
  );

/**
 * Runs the deliverer until a delivery was attempted and the round is over. One run may not be enough, because other
 * tests on this server may delay changes.
 */
async function round(): Promise<void> {
  const before = world.observed.length;
  await until(async () => {
    await world.deliverer.run();
    expect(world.observed.length).toBeGreaterThan(before);
    await isFree();
  });
}

/** Runs the deliverer until there are this many deliveries. */
async function taken(count: number): Promise<void> {
  await until(async () => {
    await world.deliverer.run();
    expect(await deliveries()).toHaveLength(count);
    await isFree();
  });
}

/** Makes all pending deliveries due, as if time had passed. */
async function passTime(): Promise<void> {
  await query(`UPDATE webhook_deliveries SET next_attempt_time = create_time WHERE state = 'PENDING'`);
  await query('UPDATE webhooks SET next_attempt_time = create_time');
}

it('a run serves up to 4 webhooks of each party with 8 concurrent messages each, and the rest follow', async () => {
  const other = { name: `${world.party.name}-other` };
  await addParty(world, other.name);
  for (let n = 1; n < 6; n++) await world.add(`hook${n}`, world.party.name);
  await world.add('z-other', other.name);
  await log('many', 10);
  await logChanges(world, other, 'many', 10, 1);
  const held = holding(world.receiver);
  const leased = () =>
    query(
      'SELECT party, count(*)::int AS n FROM webhooks WHERE lease_owner IS NOT NULL GROUP BY party ORDER BY party',
    );
  const shares = [
    { party: world.party.name, n: 4 },
    { party: other.name, n: 1 },
  ];
  await isReadable();
  await world.deliverer.run();
  expect(await leased()).toEqual(shares);
  await until(async () => {
    await world.deliverer.run();
    expect(held.arrived.length).toBeGreaterThanOrEqual(40);
  });
  await sleep(100);
  expect(held.arrived).toHaveLength(40);
  expect(await leased()).toEqual(shares);
  const lease = await seconds('lease_expiry');
  expect(lease).toBeGreaterThan(15);
  expect(lease).toBeLessThanOrEqual(30);
  held.respond(204);
  await until(() => expect(world.receiver.received).toHaveLength(70));
});

it('claims lease at most 4 webhooks of a party and 64 webhooks in total', async () => {
  const parties = Array.from({ length: 18 }, (_, n) => ({ name: `${world.party.name}-${n}` }));
  const held = holding(world.receiver);
  const runWith = async (rows: { party: { name: string }; count: number; prefix: string }[]) => {
    for (const { party, count, prefix } of rows) {
      for (let n = 0; n < count; n++)
        await world.add(`${prefix}-${party.name.split('-').at(-1)}-${n}`, party.name);
      await logChanges(world, party, prefix, 1, 1);
    }
    await isReadable();
    await Promise.all([world.deliverer.run(), world.deliverer.run()]);
  };
  const leased = async () => {
    const rows = await query(
      'SELECT count(*)::int AS n FROM webhooks WHERE lease_owner IS NOT NULL GROUP BY party ORDER BY 1',
    );
    return rows.map(({ n }) => n);
  };
  for (const party of parties) await addParty(world, party.name);
  await runWith([{ party: parties[0]!, count: 3, prefix: 'a' }]);
  expect(await leased()).toEqual([3]);
  await runWith([{ party: parties[0]!, count: 4, prefix: 'b' }]);
  expect(await leased()).toEqual([4]);
  await runWith(parties.slice(1, 15).map((party) => ({ party, count: 4, prefix: 'c' })));
  await runWith([{ party: parties[15]!, count: 1, prefix: 'd' }]);
  expect(await leased()).toEqual([1, ...Array(15).fill(4)]);
  await runWith(parties.slice(16).map((party) => ({ party, count: 4, prefix: 'e' })));
  const counts = await leased();
  expect(counts.reduce((sum: number, n) => sum + Number(n), 0)).toBe(64);
  expect(counts.filter((n) => Number(n) > 4)).toEqual([]);
  await until(() => expect(held.arrived).toHaveLength(64));
  await world.deliverer.stop();
});

it('a webhook gets at most 100 pending deliveries, and the rest follow without another run', async () => {
  await log('much', 130);
  const held = holding(world.receiver);
  await until(async () => {
    await world.deliverer.run();
    expect(held.arrived).toHaveLength(8);
  });
  expect(await deliveries()).toHaveLength(100);
  held.respond(200);
  await until(() => expect(world.receiver.received).toHaveLength(130));
});

it('a webhook with 100 pending deliveries is not claimed until they are due, and one with 99 gets one more', async () => {
  const pend = (n: number) =>
    query(
      `INSERT INTO webhook_deliveries (webhook, resource, kind, version, time, create_time, next_attempt_time)
       SELECT 'hook', 'x' || n, 'PARTY', 1, now(), now(), now() + interval '1 day' FROM generate_series(1, $1) AS n`,
      [n],
    );
  await pend(99);
  await log('two', 2);
  const held = holding(world.receiver);
  await until(async () => {
    await world.deliverer.run();
    expect(held.arrived).toHaveLength(1);
  });
  expect(await deliveries()).toHaveLength(100);
  held.respond(204);
  await until(() => expect(world.receiver.received).toHaveLength(2));
  await until(isFree);
  // Stop the deliverer, because it would claim the webhook before the test does.
  await world.deliverer.stop();
  await pend(1);
  await log('none', 1);
  const claim = () => claimWebhooks(world.db, now(), 0, 1, { except: [], only: undefined });
  expect(await claim()).toEqual([]);
  await passTime();
  expect(await claim()).toHaveLength(1);
});

it('a failing endpoint gets 8 messages, then a pause as long as Retry-After or a growing backoff', async () => {
  await log('dead', 20);
  let attempts = 0;
  world.receiver.respond = async () => {
    attempts += 1;
    await sleep(30);
    return 503;
  };
  world.receiver.retryAfter = '7200';
  await round();
  expect(attempts).toBe(8);
  expect(await seconds('next_attempt_time')).toBeGreaterThan(7_100);
  const first = (await deliveries())[0]!;
  expect(first).toMatchObject({ state: 'PENDING', attempts: 1, status: 503, delay: 7_200 });
  expect(first.milliseconds).toBeGreaterThanOrEqual(20);
  expect(first.first_failure_time).toEqual(first.last_attempt_time);

  await passTime();
  world.receiver.retryAfter = undefined;
  await query('UPDATE webhooks SET failures = 4');
  await query('UPDATE webhook_deliveries SET attempts = 4');
  await round();
  // Check the fifth delay. The delays are 5, 15, 45, 135, and 405 s, each up to a quarter shorter or longer.
  const fifth = (delay: unknown) => Number(delay) > 300 && Number(delay) < 510;
  expect(await seconds('next_attempt_time')).toSatisfy(fifth);
  const tried = (await deliveries()).filter((d) => d.attempts === 5);
  expect(tried).toHaveLength(8);
  for (const { delay } of tried) expect(delay).toSatisfy(fifth);
  expect(new Set(tried.map(({ delay }) => delay)).size).toBeGreaterThan(1);
  expect(tried[0]!.first_failure_time).toEqual(first.first_failure_time);
  expect(Number(tried[0]!.last_attempt_time)).toBeGreaterThan(Number(first.last_attempt_time));
  expect(await query('SELECT failures FROM webhooks')).toEqual([{ failures: 5 }]);

  await save(world, world.webhook);
  expect(await query('SELECT failures FROM webhooks')).toEqual([{ failures: 0 }]);
  expect(await seconds('next_attempt_time')).toBeLessThanOrEqual(0);
  const resumed = await query(
    'SELECT DISTINCT first_failure_time, next_attempt_time <= now() AS due FROM webhook_deliveries',
  );
  expect(resumed).toEqual([{ first_failure_time: null, due: true }]);
});

it('later versions of a resource wait for its failed delivery, and other resources do not wait', async () => {
  await log('a', 1, 2);
  world.receiver.respond = ({ name }) => (name.endsWith('/a1') ? 500 : 204);
  await taken(2);
  await log('a', 1, 3);
  await log('b', 1);
  // Postpone the deliveries before the webhook is due, because the deliverer runs by itself once the webhook is due.
  await query(`UPDATE webhook_deliveries SET next_attempt_time = now() + interval '1 hour'`);
  await until(isFree);
  const [{ attempts }] = (await deliveries()) as [{ attempts: number }];
  await query('UPDATE webhooks SET next_attempt_time = create_time');
  await taken(6);
  const rows = await deliveries();
  const waiting = rows.filter(({ resource }) => resource === 'a1');
  expect(waiting.map((delivery) => [delivery.state, delivery.attempts])).toEqual([
    ['PENDING', attempts],
    ...Array(4).fill(['PENDING', 0]),
  ]);
  expect(new Set(waiting.map(({ next_attempt_time }) => Number(next_attempt_time))).size).toBe(1);
  expect(rows.filter(({ resource }) => resource === 'b1')).toMatchObject([{ state: 'DELIVERED' }]);

  await passTime();
  await round();
  const again = (await deliveries()).filter(({ resource }) => resource === 'a1');
  expect(again[0]!.attempts).toBe(attempts + 1);
  expect(new Set(again.map(({ next_attempt_time }) => Number(next_attempt_time))).size).toBe(1);
});

it('a round that takes too long ends, and another round delivers the rest', async () => {
  await log('slow', 20);
  const { now: clock } = performance;
  let ahead = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clock.call(performance) + ahead);
  world.receiver.respond = () => {
    ahead = 6_000;
    return 204;
  };
  const settling = vi.spyOn(world.db, 'tx');
  await round();
  await until(() => expect(world.receiver.received).toHaveLength(20));
  await until(isFree);
  expect(settling.mock.calls.length).toBeGreaterThan(1);
});

it('the next run throws the error of a failed round once', async () => {
  await log('fails', 1);
  const settling = vi.spyOn(world.db, 'tx').mockRejectedValueOnce(new Error('settling failed'));
  const told: string[] = [];
  const run = () => world.deliverer.run().catch((error) => told.push(String(error)));
  await until(async () => {
    await run();
    expect(settling).toHaveBeenCalled();
  });
  await sleep(50);
  for (let i = 0; i < 3; i++) await run();
  expect(told).toEqual(['Error: settling failed']);
});

it('an attempt that is interrupted by a shutdown is not counted', async () => {
  await log('cut', 1);
  const { arrived, respond } = holding(world.receiver);
  await until(async () => {
    await world.deliverer.run();
    expect(arrived).toHaveLength(1);
  });
  await world.deliverer.stop();
  expect(await deliveries()).toMatchObject([{ state: 'PENDING', attempts: 0 }]);
  respond(204);
});

it('in production nothing is sent over http', async () => {
  await log('plain', 1);
  world.deliverer = world.another({ destinations: everywhere(false) });
  await round();
  expect(await deliveries()).toMatchObject([{ attempts: 1, status: null, error: 'the URL must be https' }]);
  expect(world.receiver.received).toEqual([]);
});

it.each([
  [201, 'DELIVERED', 'delivered'],
  [299, 'DELIVERED', 'delivered'],
  [302, 'PENDING', 'rejected'],
  [401, 'PENDING', 'rejected'],
  [429, 'PENDING', 'rejected'],
  [503, 'PENDING', 'rejected'],
  [undefined, 'PENDING', 'unreachable'],
])(
  'with status %s a delivery is %s, counted as %s with the time since the change',
  async (status, state, outcome) => {
    await query(
      `INSERT INTO changes (party, name, kind, version, time) VALUES ($1, 'x', 'PARTY', 1, now() - interval '1000 seconds')`,
      [world.party.name],
    );
    if (status === undefined) await save(world, { ...world.webhook, url: 'http://127.0.0.1:9/' });
    else world.receiver.respond = () => status;
    await round();
    expect(await deliveries()).toMatchObject([{ state, status: status ?? null, attempts: 1 }]);
    expect(world.observed).toEqual([
      [outcome, expect.toSatisfy((lag: number) => lag >= 1_000 && lag < 2_000)],
    ]);
  },
);

it('a filter of two kinds accepts both, and no third kind', async () => {
  await save(world, { ...world.webhook, kinds: ['PARTY', 'MEASUREMENT'] });
  for (const kind of ['CERTIFICATE', 'MEASUREMENT', 'PARTY']) {
    await query(
      `INSERT INTO changes (party, name, kind, version, time) VALUES ($1, $2, $2, 1, now() - interval '1 minute')`,
      [world.party.name, kind],
    );
  }
  await round();
  expect(
    (await query('SELECT kind FROM webhook_deliveries ORDER BY number')).map(({ kind }) => kind),
  ).toEqual(['MEASUREMENT', 'PARTY']);
});

it('a round ends immediately if its filter removes every change of a full page', async () => {
  await save(world, { ...world.webhook, kinds: ['PARTY'] });
  await log('skipped', MAX_PENDING);
  await isReadable();
  const rounds = world.ended;
  await world.deliverer.run();
  await until(() => expect(world.ended).toBe(rounds + 1));
  await isFree();
  expect(await world.deliverer.run()).toBe(false);
});
