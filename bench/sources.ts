/**
 * Compares reading a provider's events from files, PostgreSQL and ClickHouse with running equivalent handwritten SQL,
 * which each store's own client library sends.
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  clickHouseStore,
  crowdStore,
  type EventStore,
  filesStore,
  postgresStore,
  type StorePlace,
} from './lib/eventStores.ts';
import { digits, figure, ratio, show } from './lib/figures.ts';
import type { Bench } from './lib/options.ts';
import { startWorker, type Worker } from './lib/processes.ts';
import { atMost, printTable, progress, type Section, type Verdict } from './lib/report.ts';
import type { SourceReader } from './lib/sourceReader.ts';

const [EVENTS, QUICK_EVENTS] = [10_000_000, 100_000];
const EVENTS_PER_PERSON = 3;
const [CROWD, QUICK_CROWD] = [100_000_000, 100_000];
const MAX_HISTOGRAM_RATIO = 1.2;
const MAX_PEOPLE_RATIO = 1.5;
const MAX_MEMORY_MB = 300;
/**
 * After the rounds of a store have taken this long in all, no new round of the store begins. Without this limit, a
 * store with 100 million events would take an hour.
 */
const MAX_MS = 180_000;

type Rounds = Record<'ownHistogram' | 'bareHistogram' | 'ownPeople' | 'barePeople', number[]>;

