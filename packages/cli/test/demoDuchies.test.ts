/**
 * Tests `mex serve --dev` with its demo duchies, one process each, from the first start to the final stop. Also runs
 * the shell lines of the quickstarts, the tour and the operator's manual on this exchange, exactly as printed.
 */

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import { DuckDBInstance } from '@duckdb/node-api';
import { startPostgres } from '@measurement-exchange/exchange/postgres';
import type { MeasurementResult } from '@measurement-exchange/sdk';
import { inSpan } from '@measurement-exchange/server/telemetry';
import { skipped, startClickHouse, type TestServer } from '@measurement-exchange/testkit/clickhouse/server';
import { useCollector } from '@measurement-exchange/testkit/collector';
import {
  type ExchangeProcess,
  ROOT,
  spawnMex,
  startExchangeProcess,
  urlOf,
} from '@measurement-exchange/testkit/process';
import { isStress } from '@measurement-exchange/testkit/rounds';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type DevFile, readDevFile } from '../src/files/devFile.ts';
import { truthOf } from '../src/publishers/audience.ts';
import { askPublishers } from '../src/publishers/firstQuestions.ts';
import { type DocumentShell, openDocumentShell } from './documentShell.ts';
import { mex, mexJson, run } from './mexInProcess.ts';

vi.setConfig({ testTimeout: 240_000 });
const WAIT = { timeout: 90_000, interval: 100 };
const NAMES = ['alpha', 'beta', 'gamma'];
const PUBLISHER_IDS = ['northlight', 'pinwheel', 'harbor'];

