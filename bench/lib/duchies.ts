/** An exchange and three duchies in separate processes, and three providers whose agents upload shares or sketches. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Timeline } from '@measurement-exchange/contract';
import type { Config } from '@measurement-exchange/exchange/config';
import {
  createClient,
  createConsumer,
  createTrustStore,
  type MeasurementRequest,
  readCredentials,
} from '@measurement-exchange/sdk';
import { createAgent, openEvents, openLedger } from '@measurement-exchange/sdk/provider';
import { CAMPAIGN, EVENT_GROUP } from './audiences.ts';
import { type BenchExchange, type DevParty, startExchange } from './exchange.ts';
import type { BenchDatabase, BenchServer } from './postgres.ts';

const MEX = join(import.meta.dirname, '../../packages/cli/src/mex.ts');
const READY_MS = 60_000;
const POLL_MS = 100;
/** A privacy budget that is large enough for all measurements of a run together. */
const BUDGET = { epsilon: 1000, delta: 0.5, rho: 1000 };

export interface BenchDuchy {
  name: string;
  role: 'first worker' | 'second worker' | 'aggregator';
  pid: number;
  database: BenchDatabase;
}

/** A measurement request without its data providers, because every request goes to all providers. */
type Asked = Omit<MeasurementRequest, 'dataProviders'>;

const REACH_AND_FREQUENCY: Asked = {
  type: 'reachAndFrequency',
  privacy: { epsilon: 0.1, delta: 1e-9 },
  maximumFrequency: 8,
};

export interface MpcWorld {
  exchange: BenchExchange;
  duchies: BenchDuchy[];
  /** Creates this many measurements in parallel, waits for their results, and returns their timelines. */
  compute(count: number, request?: Asked): Promise<Timeline[]>;
  /**
   * Starts one more mill (a process that runs stages) for each duchy. In the result, `stagesDone` returns the number of
   * stages that these mills have done, and `stop` ends the mills.
   */
  addMills(): Promise<{ stagesDone(): number; stop(): Promise<void> }>;
  stop(): Promise<void>;
}

export interface MpcWorldOptions {
  server: BenchServer;
  people: number;
  /** One events file per provider. */
  files: string[];
  /** The folder with the index of the population's VIDs. */
  folder: string;
  /** The Liquid Legions protocols that the exchange enables. Share shuffle is always enabled. */
  protocols?: Config['protocols'];
}

