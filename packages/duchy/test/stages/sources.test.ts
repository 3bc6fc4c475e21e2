/**
 * Runs three duchies, and three agents that each have their events in a different kind of store. The figures must match
 * the figures from the same events in files.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import { populationFingerprint } from '@measurement-exchange/mpc/shares';
import type { MeasurementRequest } from '@measurement-exchange/sdk';
import { estimatePeople } from '@measurement-exchange/sdk/liquidLegions';
import {
  createAgent,
  type Events,
  type EventsConfig,
  openEvents,
  openLedger,
} from '@measurement-exchange/sdk/provider';
import { skipped, startClickHouse } from '@measurement-exchange/testkit/clickhouse/server';
import { reachSketch } from '@measurement-exchange/testkit/mpc/ring';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { ALPHA, BETA, GAMMA } from './ringLies.ts';
import { SIZE } from './sketches.ts';
import { type DuchyWorld, startDuchyWorld, VID_RANGES } from './world.ts';

const INTERVAL = { start: '2026-07-01T00:00:00Z', end: '2026-07-04T00:00:00Z' };
const FILTER = "age >= 18 && device.matches('^ph')";
/** Epsilon is so large that the noise is practically zero. */
const EXACT = { epsilon: 1e5, delta: 0 };
const BUDGET = { epsilon: 1e6, delta: 1, rho: 1e3 };
const MAXIMUM = 3;
const SKETCH = { ...SIZE, maxSize: 300 };

/** A row of the events table, as SQL and CSV represent it. */
type Row = [vid: number | null, time: string, reference: string, age: number, device: string];

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);
/** How often each provider reached each person. The audiences overlap and lie within the population. */
const REACHED: Map<number, number>[] = [
  new Map(range(1, 300).map((vid) => [vid, 1])),
  new Map([...range(201, 400), ...range(1001, 1050)].map((vid) => [vid, 2])),
  new Map(range(301, 350).map((vid) => [vid, 5])),
];
/** Rows that must not count: each has no VID, or the wrong age, device, time or event group. */
const LEFT_OUT: Row[] = [
  [500, '2026-07-02 12:00:00', 'spring', 17, 'phone'],
  [501, '2026-07-02 12:00:00', 'spring', 30, 'tv'],
  [502, '2026-06-30 23:59:59', 'spring', 30, 'phone'],
  [503, '2026-07-04 00:00:00', 'spring', 30, 'phone'],
  [504, '2026-07-02 12:00:00', 'summer', 30, 'phone'],
  [null, '2026-07-02 12:00:00', 'spring', 30, 'phone'],
];
const rowsOf = (people: Map<number, number>): Row[] => [
  ...LEFT_OUT,
  ...[...people].flatMap(([vid, times]) =>
    range(1, times).map(
      (n): Row => [vid, `2026-07-0${1 + (n % 3)} 00:00:00`, 'spring', 18 + (vid % 60), 'phone'],
    ),
  ),
];

/** Writes rows to a store and returns the settings that open it. */
type Store = (rows: Row[]) => Promise<Pick<EventsConfig, 'files' | 'source'>>;

let world: DuchyWorld;
let folder: string;
const eventGroups: string[] = [];
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  const [firstWorker, secondWorker, aggregator] = [ALPHA, BETA, GAMMA];
  world = await startDuchyWorld({
    protocols: {
      honestMajorityShareShuffle: {
        ...{ firstWorker, secondWorker, aggregator, noiseMechanism: 'NONE' },
        ...{ reachRingModulus: 127, reachAndFrequencyRingModulus: 127 },
      },
      reachOnlyLiquidLegionsV2: { workers: [BETA, ALPHA], aggregator, ...SKETCH },
    },
  });
  folder = await mkdtemp(join(tmpdir(), 'mex-sources-'));
  for (const { client, name } of world.providers) {
    const body = { measurementConsumer: world.acme.name, eventGroupReferenceId: 'spring' };
    eventGroups.push((await client.createEventGroup({ parent: name, body })).name!);
  }
});
afterAll(async () => {
  expect(await world.stop()).toEqual([]);
  await stack.disposeAsync();
  await rm(folder, { recursive: true, force: true });
});

const values = (rows: Row[]) =>
  rows
    .map(
      (row) => `(${row.map((cell) => (typeof cell === 'string' ? `'${cell}'` : String(cell))).join(', ')})`,
    )
    .join(', ');

const files: Store = async (rows) => {
  const file = join(folder, `${randomBytes(6).toString('hex')}.csv`);
  const lines = rows.map((row) => row.map((cell) => cell ?? '').join(','));
  await writeFile(file, `vid,timestamp,event_group,age,device\n${lines.join('\n')}\n`);
  return { files: file };
};