const collector = useCollector();
let folder: string;
let exchange: ExchangeProcess;
let shell: DocumentShell;
let clickHouse: TestServer | undefined;
const dataDir = () => join(folder, 'data');
const start = async (env: Record<string, string> = {}) => {
  // Trace only the requests that belong to one of this test's spans.
  const telemetry = {
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '200' },
    ...{ OTEL_TRACES_SAMPLER: 'parentbased_always_off', OTEL_METRICS_EXPORTER: 'none' },
  };
  exchange = await startExchangeProcess({
    dataDir: dataDir(),
    env: { MEX_DUCHIES: 'on', MEX_AGENTS: 'on', CLICKHOUSE_URL: clickHouse?.url ?? '', ...telemetry, ...env },
  });
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mex-demo-duchies-'));
  vi.stubEnv('MEX_DATA_DIR', dataDir());
  vi.stubEnv('DATABASE_URL', undefined);
  if (skipped === undefined) clickHouse = await startClickHouse();
  await start();
  shell = await openDocumentShell(folder, { MEX_DATA_DIR: dataDir() });
});
afterAll(async () => {
  shell.close();
  await exchange.kill();
  await clickHouse?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Returns the duchies that dev.json lists. */
const duchies = async (): Promise<DevFile['duchies']> =>
  JSON.parse(await readFile(join(dataDir(), 'dev.json'), 'utf8')).duchies;
const answers = ({ endpoint }: DevFile['duchies'][number]) =>
  fetch(`${endpoint}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );
const allReady = () =>
  vi.waitUntil(async () => (await Promise.all((await duchies()).map(answers))).every(Boolean), WAIT);

/** Returns the process ID of the most recent start of a duchy. */
async function pidOf(id: string): Promise<number> {
  const log = await readFile(join(dataDir(), 'duchies', id, 'duchy.log'), 'utf8');
  const lines = log
    .trim()
    .split('\n')
    .filter((line) => line.includes('"msg":"running"'));
  return JSON.parse(lines.at(-1)!).pid;
}

/** Returns the process IDs of all starts of the agents, oldest first. */
async function publisherPids(): Promise<number[]> {
  const log = await readFile(join(dataDir(), 'publishers', 'agents.log'), 'utf8');
  return [...log.matchAll(/^(\d+) runs the agents/gm)].map(([, pid]) => Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it('mex serve --dev starts three duchies in separate processes, and lists them in dev.json', async () => {
  // This check begins before all duchies respond, and waits for those that are still starting.
  expect(await mex('duchy', 'check', '--as', 'alpha')).toMatch(
    /ok +endpoint .*(\n.*)*\nok +peers .*\nok +peers .*\n/,
  );
  expect(process.exitCode).toBeUndefined();
  await allReady();
  expect((await duchies()).map(({ name }) => name)).toEqual(NAMES.map((id) => `duchies/${id}`));
  const pids = await Promise.all(NAMES.map(pidOf));
  expect(new Set([...pids, exchange.pid]).size).toBe(4);
  expect(await mexJson('populations', 'show', 'demo', '--as', 'acme')).toMatchObject({
    size: 1_000_000,
    default: true,
  });
  // A smaller population makes the vectors shorter and the computations faster.
  await mex('admin', 'populations', 'create', 'few', '--range', '1-50000', '--default');
});

const metrics = async () => (await fetch(`${exchange.url}/metrics`)).text();

// This test must run before the tests below. It checks that the exchange has reported no findings yet, and the later
// tests may cause some.
it('the documented onboarding commands let a new consumer and a new provider measure together', async () => {
  const shown = await shell.typed('docs/operating.md', '## Onboarding', '## Rotating keys');
  expect(shown).toHaveLength(6);
  const [, identities, onboarded, callers, created, fulfilled] = shown;
  const fingerprints = [...identities!.matchAll(/SHA-256 (\S+)/g)].map(([, fingerprint]) => fingerprint!);
  expect(fingerprints).toHaveLength(2);
  for (const fingerprint of fingerprints) expect(onboarded).toContain(fingerprint);
  expect(onboarded!.match(/is on board/g)).toHaveLength(2);
  expect(onboarded!.match(/done/g)).toHaveLength(10);
  expect(callers).toMatch(
    /"principal":"measurementConsumers\/initech".*\n.*"principal":"dataProviders\/lakeside"/,
  );
  expect(created).toMatch(/^measurementConsumers\/initech\/measurements\/[a-z0-9]+\n$/);
  expect(fulfilled).toBe('FULFILLED\nSUCCEEDED\n');
  // The metric counts findings, such as invalid signatures, chains and keys. The exchange has reported none.
  expect(await metrics()).not.toMatch(/^mex_findings_total\{/m);
});

it('docs/operating.md explains exactly the mex_ metrics that the exchange serves', async () => {
  const served = new Set([...(await metrics()).matchAll(/^# HELP (mex_\w+)/gm)].map(([, name]) => name!));
  const document = await readFile(join(ROOT, 'docs/operating.md'), 'utf8');
  const explained = new Set([...document.matchAll(/^\| `(mex_\w+)`/gm)].map(([, name]) => name!));
  expect([...explained].sort()).toEqual([...served].sort());
});

it('the quickstart for providers ends with a figure near the truth', async () => {
  const shown = await shell.typed('docs/quickstart/provider.md');
  expect(shown).toHaveLength(7);
  expect(shown[1]).toMatch(/rows 30,000, /);
  expect(shown[1]).toMatch(/device +string +0 +2\n/);
  expect(shown[1]).toMatch(/autumn +30000 +28 /);
  expect(shown[2]).toMatch(/ is described to measurementConsumers\/acme\.\n$/);
  expect(shown[3]).toContain('UNFULFILLED');
  expect(shown[4]).toContain('fulfilled in');
  expect(shown[5]).toMatch(/autumn +2026-10-01 +2026-10-28 +28 /);
  expect(shown[5]).toContain('No requisition is open.');
  const events = (await readFile('/tmp/impressions.csv', 'utf8')).trim().split('\n').slice(1);
  const people = new Set(events.filter((line) => line.endsWith('phone')).map((line) => line.split(',')[0]));
  const [, reach] = /reach +([\d,]+) +95 %/.exec(shown[6]!) ?? [];
  // The noise has a standard deviation of 50, so the limit of 300 is six deviations.
  expect(Math.abs(Number(reach!.replace(',', '')) - people.size)).toBeLessThan(300);
  expect(shown[6]).toMatch(/5\+ +█/);
});

/** Reads the figure that a command printed after this text. */
function figure(shown: string, after: string): number {
  const [, value] = new RegExp(`${after} +([\\d,]+) +95 %`).exec(shown) ?? [];
  return Number(value!.replaceAll(',', ''));
}

/** Computes the true figures from the events of these publishers. */
async function truth<T>(
  ids: string[],
  read: (truth: ReturnType<typeof truthOf>) => Promise<T>,
  where?: string,
) {
  const instance = await DuckDBInstance.create(':memory:');
  const db = await instance.connect();
  try {
    const files = ids.map((id) => join(dataDir(), 'publishers', `${id}.parquet`));
    return await read(truthOf(db, files, where));
  } finally {
    db.closeSync();
    instance.closeSync();
  }
}

it('the command that mex serve --dev prints counts the people of three publishers once, near the truth', async () => {
  const [line] = /^ +(\S.* mex -- measure .*)$/m.exec(exchange.output())!;
  const [shown] = await shell.run(line);
  const reach = figure(shown!, 'everybody counted once\\n +reach');
  const people = await truth(PUBLISHER_IDS, ({ reach }) => reach());
  // The noise of the workers and the aggregator together has a standard deviation of 70, so the limit of 500 is about
  // seven deviations.
  expect(Math.abs(reach - people)).toBeLessThan(5 * 100);
  const [, low, high] = /95 %: ([\d,]+) to ([\d,]+)/
    .exec(shown!)!
    .map((text) => Number(text.replaceAll(',', '')));
  expect(low! < reach && reach < high!).toBe(true);
});

it('mex serve --dev creates three example measurements, which are answered, and creates them only once', async () => {
  const references = ['frequency-of-one', 'women-on-phones', 'impressions-of-all'];
  const [acme] = exchange.dev.measurementConsumers;
  const list = `/v2alpha/${acme!.name}/measurements?pageSize=1000`;
  const asked = async (): Promise<string[]> => {
    const { measurements = [] } = (await exchange.call(acme!.token, 'GET', list)).json;
    return measurements.flatMap((each: { measurementReferenceId?: string; state: string }) =>
      references.includes(each.measurementReferenceId ?? '') ? [each.state] : [],
    );
  };
  await vi.waitUntil(async () => `${await asked()}` === 'SUCCEEDED,SUCCEEDED,SUCCEEDED', WAIT);
  const names = PUBLISHER_IDS.map((id) => `dataProviders/${id}`);
  await askPublishers(await readDevFile(dataDir()), names);
  expect(await asked()).toHaveLength(3);
});

it('the publisher harbor keeps its events in PostgreSQL', async () => {
  const { connection } = await startPostgres({ dataDir: dataDir() });
  const client = new pg.Client({ ...connection, user: 'harbor_reader', database: 'publishers' });
  await client.connect();
  const { rows } = await client.query('SELECT count(*)::int AS events FROM harbor.impressions');
  await client.end();
  expect(rows[0].events).toBe(await truth(['harbor'], async ({ impressions }) => impressions(1e6)));
  const log = await readFile(join(dataDir(), 'publishers', 'agents.log'), 'utf8');
  expect(log).not.toContain('keeps its events in a file');
});

it.skipIf(skipped !== undefined)(
  'the publisher pinwheel keeps its events in ClickHouse, if there is a server',
  async () => {
    const { url, writer } = clickHouse!;
    const client = createClient({ url, username: writer.user, password: writer.password });
    const result = await client.query({
      query: 'SELECT count() FROM mex_publishers.pinwheel',
      format: 'JSONCompact',
    });
    const { data } = await result.json<[string]>();
    await client.close();
    expect(Number(data[0]![0])).toBe(await truth(['pinwheel'], async ({ impressions }) => impressions(1e6)));
    const log = await readFile(join(dataDir(), 'publishers', 'agents.log'), 'utf8');
    expect(log).toContain('dataProviders/pinwheel has its events in clickhouse');
    expect(log).toContain('dataProviders/harbor has its events in postgres');
  },
);

it('the quickstart for consumers ends with figures near the truth, and every check passes', async () => {
  const shown = await shell.typed('docs/quickstart/consumer.md');
  expect(shown).toHaveLength(7);
  expect(shown[0]).toContain('everybody counted once');
  expect(shown[1]).toContain('Acme Cola: Autumn');
  expect(shown[2]).toMatch(/measurementConsumers\/acme\/measurements\//);
  // The noise in the total has a standard deviation of 78, so the limit of 600 is more than seven deviations.
  const impressions = await truth(['northlight'], (one) => one.impressions(10));
  const others = await truth(['harbor'], (one) => one.impressions(10));
  const total = figure(shown[3]!, 'all 2 providers\\n +impressions');
  expect(Math.abs(total - impressions - others)).toBeLessThan(600);
  expect(shown[4]).toMatch(/SUCCEEDED[\s\S]*computed[\s\S]*\nEverything holds\.\n$/);
  const women = await truth(['northlight'], ({ reach }) => reach(), `gender = 'F' AND device = 'phone'`);
  // The noise has a standard deviation of 5, so the limit of 50 is ten deviations.
  expect(Math.abs(figure(shown[5]!, 'reach') - women)).toBeLessThan(50);
  expect(shown[6]).toMatch(/autumn-(display|video) +2026-10-01 /);
});

it('the quickstart for operators onboards a party, suspends it and resumes it', async () => {
  const shown = await shell.typed('docs/quickstart/operator.md');
  expect(shown).toHaveLength(5);
  expect(shown[0]).toMatch(/dataProviders\/streamly .*ACTIVE/);
  const [fingerprint] = /SHA-256 \S+/.exec(shown[1]!)!;
  expect(shown[2]).toContain(fingerprint);
  expect(shown[2]).toMatch(/is on board\.[\s\S]*\ndataProviders\/hillside\n/);
  expect(shown[3]).toMatch(/is suspended;.*\nsuspended\n.*is active again;/);
  expect(shown[4]).toMatch(
    /resumeParty[\s\S]*found nothing wrong\.\n\{"status":"ready"\}\nmex_requests_total/,
  );
});

it('the commands in docs/tour.md print the documented results', async () => {
  const shown = await shell.typed('docs/tour.md');
  expect(shown.length).toBeGreaterThan(6);
  expect(shown[0]).toContain('"principal":"measurementConsumers/acme"');
  expect(shown[1]).toMatch(/^measurementConsumers\/acme\/measurements\/[a-z0-9]+\n$/);
  expect(shown[2]).toBe('the same one\n');
  expect(shown[3]).toBe('FULFILLED\n');
  expect(shown[4]).toBe('ABORTED\n');
  expect(shown[5]).toMatch(/^SUCCEEDED\n2 results\n/);
  expect(shown[5]).toMatch(
    / {2}COMPUTING {2}by dataProviders\/chirper\n.* {2}SUCCEEDED {2}by dataProviders\/chirper\n$/,
  );
  expect(shown[6]).toMatch(/^REFUSED\n.*INSUFFICIENT_PRIVACY_BUDGET: used up\n$/);
  expect(shown[7]).toBe('CANCELLED\n');
});

/**
 * The true reach of both publishers together, and the sum of their reaches. Streamly reached the VIDs 1 to 4,000, and
 * Chirper reached the VIDs 2,001 to 6,000.
 */
const [TRUTH, SUM] = [6_000, 8_000];
const PUBLISHERS = { streamly: 1, chirper: 2001 };

async function describe(): Promise<void> {
  for (const [publisher, first] of Object.entries(PUBLISHERS)) {
    const rows = Array.from(
      { length: 4000 },
      (_, i) => `${first + i},2026-10-0${1 + (i % 9)}T12:00:00Z,snow`,
    );
    await writeFile(join(folder, `${publisher}.csv`), `vid,timestamp,event_group\n${rows.join('\n')}\n`);
    await mex('event-groups', 'create', '--as', publisher, '--consumer', 'acme', '--reference', 'snow');
  }
}

/**
 * Asks for the reach in a sample of half of the people, and returns the name of the measurement without waiting for the
 * result. The sampling interval starts at 0.75 and wraps around, so it selects the last quarter and the first quarter.
 */
const ask = async () => {
  const providers = Object.keys(PUBLISHERS).flatMap((publisher) => ['--provider', `${publisher}:snow`]);
  const what = ['--from', '2026-10-01', '--to', '2026-10-29', '--sampling', '0.75,0.5'];
  const out = await mex('measure', 'reach', '--as', 'acme', ...providers, ...what, '--no-wait');
  return out.trim();
};

/**
 * Fulfills the measurement's requisitions. First waits until the duchies are ready, because otherwise the agent would
 * skip the requisition until its next run, and each run takes a second.
 */
async function fulfill(measurement: string): Promise<void> {
  const [streamly] = exchange.dev.dataProviders;
  const areReady = async () => {
    const open = `/v2alpha/${streamly!.name}/requisitions?filter.states=UNFULFILLED`;
    const { json } = await exchange.call(streamly!.token, 'GET', open);
    const own = json.requisitions.find((each: { measurement: string }) => each.measurement === measurement);
    return own.duchies !== undefined;
  };
  await vi.waitUntil(areReady, WAIT);
  await vi.waitUntil(async () => {
    for (const publisher of Object.keys(PUBLISHERS)) {
      const events = join(folder, `${publisher}.csv`);
      await mex('provider', 'run', '--as', publisher, '--events', events, '--once').catch(() => {});
    }
    const { state } = await mexJson('measurements', 'show', measurement, '--as', 'acme');
    return state !== 'AWAITING_REQUISITION_FULFILLMENT';
  }, WAIT);
}

async function requireNearTruth(measurement: string): Promise<void> {
  const { total }: MeasurementResult = await mexJson(
    ...['measurements', 'results', measurement, '--as', 'acme', '--wait', '--timeout', '60s'],
  );
  const { reach, aggregator, workers } = total.deduplicated!;
  expect([...workers, aggregator]).toEqual(NAMES.map((id) => `duchies/${id}`));
  expect(reach!.standardDeviation).toBeGreaterThan(10);
  expect(Math.abs(reach!.value - TRUTH)).toBeLessThan(5 * reach!.standardDeviation);
  expect(reach!.value).toBeLessThan(SUM - 5 * reach!.standardDeviation);
}

it('mex demo rejects a population that is larger than that of the exchange', async () => {
  const { error } = await run('demo', '--population', '50001', '--report', join(folder, 'report.html'));
  expect(String(error)).toMatch(
    /more than the 50,000 people .* mex admin populations create people --range 1-50001 --default/s,
  );
});

it('an interrupted mex demo leaves no open measurement and no event group', async () => {
  const [acme] = exchange.dev.measurementConsumers;
  const open = `/v2alpha/${acme!.name}/measurements?filter.states=AWAITING_REQUISITION_FULFILLMENT`;
  /** Counts the open measurements, except the measurement that the exchange itself creates after half a minute. */
  const count = async (): Promise<number> => {
    const { measurements = [] } = (await exchange.call(acme!.token, 'GET', open)).json;
    const isOther = (each: { measurementReferenceId?: string }) =>
      each.measurementReferenceId !== 'frequency-of-all';
    return measurements.filter(isOther).length;
  };
  const before = await count();
  const demo = run('demo', '--population', '50000', '--report', join(folder, 'report.html'));
  await vi.waitUntil(async () => (await count()) > before, WAIT);
  process.emit('SIGINT');
  const { err, error } = await demo;
  expect(err).toMatch(/cancelled \d+ that were still open/);
  expect(error).toMatchObject({ exitCode: 130, message: expect.stringMatching(/^interrupted\./) });
  expect(await count()).toBe(before);
  expect(await mex('event-groups', 'list', '--as', 'streamly')).not.toContain('autumn-video');
});

// Only `npm run stress` runs this slow test. Runs of this file with a planted bug (rig/planted) skip the test.
it.runIf(isStress)(
  'mex serve --dev restarts a killed duchy, and a reach with sampling is near the truth afterwards',
  async () => {
    await describe();
    const [before, pid] = [await duchies(), await pidOf('alpha')];
    const measurement = await inSpan({ name: 'the consumer' }, ask);
    process.kill(pid, 'SIGKILL');
    await vi.waitUntil(() => exchange.output().includes('a demo duchy ended: starting it again'), WAIT);
    expect(exchange.output()).toMatch(/"duchy":"duchies\/alpha","reason":"SIGKILL"/);
    await fulfill(measurement);
    await requireNearTruth(measurement);
    expect(await pidOf('alpha')).not.toBe(pid);
    expect(await duchies()).toEqual(before);

    // One trace shows the computation in all participating processes.
    const pids = [process.pid, exchange.pid, ...(await Promise.all(NAMES.map(pidOf)))];
    const spans = () => {
      const consumer = collector.spans.find(({ name }) => name === 'the consumer');
      return collector.spans.filter(({ traceId }) => traceId === consumer?.traceId);
    };
    const namesOf = (at: number) => spans().flatMap(({ pid, name }) => (pid === at ? [name] : []));
    // Wait for the spans, because each process exports its spans in batches.
    await vi.waitFor(() => {
      expect(pids.filter((at) => namesOf(at).length === 0)).toEqual([]);
      expect(namesOf(exchange.pid)).toContain('createMeasurement');
      expect(namesOf(pids.at(-1)!)).toEqual(expect.arrayContaining(['advance', 'stage AGGREGATION_PHASE']));
    }, WAIT);
  },
);

// Only `npm run stress` runs this slow test. Runs of this file with a planted bug (rig/planted) skip the test.
it.runIf(isStress)(
  'the duchies end when the exchange is killed, and start again with the same keys',
  async () => {
    const before = await duchies();
    const pids = await Promise.all(NAMES.map(pidOf));
    await exchange.kill('SIGKILL');
    await vi.waitUntil(() => !pids.some(isAlive), WAIT);
    await start();
    const withoutToken = (parties: DevFile['duchies']) => parties.map(({ token: _, ...party }) => party);
    expect(withoutToken(await duchies())).toEqual(withoutToken(before));
    await allReady();
  },
);

// This test restarts the exchange with the settings file that `mex duchy init` created, as the quickstart says.
it('the quickstart for duchies ends with a figure near the truth that its new duchy helped to compute', async () => {
  const document = 'docs/quickstart/duchy.md';
  const [made] = await shell.typed(document, '', '## 2');
  const here = `MEX_DATA_DIR=${dataDir()}`;
  const printed = (command: string) =>
    new RegExp(`^ +${here} mex (${command} .*)$`, 'm').exec(made!)![1]!.split(' ');
  expect(await mex(...printed('admin onboard'))).toContain('duchies/delta is on board.');
  const [, MEX_CONFIG] = new RegExp(`^ +${here} MEX_CONFIG=(\\S+) npm start$`, 'm').exec(made!)!;
  const { port } = new URL(exchange.url);
  expect(await exchange.kill('SIGTERM')).toBe(0);
  await start({ MEX_CONFIG: MEX_CONFIG!, PORT: port });
  const duchy = spawnMex(printed('duchy run'));
  try {
    await urlOf(duchy);
    await allReady();
    const checked = await mex(...printed('duchy check'));
    expect(checked).toMatch(/ok +endpoint .*\nok +roots .*(\nok +peers .*){3}\n\S*Nothing is wrong\./);
    // The second terminal inherits the shell function that the first block defined.
    const again = join(folder, 'again');
    await mkdir(again);
    const terminal = { MEX_DATA_DIR: dataDir(), 'BASH_FUNC_mex%%': '() { npm run -s mex -- "$@"; }' };
    using second = await openDocumentShell(again, terminal);
    const [shown, computed] = await second.typed(document, '## 3');
    const reach = figure(shown!, 'everybody counted once\\n +reach');
    const people = await truth(PUBLISHER_IDS.slice(0, 2), ({ reach }) => reach());
    // The noise of the workers and the aggregator together has a standard deviation of 70, so the limit of 500 is about
    // seven deviations.
    expect(Math.abs(reach - people)).toBeLessThan(5 * 100);
    expect(computed).toMatch(/^\w+ +SUCCEEDED +FIRST_WORKER /m);
  } finally {
    expect(await duchy.kill('SIGTERM')).toBe(0);
  }
});

it('the databases pass the doctor, and the duchies and agents end when the exchange is stopped', async () => {
  expect(await mex('doctor')).toMatch(/found nothing wrong/);
  for (const id of NAMES) {
    expect(await mex('duchy', 'check', '--as', id)).toMatch(/ok +database +11 checks found nothing wrong/);
    // Each duchy reports a problem, because the duchy of the quickstart has ended.
    expect(process.exitCode).toBe(1);
    process.exitCode = undefined;
  }
  const pids = [...(await Promise.all(NAMES.map(pidOf))), ...(await publisherPids()).slice(-1)];
  expect(pids).toHaveLength(4);
  expect(await exchange.kill('SIGTERM')).toBe(0);
  expect(pids.filter(isAlive)).toEqual([]);
});
