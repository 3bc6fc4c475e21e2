/**
 * Tests callers that wait for the next change. The change comes from this process or another process, with or without a
 * notification.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type DevParty, UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import { castOf, createMeasurement, errorOf } from '@measurement-exchange/testkit/steps';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { latestPosition, readChanges } from '../../src/database/changes.ts';
import { Database } from '../../src/database/db.ts';
import { ChangeBus } from '../../src/feed/changeBus.ts';
import { Feed } from '../../src/feed/feed.ts';
import { ChangeNotifier } from '../../src/feed/notifier.ts';
import { horizonAge } from '../../src/observability/gauges.ts';
import { page, tokenNow } from './follow.ts';

const exchange = useExchange({ rate: UNLIMITED });
let acme: DevParty;
let streamly: DevParty;
beforeAll(() => {
  ({ acme, streamly } = castOf(exchange));
});

/** Appends a change directly in the database, as another process would. */
async function appendElsewhere(party: string): Promise<void> {
  await exchange.database.query(
    `INSERT INTO changes (party, name, kind, version, time) VALUES ($1, $1 || '/certificates/x', 'CERTIFICATE', 1, now())`,
    [party],
  );
}

async function metric(name: string): Promise<string | undefined> {
  const text = await (await fetch(`${exchange.url}/metrics`)).text();
  return text
    .split('\n')
    .find((line) => line.startsWith(`${name} `))
    ?.split(' ')[1];
}
const watchers = () => metric('mex_changes_watchers');

describe('a page with waitSeconds', () => {
  it('returns as soon as there is a change', async () => {
    const token = await tokenNow(exchange, acme);
    const waits = page(exchange, acme, `waitSeconds=30&pageToken=${token}`);
    const measurement = await createMeasurement(exchange, acme, [streamly]);
    expect((await waits).changes[0]).toMatchObject({ name: measurement.name, version: 1 });
  });

  it('keeps waiting if the filter removes every change', async () => {
    const token = await tokenNow(exchange, acme);
    const waits = page(exchange, acme, `waitSeconds=30&filter.kinds=PARTY&pageToken=${token}`);
    await createMeasurement(exchange, acme, [streamly]);
    await exchange.call(acme.token, 'PATCH', `/v2alpha/${acme.name}`, { displayName: 'Acme' });
    expect((await waits).changes).toMatchObject([{ kind: 'PARTY' }]);
  });

  it('returns empty after waitSeconds if there is no change', async () => {
    const token = await tokenNow(exchange, streamly);
    const empty = await page(exchange, streamly, `waitSeconds=1&pageToken=${token}`);
    expect(empty).toEqual({ changes: [], nextPageToken: token });
  });

  it('includes changes of other processes even without a notification', async () => {
    const token = await tokenNow(exchange, acme);
    const waits = page(exchange, acme, `waitSeconds=30&pageToken=${token}`);
    await appendElsewhere(acme.name);
    expect((await waits).changes).toHaveLength(1);
  });

  it('causes no warning about leaked listeners on its connection', async () => {
    const warnings: string[] = [];
    const warned = ({ message }: Error) => warnings.push(message);
    process.on('warning', warned);
    let token = await tokenNow(exchange, acme);
    for (let i = 0; i < 12; i++) {
      const waits = page(exchange, acme, `waitSeconds=30&pageToken=${token}`);
      await exchange.call(acme.token, 'PATCH', `/v2alpha/${acme.name}`, { displayName: `Acme ${i}` });
      token = (await waits).nextPageToken;
    }
    process.off('warning', warned);
    expect(warnings).toEqual([]);
  });

  it('ends when its caller hangs up', async () => {
    const token = await tokenNow(exchange, streamly);
    const caller = new AbortController();
    const waits = fetch(
      `${exchange.url}/v2alpha/${streamly.name}/changes?waitSeconds=30&pageToken=${token}`,
      {
        headers: { authorization: `Bearer ${streamly.token}` },
        signal: caller.signal,
      },
    );
    await expect.poll(watchers, { timeout: 10_000 }).toBe('1');
    caller.abort();
    await expect(waits).rejects.toThrow('aborted');
    await expect.poll(watchers, { timeout: 10_000 }).toBe('0');
  });

  it('occupies no slot while it waits, so that waiting requests do not block others', async () => {
    const token = await tokenNow(exchange, acme);
    const waits = Array.from({ length: 40 }, () => page(exchange, acme, `waitSeconds=30&pageToken=${token}`));
    const running = () => metric('mex_requests{state="running"}');
    await expect.poll(watchers, { timeout: 10_000 }).toBe('40');
    await expect.poll(running, { timeout: 10_000 }).toBe('0');
    const measurement = await createMeasurement(exchange, acme, [streamly]);
    for (const { changes } of await Promise.all(waits)) expect(changes[0].name).toBe(measurement.name);
  });

  it('rejects waitSeconds above 30', async () => {
    const reply = await exchange.call(acme.token, 'GET', `/v2alpha/${acme.name}/changes?waitSeconds=31`);
    expect(errorOf(reply)).toBe('400 INVALID_ARGUMENT INVALID_FIELD_VALUE waitSeconds');
  });
});