export async function startMpcWorld({
  server,
  people,
  files,
  folder,
  protocols = {},
}: MpcWorldOptions): Promise<MpcWorld> {
  await using opened = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'mex-bench-mpc-'));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  const database = await server.createDatabase();
  opened.defer(() => database.drop());
  const names = { alpha: 'first worker', beta: 'second worker', gamma: 'aggregator' } as const;
  // Each duchy creates its own database on the exchange's PostgreSQL server. Drop these databases at the end.
  const databaseOf = (id: string) => `${new URL(database.url).pathname.slice(1)}_duchy_${id}`;
  for (const id of Object.keys(names)) {
    opened.defer(
      async () => void (await server.query(`DROP DATABASE IF EXISTS ${databaseOf(id)} WITH (FORCE)`)),
    );
  }
  const exchange = await startExchange({ databaseUrl: database.url, duchies: true, config: { protocols } });
  opened.defer(() => exchange.stop());
  const { dev, call } = exchange;
  await call(dev.operator.token, 'POST', `populations?populationId=people-${people}`, {
    displayName: `${people} people`,
    vidRanges: [{ start: 1, end: people }],
    default: true,
  });
  await Promise.all(dev.duchies.map(({ endpoint }) => untilReady(endpoint)));
  const duchies = childrenOf(exchange.pid).map(({ pid, command }): BenchDuchy => {
    const [, id] = /duchies\/(\w+)/.exec(command) as unknown as [string, keyof typeof names];
    return { name: `duchies/${id}`, role: names[id], pid, database: server.openDatabase(databaseOf(id)) };
  });
  for (const duchy of duchies) opened.defer(() => duchy.database.close());

  const [acme] = dev.measurementConsumers as [DevParty];
  const trust = createTrustStore([{ pem: dev.rootCertificatePem }]);
  const stopping = new AbortController();
  const agents: Promise<void>[] = [];
  const dataProviders: MeasurementRequest['dataProviders'][number][] = [];
  const accepted = {
    duchies: Object.fromEntries(dev.duchies.map(({ name }) => [name, { rootPem: dev.rootCertificatePem }])),
    allowHttp: true,
  };
  for (const [i, file] of files.entries()) {
    const party = dev.dataProviders[i]!;
    const client = createClient({ baseUrl: exchange.url, token: party.token });
    const { name } = await client.createEventGroup({
      parent: party.name,
      body: {
        measurementConsumer: acme.name,
        eventGroupReferenceId: EVENT_GROUP,
        mediaTypes: ['DISPLAY'],
        dataAvailabilityInterval: { startTime: CAMPAIGN.start, endTime: CAMPAIGN.end },
      },
    });
    dataProviders.push({ name: party.name, eventGroups: [{ name: name!, interval: CAMPAIGN }] });
    const events = await openEvents({ files: file });
    opened.defer(() => events.close());
    const ledger = openLedger(join(directory, `${i}.ledger`), BUDGET);
    opened.defer(() => ledger.close());
    const agent = createAgent({
      client,
      credentials: readCredentials(party),
      trust,
      events,
      ledger,
      references: 'unchecked',
      served: new Set([EVENT_GROUP]),
      shareShuffle: { ...accepted, populations: 'unchecked', folder },
      // Each provider has its own folder, because its agent keeps sketches there until a duchy has stored them.
      liquidLegions: { ...accepted, folder: join(directory, `${i}.sketches`) },
      pollMs: POLL_MS,
      log: (event) => {
        if (event.type === 'refused' || event.type === 'retrying') console.error(JSON.stringify(event));
      },
    });
    agents.push(agent.run(stopping.signal));
  }
  opened.defer(async () => {
    stopping.abort();
    await Promise.all(agents);
  });

  const client = createClient({ baseUrl: exchange.url, token: acme.token });
  const consumer = createConsumer({
    client,
    credentials: readCredentials(acme),
    trust,
    duchies: dev.duchies.map(({ name }) => name),
  });
  const world: Omit<MpcWorld, 'stop'> = {
    exchange,
    duchies,
    async compute(count, request = REACH_AND_FREQUENCY) {
      const created = await Promise.all(
        Array.from({ length: count }, () => consumer.create({ ...request, dataProviders })),
      );
      return Promise.all(
        created.map(async ({ name }) => {
          await consumer.wait(name!, { pollMs: POLL_MS });
          return client.getMeasurementTimeline({ name: name!, pageSize: 1000 }).page();
        }),
      );
    },
    async addMills() {
      const mills = await Promise.all(duchies.map(({ name }) => startMill(name, exchange, database.url)));
      return {
        stagesDone: () => mills.reduce((sum, mill) => sum + mill.stagesDone(), 0),
        stop: async () => void (await Promise.all(mills.map((mill) => mill.stop()))),
      };
    },
  };
  const running = opened.move();
  return { ...world, stop: () => running.disposeAsync() };
}

async function untilReady(endpoint: string): Promise<void> {
  for (const started = performance.now(); performance.now() - started < READY_MS; await sleep(POLL_MS)) {
    const response = await fetch(`${endpoint}/healthz`).catch(() => undefined);
    if (response?.ok) return;
  }
  throw new Error(`The duchy at ${endpoint} is not ready.`);
}

function childrenOf(pid: number): { pid: number; command: string }[] {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return pids
    .map((child) => ({ pid: Number(child), command: readFileSync(`/proc/${child}/cmdline`, 'utf8') }))
    .filter(({ command }) => command.includes('duchies/'));
}

async function startMill(name: string, { dataDir }: BenchExchange, databaseUrl: string) {
  const logFile = join(dataDir, `${name.split('/')[1]}-mill.out`);
  const log = openSync(logFile, 'w');
  const child = spawn(process.execPath, [MEX, 'duchy', 'run', '--as', name, '--only', 'mill'], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      MEX_DATA_DIR: dataDir,
      DATABASE_URL: databaseUrl,
    },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const exited = once(child, 'exit');
  const endWithUs = () => child.kill('SIGKILL');
  process.once('exit', endWithUs);
  const lines = (text: string) => readFileSync(logFile, 'utf8').split(`"msg":"${text}"`).length - 1;
  for (const started = performance.now(); lines('running') === 0; await sleep(POLL_MS)) {
    if (child.exitCode === null && performance.now() - started < READY_MS) continue;
    child.kill('SIGKILL');
    throw new Error(`The mill of ${name} did not start:\n${readFileSync(logFile, 'utf8')}`);
  }
  return {
    stagesDone: () => lines('stage done'),
    async stop() {
      child.kill('SIGTERM');
      await exited;
      process.off('exit', endWithUs);
    },
  };
}
