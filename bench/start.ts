/** Measures how long an exchange takes to start, how much memory it needs, and how large a production install is. */
import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startPostgres } from '@measurement-exchange/exchange/internal/postgres/index';
import { residentBytes, startExchange } from './lib/exchange.ts';
import { type Figure, figure, show } from './lib/figures.ts';
import { measuredOperations } from './lib/operations.ts';
import type { Bench } from './lib/options.ts';
import { atMost, printTable, progress, type Section } from './lib/report.ts';
import { createWorld } from './lib/world.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..');
const MEGABYTE = 1e6;
/** The console is off, as in production by default. */
const WITHOUT_CONSOLE = { console: false };
const WITH_CONSOLE = { console: true };

export async function start(bench: Bench): Promise<Section> {
  const starts = await measureStarts(bench);
  const memory = await measureMemory(bench);
  const install = await measureInstall();
  const beyond = figure(starts.warm.map((ms, round) => (ms - starts.postgresWarm[round]!) / 1000));
  printTable('Start (milliseconds to the first answer to a caller with a token)', [
    { what: 'exchange, empty data directory', ms: show(figure(starts.cold)) },
    { what: 'PostgreSQL alone, empty data directory', ms: show(figure(starts.postgresCold)) },
    { what: 'exchange, data directory in use before', ms: show(figure(starts.warm)) },
    { what: 'PostgreSQL alone, data directory in use before', ms: show(figure(starts.postgresWarm)) },
    { what: 'exchange, PostgreSQL already running', ms: show(figure(starts.attached)) },
    {
      what: 'exchange with the console, PostgreSQL already running',
      ms: show(figure(starts.console)),
    },
    { what: 'node with an empty program', ms: show(figure(starts.node)) },
  ]);
  printTable('Size (megabytes)', [
    { what: 'exchange, resident, idle', MB: show(inMegabytes(memory.idle)) },
    { what: 'exchange with the console, resident, idle', MB: show(inMegabytes(memory.console)) },
    {
      what: 'exchange, resident, at most under load (64 connections, every operation)',
      MB: show(inMegabytes(memory.peak)),
    },
    { what: 'exchange, resident, 10 s after the load', MB: show(inMegabytes(memory.after)) },
    {
      what: 'production install',
      MB: install === undefined ? 'skipped: no network' : String(Math.round(install.bytes / MEGABYTE)),
    },
  ]);
  return {
    name: 'start',
    data: { starts, memory, install },
    verdicts: [
      atMost("warm start beyond PostgreSQL's own, seconds", beyond, 1.5),
      atMost('resident memory of an idle exchange, MB', inMegabytes(memory.idle), 150),
      atMost('the same with the console, MB', inMegabytes(memory.console), 150),
    ],
  };
}

function inMegabytes(bytes: number[]): Figure {
  return figure(bytes.map((each) => each / MEGABYTE));
}

async function measureStarts({ rounds, server }: Bench) {
  const times = {
    cold: [] as number[],
    postgresCold: [] as number[],
    warm: [] as number[],
    postgresWarm: [] as number[],
    attached: [] as number[],
    console: [] as number[],
    node: [] as number[],
  };
  const timed = async <T>(into: number[], work: () => Promise<T>): Promise<T> => {
    const started = performance.now();
    const result = await work();
    into.push(performance.now() - started);
    return result;
  };
  const database = await server.createDatabase();
  for (let round = 1; round <= rounds; round++) {
    progress(`start: round ${round} of ${rounds}`);
    const dataDir = await mkdtemp(join(tmpdir(), 'mex-bench-start-'));
    const bareDir = await mkdtemp(join(tmpdir(), 'mex-bench-start-'));
    const first = await startExchange({ dataDir, config: WITHOUT_CONSOLE });
    times.cold.push(first.startMs);
    await first.stop();
    await (await timed(times.postgresCold, () => startPostgres({ dataDir: bareDir }))).stop();
    await (await timed(times.postgresWarm, () => startPostgres({ dataDir }))).stop();
    const second = await startExchange({ dataDir, config: WITHOUT_CONSOLE });
    times.warm.push(second.startMs);
    await second.stop();
    for (const config of [WITHOUT_CONSOLE, WITH_CONSOLE]) {
      const attached = await startExchange({ databaseUrl: database.url, config });
      await attached.stop();
      // Do not count the first round, unless it is the only one. Its starts also create the parties of this database,
      // and may build the console.
      if (round > 1 || rounds === 1) (config.console ? times.console : times.attached).push(attached.startMs);
    }
    await timed(times.node, () => run(process.execPath, ['-e', '0']));
    for (const dir of [dataDir, bareDir]) await rm(dir, { recursive: true, force: true });
  }
  await database.drop();
  return times;
}

async function measureMemory({ server, generator, rounds, quick }: Bench) {
  const memory = {
    idle: [] as number[],
    console: [] as number[],
    peak: [] as number[],
    after: [] as number[],
  };
  for (let round = 1; round <= Math.min(rounds, 3); round++) {
    const database = await server.createDatabase();
    const other = await startExchange({ databaseUrl: database.url, config: WITH_CONSOLE });
    await sleep(quick ? 1_000 : 5_000);
    memory.console.push(residentBytes(other.pid).now);
    await other.stop();
    const exchange = await startExchange({ databaseUrl: database.url, config: WITHOUT_CONSOLE });
    await sleep(quick ? 1_000 : 5_000);
    memory.idle.push(residentBytes(exchange.pid).now);
    const world = await createWorld(exchange, database);
    for (const { name, caller, template, items, consumes } of await measuredOperations(world, database)) {
      progress(`start: memory under load of ${name}, round ${round}`);
      await generator.call('closed', {
        targets: [{ port: exchange.port, token: caller.token }],
        connections: 64,
        template,
        items: await items(quick ? 300 : 3_000),
        ...(!consumes && { seconds: quick ? 0.5 : 3 }),
      });
    }
    memory.peak.push(residentBytes(exchange.pid).peak);
    await sleep(quick ? 1_000 : 10_000);
    memory.after.push(residentBytes(exchange.pid).now);
    await exchange.stop();
    await database.drop();
  }
  return memory;
}

/**
 * Installs the production dependencies in a copy of the package files. Returns undefined if the installation fails, for
 * example because the package registry is not reachable.
 */
async function measureInstall(): Promise<{ bytes: number; packages: number; seconds: number } | undefined> {
  progress('start: production install');
  const copy = await mkdtemp(join(tmpdir(), 'mex-bench-install-'));
  try {
    for (const file of [
      'package.json',
      'package-lock.json',
      ...globSync('packages/*/package.json', { cwd: ROOT }),
    ]) {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      cpSync(join(ROOT, file), join(copy, file));
    }
    const started = performance.now();
    await run('npm', ['install', '--no-save', '--omit=dev', '--no-audit', '--no-fund'], {
      cwd: copy,
      timeout: 300_000,
    });
    const seconds = (performance.now() - started) / 1000;
    const { stdout } = await run('du', ['-sb', join(copy, 'node_modules')]);
    const packages = globSync('node_modules/{*,@*/*}/package.json', { cwd: copy }).length;
    return { bytes: Number(stdout.split('\t')[0]), packages, seconds };
  } catch (error) {
    console.error(`\nThe production install was not measured: ${String(error).split('\n')[0]}`);
    return undefined;
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}
