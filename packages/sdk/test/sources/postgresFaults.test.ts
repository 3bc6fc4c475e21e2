/**
 * Tests faults of a PostgreSQL server and of its network. Each fault must cause an error, never a smaller count, and
 * the next count must succeed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectOf } from '../../src/provider/events/postgres/connection.ts';
import { inSession, type Row } from '../../src/provider/events/postgres/session.ts';
import { openPostgres } from '../../src/provider/events/postgres/source.ts';
import {
  type EventQuery,
  type Events,
  EventsUnavailable,
  openEvents,
  QueryFailed,
} from '../../src/provider/events.ts';
import { type FaultyServer, startFaultyServer } from './postgresFaultyServer.ts';
import { onPostgres } from './postgresTables.ts';

/** This number of people needs more than one batch of rows. */
const PEOPLE = 70_000;
const INTERVAL = { start: new Date('2026-07-01'), end: new Date('2026-07-04') };
const query: EventQuery = {
  eventGroups: [{ reference: 'spring', interval: INTERVAL }],
  vidSampling: { start: 0, width: 1 },
};

let server: FaultyServer;
let events: Events;
const admin = (sql: string) => onPostgres(server.url, (client) => client.query(sql));

beforeAll(async () => {
  server = await startFaultyServer();
  await admin(`CREATE SCHEMA ads; CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA ads TO reader;
    CREATE TABLE ads.events AS SELECT v AS vid, TIMESTAMPTZ '2026-07-02' AS timestamp, text 'spring' AS event_group
      FROM generate_series(1, ${PEOPLE}) AS v;
    CREATE TABLE ads.copy AS SELECT * FROM ads.events;
    CREATE VIEW ads.slow AS SELECT * FROM ads.copy WHERE pg_sleep(0.001) IS NOT NULL`);
});
beforeEach(async () => {
  await admin('REVOKE ALL ON ads.slow FROM reader; GRANT SELECT ON ads.events TO reader');
  events = await open('ads.events');
});
afterEach(async () => {
  server.proxy.treatment = 'PASS';
  await events.close();
});
afterAll(() => server.stop());

const open = (table: string) =>
  openEvents({ source: { kind: 'postgres', url: server.proxied, user: 'reader', table } });

/** Opens the view `ads.slow`, in which each row takes a millisecond. */
async function openSlow(): Promise<Events> {
  await admin('REVOKE ALL ON ads.events FROM reader; GRANT SELECT ON ads.slow TO reader');
  return open('ads.slow');
}

/** Counts people by streaming them. `onFirst` runs when the first batch has arrived. */
async function count(onFirst: () => unknown = () => {}, asked: EventQuery = query): Promise<number> {
  let people = 0;
  await events.people(asked, 1, async (vids) => {
    if (people === 0) await onFirst();
    people += vids.length;
  });
  return people;
}

const failure = (work: Promise<unknown>) =>
  work.then(
    (value) => expect.fail(`gave ${value}`),
    (error: Error) => error,
  );

/** Returns the number of statements that the agent is running. */
const running = () =>
  onPostgres(server.url, async (client) => {
    const { rows } = await client.query(
      `SELECT query FROM pg_stat_activity WHERE usename = 'reader' AND state = 'active'`,
    );
    return rows.length;
  });

/** Kills the server process of the agent's connection. The server then ends all connections and recovers. */
async function crash(): Promise<void> {
  const { rows } = await admin(`SELECT pid FROM pg_stat_activity WHERE usename = 'reader'`);
  for (const { pid } of rows) process.kill(pid, 'SIGKILL');
  await sleep(100);
  const isUp = () =>
    admin('SELECT').then(
      () => true,
      () => false,
    );
  expect(await until(isUp, 30_000)).toBe(true);
}

async function until(holds: () => Promise<boolean>, withinMs: number): Promise<boolean> {
  for (const end = Date.now() + withinMs; Date.now() < end; await sleep(50)) if (await holds()) return true;
  return holds();
}

type Fault = [what: string, work: () => Promise<unknown>, heal?: () => unknown];

