/**
 * Measures the delay from the commit of a change until watchers receive it, and compares it with the delay of plain
 * PostgreSQL NOTIFY messages in the same run.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type BenchExchange, startExchange } from './exchange.ts';
import { digits, figure, ratio, show } from './figures.ts';
import { measuredOperations } from './operations.ts';
import type { Bench } from './options.ts';
import { type BenchDatabase, startServer } from './postgres.ts';
import { startWorker, type Worker } from './processes.ts';
import { atMost, printTable, progress, type Section } from './report.ts';
import type { Latency, Watchers } from './watchers.ts';
import { createWorld } from './world.ts';

const WATCHERS = 200;
/**
 * The number of changes that each party receives when a measurement is created: the consumer sees the measurement and
 * three requisitions, and each of the three providers sees its own requisition.
 */
const CHANGES = [4, 1, 1, 1];
const PARTIES = CHANGES.length;
const CHANGES_PER_SECOND = 300;
const CREATIONS_PER_SECOND = CHANGES_PER_SECOND / CHANGES.reduce((sum, count) => sum + count);
const COMMITTED = 'extract(epoch FROM pg_xact_commit_timestamp(xid::xid))::float8 * 1000 AS ms';

interface Way {
  name: string;
  open: () => Promise<void>;
  /** Makes changes for this many seconds. */
  drive: (seconds: number) => Promise<void>;
  /** A query that returns the changes since a time, with their commit times. */
  commits: string;
}

export async function feedLatency(bench: Bench): Promise<Omit<Section, 'name'>> {
  // The latencies are computed from commit times, which PostgreSQL records only with `track_commit_timestamp`. Each
  // NOTIFY listener needs its own connection.
  const server = await startServer({ track_commit_timestamp: 'on', max_connections: String(WATCHERS + 100) });
  const database = await server.createDatabase();
  const exchanges: BenchExchange[] = [];
  const watchers = await startWorker<Watchers>('watchers.ts');
  try {
    exchanges.push(await startExchange({ databaseUrl: database.url }));
    exchanges.push(await startExchange({ databaseUrl: database.url, like: exchanges[0]!.dataDir }));
    const world = await createWorld(exchanges[0]!, database);
    const parties = [world.consumer.name, ...world.providers.map((provider) => provider.name)];
    const creation = (await measuredOperations(world, database)).find(({ name }) =>
      name.startsWith('create'),
    )!;
    const create = async (seconds: number) => {
      const items = await creation.items(Math.ceil(seconds * CREATIONS_PER_SECOND));
      const requests = items.map((item) => ({ template: creation.template, item }));
      const target = { port: exchanges[0]!.port, token: creation.caller.token };
      const callers = [{ target, perSecond: CREATIONS_PER_SECOND, requests }];
      const { rejected } = await bench.generator.call('open', { callers, seconds, connections: 16 });
      if (Object.keys(rejected).length > 0) throw new Error(`Rejected: ${JSON.stringify(rejected)}`);
    };
    const feedWay = (name: string, { port, dev }: BenchExchange): Way => ({
      name,
      open: () =>
        watchers.call(
          'watch',
          parties.map((party) => ({
            port,
            path: `/v2alpha/${party}/changes:watch`,
            token: [...dev.measurementConsumers, ...dev.dataProviders].find((each) => each.name === party)!
              .token,
            count: WATCHERS / PARTIES,
          })),
        ),
      drive: create,
      commits: `SELECT name || '@' || version AS what, ${COMMITTED} FROM changes WHERE time > $1`,
    });
    const ways = [
      feedWay('watched where it is written', exchanges[0]!),
      feedWay('watched at another exchange', exchanges[1]!),
      bareWay(`bare NOTIFY, ${WATCHERS} listeners`, WATCHERS / PARTIES, database, watchers),
      bareWay(`bare NOTIFY, ${PARTIES} listeners`, 1, database, watchers),
    ];
    const measured = new Map<string, Latency[]>(ways.map(({ name }) => [name, []]));
    const seconds = bench.quick ? 2 : 10;
    for (let round = 0; round <= bench.rounds; round++) {
      for (const way of ways) {
        progress(`feed: latency, ${way.name}, round ${round} of ${bench.rounds}`);
        await way.open();
        await way.drive(round === 0 ? 2 : 1);
        const since = new Date();
        await way.drive(seconds);
        await settled(watchers);
        const rows = await database.query(way.commits, [since]);
        const result = await watchers.call(
          'latency',
          new Map(rows.map((row) => [row.what as string, row.ms as number])),
        );
        await watchers.call('close', undefined);
        if (round > 0) measured.get(way.name)!.push(result);
      }
    }
    const p = (name: string, which: 'p50' | 'p99') => measured.get(name)!.map((each) => each[which]);
    printTable(
      `From commit to watcher, milliseconds (${WATCHERS} watchers of four parties, ${CHANGES_PER_SECOND} changes a second, each to ${WATCHERS / PARTIES})`,
      ways.map(({ name }) => ({
        way: name,
        'arrivals a round': digits(measured.get(name)![0]!.arrivals),
        p50: show(figure(p(name, 'p50'))),
        p99: show(figure(p(name, 'p99'))),
        max: show(figure(measured.get(name)!.map((each) => each.max))),
      })),
    );
    const yardstick = ways[2]!.name;
    return {
      data: Object.fromEntries(measured),
      verdicts: ways
        .slice(0, 2)
        .flatMap(({ name }) => [
          atMost(`p50, ${name}, of ${yardstick}`, ratio(p(name, 'p50'), p(yardstick, 'p50')), 3),
          atMost(`p99, ${name}, of ${yardstick}`, ratio(p(name, 'p99'), p(yardstick, 'p99')), 3),
          atMost(`p99, ${name}, ms`, figure(p(name, 'p99')), 50),
        ]),
    };
  } finally {
    await watchers.stop();
    for (const exchange of exchanges) await exchange.stop();
    await server.stop();
  }
}

