/** Creates the publishers' events, runs their agents, and asks the first questions. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { loadConfig } from '@measurement-exchange/exchange/config';
import { type DevFile, readOwnDevFile } from '../files/devFile.ts';
import { describeEvent } from '../provider/describe.ts';
import { demoLedger } from '../provider/ledgerPath.ts';
import { explain, print } from '../terminal/output.ts';
import { StopSignal } from '../terminal/stopSignal.ts';
import { startAgents } from './agents.ts';
import { type Audience, createAudiences, populationSpec } from './audience.ts';
import { ADVERTISER } from './client.ts';
import { askDuchies, askPublishers } from './firstQuestions.ts';

/** The number of synthetic people. The demo population includes all of them. */
const PEOPLE = 50_000;
const SEED = 1;

/**
 * Each publisher's budget. It allows hundreds of questions with an epsilon of 1 about the same day, so that users do not
 * run out.
 */
const BUDGET = { epsilon: 100, delta: 1e-4, rho: 10 };

/**
 * How long to wait before asking the duchies. The question keeps them busy for seconds, and would delay the user's own
 * first question.
 */
const PAUSE_MS = 30_000;

export async function runPublishers(names: string[]): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const stopped = opened.use(new StopSignal());
  // The event `disconnect` means that the exchange, which opened the IPC channel, has ended.
  process.once('disconnect', stopped.stop);
  opened.defer(() => void process.off('disconnect', stopped.stop));
  const dev = await readOwnDevFile();
  const folder = join(loadConfig(process.env, { mode: 'development' }).dataDir, 'publishers');
  const audiences = await writeEvents(names, folder);
  const agents = await startAgents({
    dev,
    consumer: ADVERTISER,
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
  await askFirstQuestions(dev, names, stopped.signal).catch((error: unknown) => {
    print(`The first questions were not asked: ${explain(error)}`);
  });
  await stopped.wait();
  // Let the process exit although the IPC channel is still open.
  process.channel?.unref();
}

async function askFirstQuestions(dev: DevFile, names: string[], signal: AbortSignal): Promise<void> {
  await askPublishers(dev, names);
  await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
  if (dev.duchies.length > 0 && !signal.aborted) await askDuchies(dev, names);
}

/** Writes the event files at each start. Their contents are always the same. */
async function writeEvents(dataProviders: string[], directory: string): Promise<Audience[]> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  try {
    const db = await instance.connect();
    try {
      return await createAudiences(db, { dataProviders, directory, seed: SEED, population: PEOPLE });
    } finally {
      db.closeSync();
    }
  } finally {
    instance.closeSync();
  }
}

function logLine(): NonNullable<Parameters<typeof startAgents>[0]['log']> {
  const describe = describeEvent();
  return (dataProvider, event) => {
    const line = describe(event, Date.now());
    if (line !== undefined) print(`${new Date().toISOString()}  ${dataProvider.split('/')[1]}  ${line}`);
  };
}
