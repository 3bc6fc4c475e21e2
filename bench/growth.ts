/**
 * Measures whether the cost of a request grows with the tables. Sends the same requests to exchanges with 1,000,
 * 100,000 and 1,000,000 requisitions, and to an exchange with only 60 requisitions for comparison.
 */
import { randomUUID } from 'node:crypto';
import { etagOf } from '@measurement-exchange/exchange/internal/domain/measurement';
import { type BenchExchange, startExchange } from './lib/exchange.ts';
import { figure, ratio, show } from './lib/figures.ts';
import type { Timing } from './lib/generator.ts';
import type { Bench } from './lib/options.ts';
import type { BenchDatabase } from './lib/postgres.ts';
import { atMost, printTable, progress, type Section } from './lib/report.ts';
import type { Template } from './lib/requests.ts';
import {
  copyId,
  copyMeasurement,
  copyRequisitionId,
  createWorld,
  fulfillment,
  type World,
} from './lib/world.ts';

const PAGE = 50;
const DEEP_PAGE = 350;
/** The maximum number of open requisitions of the provider whose list the benchmark reads page by page. */
const OPEN = 35_000;
/** The size of the "empty" table: enough rows to fill a page, but few enough that no index has a second level. */
const EMPTY = 60;
/** The maximum number of measurements that one transaction creates, which bounds the size of the transaction. */
const PORTION = 10_000;

interface Grown {
  requisitions: number;
  database: BenchDatabase;
  exchange: BenchExchange;
  world: World;
  /**
   * The page token that reads page 350, or the last full page if the table has fewer pages. Empty if that is the first
   * page.
   */
  deepPage: string;
}

interface Case {
  name: string;
  template: (grown: Grown) => Template;
  items: (grown: Grown, count: number) => Promise<string[][]>;
  token: (world: World) => string;
  consumes?: boolean;
}

const list = ({ world }: Grown, more = '') =>
  `/v2alpha/${world.providers[0]!.name}/requisitions?filter.states=UNFULFILLED&pageSize=${PAGE}${more}`;

const CASES: Case[] = [
  {
    name: 'first page',
    template: (grown) => ({ method: 'GET', path: list(grown) }),
    items: async () => [[]],
    token: (world) => world.providers[0]!.token,
  },
  {
    name: `page ${DEEP_PAGE}`,
    template: (grown) => ({
      method: 'GET',
      path: list(grown, grown.deepPage === '' ? '' : `&pageToken=${grown.deepPage}`),
    }),
    items: async () => [[]],
    token: (world) => world.providers[0]!.token,
  },
  {
    name: 'get',
    template: ({ world }) => ({ method: 'GET', path: `/v2alpha/${world.consumer.name}/measurements/<<0>>` }),
    items: async ({ requisitions }) => {
      const open = Math.min(OPEN, requisitions);
      return Array.from({ length: 1_000 }, (_, i) => [copyId('open-0', (i * 7) % Math.min(open, PORTION))]);
    },
    token: (world) => world.consumer.token,
  },
  {
    name: 'fulfill',
    template: ({ world }) => ({
      method: 'POST',
      path: `/v2alpha/${world.providers[0]!.name}/requisitions/<<0>>:fulfillDirect`,
      body: JSON.stringify({ ...fulfillment(world.providers[0]!, ''), etag: '<<1>>' }),
    }),
    items: async ({ database, world }, count) => {
      const prefix = randomUUID();
      await copyMeasurement(database, world.open, { prefix, count, single: true });
      return Array.from({ length: count }, (_, i) => {
        const id = copyRequisitionId(prefix, i, 0);
        return [id, etagOf({ id, version: 1 })];
      });
    },
    token: (world) => world.providers[0]!.token,
    consumes: true,
  },
];