describe('the change notifier', () => {
  let db: Database;
  let notifier: ChangeNotifier;
  let woken: (string[] | 'all')[];
  const connection = () => ({ connectionString: exchange.database.url });
  const open = (changed: (parties: Iterable<string> | undefined) => void): [Database, ChangeNotifier] => {
    const bus = new ChangeBus();
    bus.on('changed', changed);
    const onChanges = (parties: ReadonlySet<string>) => bus.committed(parties);
    const database = new Database({ connection: connection(), applicationName: 'test', onChanges });
    return [database, new ChangeNotifier(database, connection(), pino({ level: 'silent' }), bus)];
  };
  beforeAll(async () => {
    [db, notifier] = open((parties) => woken.push(parties === undefined ? 'all' : [...parties]));
    woken = [];
    await notifier.start();
  });
  afterAll(async () => {
    await notifier.stop();
    await db.close();
  });

  /**
   * Returns what the notifier of these tests has announced: the names of parties, or `all`. This notifier stands for a
   * process other than the exchange.
   */
  const told = () => woken.flat();

  it('announces on start that all parties may have changed', () => {
    expect(woken[0]).toBe('all');
  });

  it('announces a commit to other processes', async () => {
    woken = [];
    await createMeasurement(exchange, acme, [streamly]);
    await expect.poll(told).toEqual(expect.arrayContaining([acme.name, streamly.name]));
  });

  it('announces a commit to its own process immediately, and announces no rollback', async () => {
    woken = [];
    await db.tx('test', async (tx) => tx.wakes!('dataProviders/x'));
    expect(woken).toEqual([['dataProviders/x']]);
    await db.tx('test', async (tx) => {
      tx.wakes!('dataProviders/y');
      tx.rollback();
    });
    expect(woken).toHaveLength(1);
  });

  it('announces that all parties may have changed if it receives a notification without names', async () => {
    woken = [];
    await exchange.database.query(`SELECT pg_notify('mex_changes', 'another *')`);
    await expect.poll(() => woken).toContain('all');
  });

  it('announces the parties of concurrent commits, or all if there are too many, and ignores its own messages', async () => {
    const heard: string[] = [];
    const [otherDb, other] = open((parties) => heard.push(...(parties ?? ['all'])));
    await other.start();
    const commit = (...parties: string[]) =>
      db.tx('test', async (tx) => {
        for (const party of parties) tx.wakes!(`dataProviders/${party}`);
      });
    woken = [];
    await Promise.all([commit('1', '2'), commit('3'), commit('4')]);
    const four = ['1', '2', '3', '4'].map((party) => `dataProviders/${party}`);
    await expect.poll(() => heard).toEqual(expect.arrayContaining(four));
    // These names do not fit in one PostgreSQL notification, which must be shorter than 8,000 bytes. Therefore the
    // exchange must announce that all parties may have changes.
    const many = Array.from({ length: 400 }, (_, i) => `${i}`.padStart(10, 'x'));
    const count = heard.filter((party) => party === 'all').length;
    await commit(...many);
    await expect.poll(() => heard.filter((party) => party === 'all').length).toBe(count + 1);
    // When this notification arrives, all earlier notifications have arrived, too.
    await exchange.database.query(`SELECT pg_notify('mex_changes', 'another dataProviders/fence')`);
    await expect.poll(told).toContain('dataProviders/fence');
    for (const party of four) expect(told().filter((one) => one === party)).toEqual([party]);
    expect(told().filter((one) => one.endsWith('/xxxxxxxxx1'))).toHaveLength(1);
    await other.stop();
    await otherDb.close();
  });

  it('logs why it cannot listen, and retries', async () => {
    const heard: unknown[] = [];
    const lines: string[] = [];
    const to = { connectionString: 'postgres://nobody@127.0.0.1:9/none' };
    const bus = new ChangeBus();
    bus.on('changed', (parties) => heard.push(parties));
    const other = new ChangeNotifier(db, to, pino({}, { write: (line) => lines.push(line) }), bus);
    await other.start();
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 40, component: 'changes', reason: expect.stringContaining('ECONNREFUSED') },
    ]);
    to.connectionString = exchange.database.url;
    await expect.poll(() => heard).toEqual([undefined]);
    await other.stop();
  });

  it('listens again after its connection was lost', async () => {
    woken = [];
    await exchange.database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'mex changes'`,
    );
    await expect.poll(() => woken).toContain('all');
    woken = [];
    await exchange.database.query(`SELECT pg_notify('mex_changes', 'another dataProviders/z')`);
    await expect.poll(told).toContain('dataProviders/z');
  });
});

it('exports as a metric how long the oldest transaction has held back later changes', async () => {
  const db = new Database({
    connection: { connectionString: exchange.database.url },
    applicationName: 'test',
  });
  const read = horizonAge(db);
  const age = async () => (await read())[0]!.value;
  const holder = await db.pool.connect();
  await holder.query('BEGIN; SELECT pg_current_xact_id()');
  // Run a later transaction that also gets an ID. The metric is above 0 only if the open transaction above holds back
  // the changes of a later transaction.
  await db.pool.query('SELECT pg_current_xact_id()');
  // Poll, because the first reading only remembers which transaction is the oldest, and returns 0.
  await expect.poll(age).toBeGreaterThan(0);
  const { now } = performance;
  vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 60_000);
  const later = await age();
  vi.restoreAllMocks();
  expect(later).toBeGreaterThan(50);
  expect(later).toBeLessThan(1_000);
  await holder.query('COMMIT');
  await expect.poll(age).toBe(0);
  holder.release();
  await db.close();
});

describe('the feed', () => {
  it('ends all waits when it stops, and lets no follower wait afterwards', async () => {
    const db = new Database({
      connection: { connectionString: exchange.database.url },
      applicationName: 'test',
    });
    const feed = new Feed(db, new ChangeBus());
    const follower = feed.follow(acme.name);
    const end = await latestPosition(db, acme.name);
    const waits = follower.wait(end);
    expect([feed.followers, feed.followersOf(acme.name)]).toEqual([1, 1]);
    feed.stop();
    await waits;
    await follower.wait(end);
    follower.close();
    follower.close();
    expect([feed.followers, feed.followersOf(acme.name)]).toEqual([0, 0]);
    await db.close();
  });

  it('reads the log only once if nothing changes', async () => {
    const db = new Database({
      connection: { connectionString: exchange.database.url },
      applicationName: 'test',
    });
    // Transactions of other tests on this server may delay changes, so wait until all changes can be read.
    const unreadable =
      'SELECT FROM changes WHERE party = $1 AND xid >= pg_snapshot_xmin(pg_current_snapshot())';
    const readable = async () => exchange.database.query(unreadable, [acme.name]);
    await expect.poll(readable, { timeout: 10_000 }).toEqual([]);
    const end = await latestPosition(db, acme.name);
    const read = vi.spyOn(db, 'query');
    const feed = new Feed(db, new ChangeBus());
    const follower = feed.follow(acme.name);
    void follower.wait(end);
    await sleep(2_500);
    expect(read.mock.calls.filter(([{ name }]) => name === 'changes_page')).toHaveLength(1);
    expect(await readChanges(db, acme.name, end, 1)).toEqual({ changes: [], next: end, ahead: undefined });
    follower.close();
    feed.stop();
    vi.restoreAllMocks();
    await db.close();
  });
});