/** Waits until the watchers have received no further change for half a second. */
async function settled(watchers: Worker<Watchers>): Promise<void> {
  for (let before = -1; ; ) {
    const count = await watchers.call('count', undefined);
    if (count === before) return;
    before = count;
    await sleep(500);
  }
}

/**
 * Returns the yardstick: transactions that each insert one row and send NOTIFY messages. Each party has its own
 * channel, with `each` listeners. On this channel, each transaction sends as many messages as the party receives
 * changes for one new measurement.
 */
function bareWay(name: string, each: number, database: BenchDatabase, watchers: Worker<Watchers>): Way {
  const channels = Array.from({ length: PARTIES }, (_, i) => `bare_${i}`);
  const told = channels.flatMap((channel, i) =>
    Array.from({ length: CHANGES[i]! }, (_, k) => ({ channel, label: `${channel}.${k}` })),
  );
  const notify = told.map(({ channel, label }) => `pg_notify('${channel}', '${label}/' || n)`).join(', ');
  return {
    name,
    open: async () => {
      await database.query(
        'CREATE TABLE IF NOT EXISTS bare (n int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, xid xid8 DEFAULT pg_current_xact_id(), time timestamptz DEFAULT now())',
      );
      await watchers.call('listen', { databaseUrl: database.url, channels, each });
    },
    drive: async (seconds) => {
      const pool = new pg.Pool({ connectionString: database.url, max: 16 });
      const started = performance.now();
      const pending: Promise<unknown>[] = [];
      for (let i = 0; i < seconds * CREATIONS_PER_SECOND; i++) {
        await sleep(Math.max(0, started + (i * 1000) / CREATIONS_PER_SECOND - performance.now()));
        pending.push(
          pool.query({
            name: 'bare',
            text: `WITH row AS (INSERT INTO bare DEFAULT VALUES RETURNING n) SELECT ${notify} FROM row`,
          }),
        );
      }
      await Promise.all(pending);
      await pool.end();
    },
    commits: `SELECT label || '/' || n AS what, ${COMMITTED}
                FROM bare, unnest(ARRAY['${told.map(({ label }) => label).join("','")}']) AS label WHERE time > $1`,
  };
}