export async function growth(bench: Bench): Promise<Section> {
  const sizes = bench.quick ? [EMPTY, 1_000, 20_000] : [EMPTY, 1_000, 100_000, 1_000_000];
  const all: Grown[] = [];
  const loadSeconds: Record<number, number> = {};
  try {
    for (const requisitions of sizes) {
      const started = performance.now();
      all.push(await grow(bench, requisitions));
      loadSeconds[requisitions] = (performance.now() - started) / 1000;
    }
    const timings = await measureAll(bench, all);
    const [empty, ...grown] = all;
    const ms = (name: string, { requisitions }: Grown) =>
      timings.get(`${name} ${requisitions}`)!.map((timing) => timing.p50);
    const ratios = CASES.flatMap(({ name }) =>
      grown.map((each) => ({
        name,
        requisitions: each.requisitions,
        // The "empty" table has no page 350, so its first page is the baseline.
        ratio: ratio(ms(name, each), ms(name === `page ${DEEP_PAGE}` ? 'first page' : name, empty!)),
      })),
    );
    printTable(
      `Growth (p50 in milliseconds, one connection; ${OPEN.toLocaleString('en-US')} open for the provider, or all of them)`,
      CASES.map(({ name }) => ({
        operation: name,
        ...Object.fromEntries(all.map((each) => [label(each), show(figure(ms(name, each)))])),
        ...Object.fromEntries(
          ratios.filter((r) => r.name === name).map((r) => [`× at ${count(r.requisitions)}`, show(r.ratio)]),
        ),
      })),
    );
    const largest = sizes.at(-1)!;
    return {
      name: 'growth',
      data: { loadSeconds, timings: Object.fromEntries(timings) },
      verdicts: ratios
        .filter(({ requisitions }) => requisitions === largest)
        .map(({ name, ratio }) =>
          atMost(`${name} at ${count(largest)} requisitions, of the empty table`, ratio, 1.5),
        ),
    };
  } finally {
    for (const { exchange, database } of all) {
      await exchange.stop();
      await database.drop();
    }
  }
}

const count = (n: number) => n.toLocaleString('en-US');
const label = ({ requisitions }: Grown) => (requisitions === EMPTY ? 'empty' : count(requisitions));

/**
 * Creates an exchange whose database has this many requisitions. At most OPEN of them are open requisitions of one
 * provider. The others belong to measurements that have three providers and already have results.
 */
async function grow(bench: Bench, requisitions: number): Promise<Grown> {
  const database = await bench.server.createDatabase();
  const exchange = await startExchange({ databaseUrl: database.url });
  const world = await createWorld(exchange, database);
  const open = Math.min(requisitions, OPEN);
  const portions = async (kind: 'open' | 'done', total: number) => {
    const source = kind === 'open' ? world.open : world.succeeded;
    for (let done = 0; done < total; done += PORTION) {
      progress(`growth: ${count(requisitions)} requisitions, ${kind} ${count(done)} of ${count(total)}`);
      const copies = { prefix: `${kind}-${done / PORTION}`, count: Math.min(PORTION, total - done) };
      await copyMeasurement(database, source, { ...copies, single: kind === 'open' });
    }
  };
  await portions('open', open);
  await portions('done', Math.floor((requisitions - open) / world.providers.length));
  await database.query('VACUUM ANALYZE');
  const grown = { requisitions, database, exchange, world, deepPage: '' };
  return { ...grown, deepPage: await deepPageToken(grown) };
}

async function deepPageToken(grown: Grown): Promise<string> {
  const { exchange, world } = grown;
  let token = '';
  for (let page = 2; page <= DEEP_PAGE; page++) {
    const path = list(grown, token === '' ? '' : `&pageToken=${token}`).slice('/v2alpha/'.length);
    const response = await exchange.call(world.providers[0]!.token, 'GET', path);
    const { nextPageToken } = response as { nextPageToken?: string };
    if (nextPageToken === undefined) break;
    // Do not keep the token of a page that would hold fewer than PAGE requisitions.
    if (grown.requisitions < DEEP_PAGE * PAGE && page * PAGE > grown.requisitions) break;
    token = nextPageToken;
  }
  return token;
}

/**
 * Returns the timings of all cases. The key of an entry is `<case> <requisitions>`. Each round measures every case at
 * every table size.
 */
async function measureAll(bench: Bench, all: Grown[]): Promise<Map<string, Timing[]>> {
  const timings = new Map<string, Timing[]>();
  await bench.server.query('CHECKPOINT');
  for (let round = 0; round <= bench.rounds; round++) {
    progress(`growth: round ${round} of ${bench.rounds}`);
    for (const { name, template, items, token, consumes } of CASES) {
      for (let i = 0; i < all.length; i++) {
        const grown = all[(i + round) % all.length]!;
        const timing = await bench.generator.call('closed', {
          targets: [{ port: grown.exchange.port, token: token(grown.world) }],
          connections: 1,
          template: template(grown),
          items: await items(grown, bench.quick ? 100 : 500),
          ...(!consumes && { seconds: bench.quick ? 0.4 : 1.5 }),
        });
        if (Object.keys(timing.rejected).length > 0) {
          throw new Error(`${name} at ${grown.requisitions}: rejected ${JSON.stringify(timing.rejected)}`);
        }
        const key = `${name} ${grown.requisitions}`;
        if (round > 0) timings.set(key, [...(timings.get(key) ?? []), timing]);
      }
    }
  }
  return timings;
}
