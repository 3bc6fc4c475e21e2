/** Creates the publishers' events, runs their agents, and asks the first questions. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { loadConfig } from '@measurement-exchange/exchange/config';
import type { ServerSource } from '@measurement-exchange/sdk/provider';
import { type DevFile, readOwnDevFile } from '../files/devFile.ts';
import { describeEvent } from '../provider/describe.ts';
import { demoLedger } from '../provider/ledgerPath.ts';
import { explain, print } from '../terminal/output.ts';
import { runUntilStopped } from '../terminal/stopSignal.ts';
import { startAgents } from './agents.ts';
import { type Audience, createAudiences, populationSpec } from './audience.ts';
import { clickHouseOf, fillClickHouse } from './clickHouse.ts';
import { ADVERTISER } from './client.ts';
import { askDuchies, askPublishers, askUnconfirmed, UNCONFIRMED } from './firstQuestions.ts';
import { fillWarehouse } from './warehouse.ts';

/** The number of synthetic people. The demo population includes all of them. */
const PEOPLE = 50_000;
const SEED = 1;

/**
 * Each publisher's budget. A question with a delta above 0 gets Gaussian noise, which is charged to rho. The rho budget
 * allows hundreds of such questions with an epsilon of 1 about the same day, so that users do not use it up.
 */
const BUDGET = { epsilon: 100, delta: 1e-4, rho: 10 };

/**
 * The wait before asking for the measurement that the duchies compute. That measurement keeps the duchies busy for
 * several seconds. Without the wait, it would delay the user's own first measurement.
 */
const PAUSE_MS = 30_000;

export async function runPublishers(names: string[]): Promise<void> {
  await runUntilStopped((opened, signal) => start(names, opened, signal));
}

async function start(names: string[], opened: AsyncDisposableStack, signal: AbortSignal): Promise<void> {
  const dev = await readOwnDevFile();
  const { dataDir, databaseUrl } = loadConfig(process.env, { mode: 'development' });
  const folder = join(dataDir, 'publishers');
  const audiences = await writeEvents(names, folder, databaseUrl === undefined ? dataDir : undefined);
  const agents = await startAgents({
    dev,
    consumer: ADVERTISER,
    unconfirmed: UNCONFIRMED,
    audiences,
    population: populationSpec(PEOPLE),
    budget: BUDGET,
    ledgerOf: demoLedger,
    sharesFolder: join(folder, 'shares'),
    threads: 1,
    log: logLine(),
  });
  opened.defer(() => agents.stop());
  print(`${process.pid} runs the agents of ${names.join(', ')}`);
  await askFirstQuestions(dev, names, signal).catch((error: unknown) => {
    print(`The first questions were not asked: ${explain(error)}`);
  });
}

async function askFirstQuestions(dev: DevFile, names: string[], signal: AbortSignal): Promise<void> {
  await askPublishers(dev, names);
  await askUnconfirmed(dev, names[0]!);
  await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
  if (dev.duchies.length > 0 && !signal.aborted) await askDuchies(dev, names);
}

/**
 * Writes the event files, with the same contents at each start. If the data folder has a PostgreSQL server, the last
 * publisher's events are also copied to that server. If the environment names a ClickHouse server, the second-to-last
 * publisher's events are copied to it.
 */
async function writeEvents(
  dataProviders: string[],
  directory: string,
  dataDir: string | undefined,
): Promise<Audience[]> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  try {
    const db = await instance.connect();
    try {
      const audiences = await createAudiences(db, {
        dataProviders,
        directory,
        seed: SEED,
        population: PEOPLE,
      });
      const [beforeLast, last] = audiences.slice(-2) as [Audience, Audience];
      if (dataDir !== undefined) await keepIn(last, () => fillWarehouse(db, last, dataDir));
      const server = clickHouseOf(process.env);
      if (server !== undefined) await keepIn(beforeLast, () => fillClickHouse(db, beforeLast, server));
      return audiences;
    } finally {
      db.closeSync();
    }
  } finally {
    instance.closeSync();
  }
}

async function keepIn(audience: Audience, fill: () => Promise<ServerSource>): Promise<void> {
  try {
    audience.source = await fill();
    print(`${audience.dataProvider} has its events in ${audience.source.kind}`);
  } catch (error) {
    print(`${audience.dataProvider} keeps its events in a file: ${explain(error)}`);
  }
}

function logLine(): NonNullable<Parameters<typeof startAgents>[0]['log']> {
  const describe = describeEvent();
  return (dataProvider, event) => {
    const line = describe(event, Date.now());
    if (line !== undefined) print(`${new Date().toISOString()}  ${dataProvider.split('/')[1]}  ${line}`);
  };
}