const postgres: Store = async (rows) => {
  const id = randomBytes(6).toString('hex');
  const run = async (sql: string) => {
    const client = new pg.Client({ connectionString: inject('serverUrl') });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await run(`CREATE SCHEMA ads_${id};
    CREATE TABLE ads_${id}.events (vid int8, timestamp timestamp, event_group text, age int4, device text);
    INSERT INTO ads_${id}.events VALUES ${values(rows)};
    CREATE ROLE reader_${id} LOGIN; GRANT USAGE ON SCHEMA ads_${id} TO reader_${id};
    GRANT SELECT ON ads_${id}.events TO reader_${id}`);
  stack.defer(() => run(`DROP SCHEMA ads_${id} CASCADE; DROP ROLE reader_${id}`));
  const url = new URL(inject('serverUrl'));
  [url.username, url.password] = ['', ''];
  return { source: { kind: 'postgres', url: url.href, table: `ads_${id}.events`, user: `reader_${id}` } };
};

const clickHouse: Store = async (rows) => {
  const server = stack.adopt(await startClickHouse(), ({ stop }) => stop());
  const { user: username, password } = server.writer;
  const client = stack.adopt(createClient({ url: server.url, username, password }), (each) => each.close());
  const table = `events_${randomBytes(6).toString('hex')}`;
  await client.command({
    query: `CREATE TABLE ${table} (vid Nullable(Int64), timestamp DateTime('UTC'), event_group String, age Int32,
      device LowCardinality(String)) ENGINE = MergeTree ORDER BY (event_group, timestamp)`,
  });
  await client.command({ query: `INSERT INTO ${table} VALUES ${values(rows)}` });
  const { user, password: secret } = server.reader;
  return {
    source: { kind: 'clickhouse', url: server.url, table, user, password: async () => secret },
  };
};

const PRIVACY = { epsilon: 1, delta: 1e-9 };
const QUESTIONS = {
  shareShuffle: {
    type: 'reachAndFrequency',
    maximumFrequency: MAXIMUM,
    protocol: 'honestMajorityShareShuffle',
    privacy: PRIVACY,
  },
  reachOnly: { type: 'reach', protocol: 'reachOnlyLiquidLegionsV2', privacy: PRIVACY },
  direct: {
    type: 'reachAndFrequency',
    maximumFrequency: MAXIMUM,
    protocol: 'direct',
    privacy: EXACT,
    vidSampling: { start: 0.25, width: 0.5 },
  },
} satisfies Record<string, Partial<MeasurementRequest>>;

function agentOf(i: number, events: Events, own: string) {
  const provider = world.providers[i]!;
  const ledger = stack.adopt(openLedger(join(own, `${i}.sqlite`), BUDGET), (each) => each.close());
  const roots = world.duchies.map(({ duchy }) => [duchy.name, { rootPem: world.root.certificatePem }]);
  const computations = {
    ...{ duchies: Object.fromEntries(roots), allowHttp: true, folder: join(own, `${i}.shares`) },
    noiseMechanisms: ['NONE'],
  } as const;
  return createAgent({
    client: provider.client,
    credentials: provider,
    trust: world.trust,
    events,
    ledger,
    references: 'unchecked',
    served: new Set(['spring']),
    shareShuffle: { ...computations, populations: [populationFingerprint(VID_RANGES)] },
    liquidLegions: computations,
    log: (event) => expect(event).not.toMatchObject({ type: 'refused' }),
  });
}

/** Runs the measurements and returns the consumer's results. Provider i has its events in store i. */
async function figuresOver(stores: Store[]) {
  const own = join(folder, randomBytes(6).toString('hex'));
  await mkdir(own);
  const opened: Events[] = [];
  for (const [i, store] of stores.entries()) {
    const events = await openEvents(await store(rowsOf(REACHED[i]!)));
    opened.push(stack.adopt(events, (each) => each.close()));
  }
  const agents = opened.map((events, i) => agentOf(i, events, own));
  const figures: Record<string, unknown> = {};
  for (const [name, question] of Object.entries(QUESTIONS)) {
    const measurement = await world.ask({
      ...question,
      dataProviders: world.providers.map((provider, i) => ({
        name: provider.name,
        eventGroups: [{ name: eventGroups[i]!, interval: INTERVAL, filter: FILTER }],
      })),
    });
    await world.turn();
    for (const agent of agents) expect(await agent.once()).toEqual({ handled: 1, failed: 0 });
    const done = await world.finish(measurement);
    expect(done).toMatchObject({ state: 'SUCCEEDED', protocolConfig: { [question.protocol]: {} } });
    const { total, dataProviders } = await world.consumer.open(done);
    figures[name] = { total, dataProviders };
  }
  return figures;
}

test(`events in files, PostgreSQL, and ${skipped ?? 'ClickHouse'} give the same exact figures as files alone`, async () => {
  const figures = await figuresOver([files, postgres, skipped === undefined ? clickHouse : postgres]);
  const total = new Map<number, number>();
  for (const [vid, times] of REACHED.flatMap((people) => [...people])) {
    total.set(vid, (total.get(vid) ?? 0) + Math.min(times, MAXIMUM));
  }
  const registers = reachSketch(SKETCH, total).active.reduce((sum, active) => sum + active, 0);
  expect(figures).toMatchObject({
    shareShuffle: { total: { deduplicated: { reach: { value: total.size } } } },
    reachOnly: { total: { deduplicated: { reach: { value: estimatePeople(SKETCH, registers) } } } },
  });
  expect(figures).toEqual(await figuresOver([files, files, files]));
});