export async function sources({ server, rounds, quick, events, operations }: Bench): Promise<Section> {
  const count = events ?? (quick ? QUICK_EVENTS : EVENTS);
  const people = Math.ceil(count / EVENTS_PER_PERSON);
  const folder = await mkdtemp(join(tmpdir(), 'mex-sources-'));
  const stores: [name: string, open: () => Promise<EventStore | undefined>][] = [
    ['files', () => filesStore(folder, count, people)],
    ['postgres', () => postgresStore(server, count, people)],
    ['clickhouse', () => clickHouseStore(count, people)],
  ];
  const results = [];
  try {
    for (const [name, open] of stores) {
      if (operations && !operations.includes(name)) continue;
      progress(`${name}: writing ${count} events`);
      const store = await open();
      if (store === undefined) continue;
      try {
        results.push(await measure(store, rounds));
      } finally {
        await store.remove();
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  if (results.length > 0) {
    printTable(
      `${count.toLocaleString('en-US')} events of ${people.toLocaleString('en-US')} people`,
      results.map(rowOf),
    );
  }
  const isCrowdWanted = operations?.includes('crowd') ?? true;
  const crowd = isCrowdWanted ? await streamCrowd(quick ? QUICK_CROWD : CROWD) : undefined;
  return {
    name: 'sources',
    data: { events: count, people, results, crowd },
    verdicts: [...results.flatMap(verdictsOf), ...(crowd ? [crowdVerdict(crowd)] : [])],
  };
}

/**
 * Streams a large audience from ClickHouse once. Returns the number of people, the time in milliseconds, and the
 * agent's peak memory in bytes. Returns undefined if ClickHouse cannot run on this machine.
 */
async function streamCrowd(people: number) {
  progress(`clickhouse: streaming ${people} people`);
  const store = await crowdStore(people);
  if (store === undefined) return undefined;
  const reader = await startReader();
  try {
    await reader.call('openOwn', store.place as never);
    const { people: found, ms } = await reader.call('ownPeople', undefined as never);
    if (found !== people) throw new Error(`ClickHouse: a crowd of ${people} people was counted as ${found}.`);
    return { people, ms, memory: await reader.call('memory', undefined as never) };
  } finally {
    await reader.call('close', undefined as never);
    await reader.stop();
    await store.remove();
  }
}

function crowdVerdict({ people, memory }: { people: number; memory: number }): Verdict {
  const what = `ClickHouse: agent that streams ${people.toLocaleString('en-US')} people, MB`;
  return atMost(what, figure([megabytes(memory)]), MAX_MEMORY_MB);
}

type Result = Awaited<ReturnType<typeof measure>>;

async function measure({ name, place }: EventStore, rounds: number) {
  const [own, bare] = [await startReader(), await startReader()];
  try {
    await own.call('openOwn', place as never);
    await bare.call('openBare', place as never);
    const times: Rounds = { ownHistogram: [], bareHistogram: [], ownPeople: [], barePeople: [] };
    const started = performance.now();
    let found = 0;
    // Round 0 starts processes and fills caches. It counts only if it takes so long that no other round follows.
    for (let round = 0; round <= rounds && (round === 0 || performance.now() - started < MAX_MS); round++) {
      progress(`${name}: round ${round}`);
      for (const what of Object.keys(times) as (keyof Rounds)[]) {
        const timed = await (what.startsWith('own') ? own : bare).call(what, undefined as never);
        if (found !== 0 && timed.people !== found)
          throw new Error(`${name}: ${what} found ${timed.people} people, not ${found}.`);
        found = timed.people;
        times[what].push(timed.ms);
      }
    }
    if (times.ownPeople.length > 1) for (const each of Object.values(times)) each.shift();
    const memory = await own.call('memory', undefined as never);
    const isServer = place.kind !== 'files';
    return {
      name,
      isServer,
      found,
      times,
      memory,
      bytesPerPerson: isServer ? (await wireBytes(place)) / found : undefined,
    };
  } finally {
    for (const reader of [own, bare]) {
      await reader.call('close', undefined as never);
      await reader.stop();
    }
  }
}

const startReader = (): Promise<Worker<SourceReader>> => startWorker<SourceReader>('sourceReader.ts');

/** Counts the bytes that a server sends to an agent that streams all people once. */
async function wireBytes(place: Exclude<StorePlace, { kind: 'files' }>): Promise<number> {
  const url = new URL(place.url);
  const [host, port] = [decodeURIComponent(url.hostname), Number(url.port || 5432)];
  const isSocket = host.startsWith('/');
  let bytes = 0;
  const proxy = createServer((inner) => {
    const outer = connect(isSocket ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
    outer.on('data', (chunk) => {
      bytes += chunk.length;
    });
    inner.pipe(outer).pipe(inner);
    for (const socket of [inner, outer]) socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const through = `${url.protocol}//127.0.0.1:${(proxy.address() as AddressInfo).port}${url.pathname}`;
  const reader = await startReader();
  try {
    await reader.call('openOwn', { ...place, url: through } as never);
    const before = bytes;
    await reader.call('ownPeople', undefined as never);
    return bytes - before;
  } finally {
    await reader.call('close', undefined as never);
    await reader.stop();
    proxy.close();
  }
}

const megabytes = (bytes: number) => bytes / 2 ** 20;

function rowOf({ name, times, memory, bytesPerPerson }: Result) {
  return {
    store: name,
    'histogram ms': show(figure(times.ownHistogram)),
    'bare ms': show(figure(times.bareHistogram)),
    'people ms': show(figure(times.ownPeople)),
    'bare people ms': show(figure(times.barePeople)),
    'agent MB': digits(megabytes(memory)),
    'bytes/person': bytesPerPerson === undefined ? '–' : digits(bytesPerPerson),
  };
}

/**
 * Compares the figures with their targets. The agent's memory has no target for events in files, because DuckDB then
 * runs inside the agent.
 */
function verdictsOf({ name, isServer, times, memory }: Result): Verdict[] {
  const histogram = ratio(times.ownHistogram, times.bareHistogram);
  const people = ratio(times.ownPeople, times.barePeople);
  return [
    atMost(`${name}: histogram, of the bare statement`, histogram, MAX_HISTOGRAM_RATIO),
    atMost(`${name}: people, of the bare client`, people, MAX_PEOPLE_RATIO),
    ...(isServer ? [atMost(`${name}: agent, MB`, figure([megabytes(memory)]), MAX_MEMORY_MB)] : []),
  ];
}