describe('a count', () => {
  const FAULTS: Fault[] = [
    ['the connection ends in the middle of a row', () => whileTreated({ cutAfter: 300_001 }, count)],
    ['the connection is reset between two batches', () => count(() => server.proxy.cut())],
    [
      'an administrator ends the process during the count',
      () =>
        count(() => admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'`)),
    ],
    [
      'the privilege is revoked',
      async () => {
        await admin('REVOKE SELECT ON ads.events FROM reader');
        return count();
      },
    ],
    [
      'a policy hides rows',
      async () => {
        await admin(`ALTER TABLE ads.events ENABLE ROW LEVEL SECURITY;
          CREATE POLICY few ON ads.events TO reader USING (vid < 10)`);
        return count();
      },
      () => admin('DROP POLICY few ON ads.events; ALTER TABLE ads.events DISABLE ROW LEVEL SECURITY'),
    ],
  ];
  /** More faults, for stress runs. The last two end only when a time limit of ten seconds is over. */
  const MORE_FAULTS: Fault[] = [
    ['no server listens', () => whileTreated('CLOSE', count)],
    ['the connection ends during the greeting', () => whileTreated({ cutAfter: 30 }, count)],
    [
      'the connection is reset before the figures arrive',
      () =>
        during(
          () => events.frequencies(query, 3),
          () => server.proxy.cut(),
        ),
    ],
    ['the server restarts during the count', () => count(() => server.restart())],
    ['a process of the server crashes, and all processes restart', () => count(crash)],
    [
      'the account may open no connection',
      async () => {
        await admin('ALTER ROLE reader CONNECTION LIMIT 0');
        return count();
      },
      () => admin('ALTER ROLE reader CONNECTION LIMIT -1'),
    ],
    [
      'a column is renamed',
      async () => {
        await admin('ALTER TABLE ads.events RENAME vid TO person');
        return count();
      },
      () => admin('ALTER TABLE ads.events RENAME person TO vid'),
    ],
    [
      'a VID does not fit into 64 bits',
      async () => {
        await admin(
          `ALTER TABLE ads.events ALTER vid TYPE numeric; UPDATE ads.events SET vid = 1e19 WHERE vid = 7`,
        );
        return count();
      },
      () =>
        admin(`UPDATE ads.events SET vid = 7 WHERE vid = 1e19; ALTER TABLE ads.events ALTER vid TYPE int`),
    ],
    ['the server does not respond', () => whileTreated('SILENCE', count)],
    [
      'the table is locked',
      async () => {
        const locked = onPostgres(server.url, async (client) => {
          await client.query('BEGIN; LOCK TABLE ads.events');
          await sleep(15_000);
        });
        await sleep(200);
        const failed = await failure(count());
        await locked;
        throw failed;
      },
    ],
  ];
  it.each<Fault>(isStress ? [...FAULTS, ...MORE_FAULTS] : FAULTS)(
    'fails if %s, and is complete afterward',
    async (_what, work, heal) => {
      const error = await failure(work());
      expect(error).toBeInstanceOf(EventsUnavailable);
      expect(error).not.toBeInstanceOf(QueryFailed);
      expect(error.message).toMatch(/^[A-Z].*[.)]$/);
      await heal?.();
      await admin('GRANT SELECT ON ads.events TO reader');
      expect(await count()).toBe(PEOPLE);
    },
  );

  async function whileTreated<T>(
    treatment: FaultyServer['proxy']['treatment'],
    work: () => Promise<T>,
  ): Promise<T> {
    server.proxy.treatment = treatment;
    try {
      return await work();
    } finally {
      server.proxy.treatment = 'PASS';
    }
  }

  async function during(work: () => Promise<unknown>, act: () => unknown): Promise<unknown> {
    await events.close();
    events = await openSlow();
    const done = work();
    done.catch(() => {});
    expect(await until(async () => (await running()) > 0, 5000)).toBe(true);
    act();
    try {
      return await done;
    } finally {
      await events.close();
      await admin('REVOKE ALL ON ads.slow FROM reader; GRANT SELECT ON ads.events TO reader');
      events = await open('ads.events');
    }
  }
});

it('a count over a slow network includes every person', async () => {
  server.proxy.treatment = { bytesPerSecond: 4_000_000 };
  expect(await count()).toBe(PEOPLE);
});

it('all statements of a query see the same state of the table', async () => {
  const source = await openPostgres(
    { kind: 'postgres', url: server.proxied, user: 'reader', table: 'ads.events' },
    {},
  );
  const asked = { vid: 'vid', selections: [{ references: ['spring'], interval: INTERVAL }] };
  const counts = () => source.read({}, async (reader) => [(await reader.histogram(asked, 1)).counts[0]]);
  const before = await source.read({}, async (reader) => {
    const first = await reader.histogram(asked, 1);
    await admin('DELETE FROM ads.events WHERE vid > 100');
    return [first.counts[0], (await reader.histogram(asked, 1)).counts[0]];
  });
  expect(before).toEqual([BigInt(PEOPLE), BigInt(PEOPLE)]);
  expect(await counts()).toEqual([100n]);
  await admin(
    `INSERT INTO ads.events SELECT v, '2026-07-02', 'spring' FROM generate_series(101, ${PEOPLE}) AS v`,
  );
  await source.close();
});

it('an error that a row callback throws fails the statement, also in batches of rows', async () => {
  const connect = connectOf({ kind: 'postgres', url: server.proxied, user: 'reader', table: 'ads.events' });
  const options = { connect, timeoutMs: 10_000, canCheckClient: false };
  const statement = { sql: 'SELECT generate_series(1, 20000)', values: [] };
  const refuse = ([text]: Row) => {
    if (text === '10000') throw new RangeError('not this row');
  };
  await expect(inSession(options, [], (session) => session.each(statement, refuse))).rejects.toThrow(
    new RangeError('not this row'),
  );
  const batching = { begin: () => 0, add: (_batch: number, row: Row) => refuse(row) };
  const batches = inSession(options, [], (session) => Array.fromAsync(session.batches(statement, batching)));
  await expect(batches).rejects.toThrow(new RangeError('not this row'));
});

describe('a running statement', () => {
  const start = async (signal?: AbortSignal) => {
    await events.close();
    events = await openSlow();
    const done = events.frequencies({ ...query, signal }, 3);
    done.catch(() => {});
    expect(await until(async () => (await running()) > 0, 5000)).toBe(true);
    return { done };
  };
  const ended = () => until(async () => (await running()) === 0, 2000);

  it('ends within two seconds after the connections of the agent are cut', async () => {
    const { done } = await start();
    server.proxy.treatment = 'CLOSE';
    server.proxy.cut();
    await expect(done).rejects.toThrow(EventsUnavailable);
    expect(await ended()).toBe(true);
  });

  it('ends within two seconds after the events are closed', async () => {
    const { done } = await start();
    await events.close();
    await expect(done).rejects.toThrow('The events were closed.');
    expect(await ended()).toBe(true);
  });

  it.each([
    ['', 'PASS'],
    [', even if no second connection is possible', 'CLOSE'],
  ] as const)('ends within two seconds after an abort%s', async (_what, treatment) => {
    const stop = new AbortController();
    const { done } = await start(stop.signal);
    server.proxy.treatment = treatment;
    stop.abort(new Error('stopped'));
    await expect(done).rejects.toThrow('stopped');
    expect(await ended()).toBe(true);
  });
});
