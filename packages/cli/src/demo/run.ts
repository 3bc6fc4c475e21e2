/** Runs the demo: three data providers, an advertiser's measurements, and a comparison with the true figures. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import {
  type Estimate,
  ExchangeError,
  type Figures,
  MeasurementFailed,
  type MeasurementResult,
  type Progress,
} from '@measurement-exchange/sdk';
import type { DevFile } from '../files/devFile.ts';
import { wholeTimeline } from '../party/timeline.ts';
import { type Audience, createAudiences, populationSpec, truthOf } from '../publishers/audience.ts';
import { ADVERTISER, advertiserOf } from '../publishers/client.ts';
import { count } from '../terminal/numbers.ts';
import { reportOf } from './campaignReport.ts';
import { type DemoMeasurement, type DemoReport, type Figure, figureOf, TOGETHER } from './figures.ts';
import { startProviders } from './providers.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { type Step, type Steps, stageOf } from './steps.ts';

interface DemoOptions {
  /** The exchange, which may still be starting. */
  exchange: Promise<DevFile>;
  /** The exchange's data directory. */
  dataDir: string;
  seed: number;
  population: number;
  /** Aborting this signal ends the demo early. The demo then cancels its measurements and deletes its event groups. */
  signal: AbortSignal;
  steps: Steps;
}

const DATA_PROVIDERS = ['dataProviders/streamly', 'dataProviders/chirper', 'dataProviders/dailynews'];
/**
 * The interval at which agents poll while no connection announces changes to them, for example while they reconnect.
 */
const POLL_MS = 500;
/**
 * The initial interval at which the demo asks for the duchies' progress. The interval grows while nothing changes. The
 * interval does not delay results, because the exchange announces them immediately.
 */
const PROGRESS_MS = 1_000;

const ignore = () => {};

export async function runDemo(options: DemoOptions): Promise<DemoReport> {
  const { exchange, dataDir, seed, population, signal, steps } = options;
  const startedAt = performance.now();
  await using opened = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'mex-demo-'));
  opened.defer(() => rm(directory, { recursive: true }));
  const instance = await DuckDBInstance.create(':memory:');
  opened.defer(() => instance.closeSync());
  const db = await instance.connect();
  opened.defer(() => db.closeSync());
  const writing = steps.start('events');
  const written = createAudiences(db, { dataProviders: DATA_PROVIDERS, directory, seed, population });
  opened.defer(() => written.then(ignore, ignore));
  const audiences = await written;
  const total = audiences.reduce((sum, { impressions }) => sum + impressions, 0);
  writing.done(`wrote ${count(total)} impressions of ${audiences.length} providers, from seed ${seed}`);
  const dev = await exchange;
  signal.throwIfAborted();
  const starting = steps.start('providers');
  const providers = await startProviders({
    dev,
    consumer: ADVERTISER,
    audiences,
    population: populationSpec(population),
    directory,
    sharesFolder: join(dataDir, 'demo'),
    pollMs: POLL_MS,
  });
  opened.defer(() => providers.stop());
  starting.done(`started the agents of ${audiences.length} providers`);
  signal.throwIfAborted();
  const all = scenarios(audiences, providers.eventGroups, population);
  const advertiser = advertiserOf(dev);
  const asked = askAll(advertiser, all, options);
  opened.defer(() => asked.end());
  const measurements: DemoMeasurement[] = [];
  /** The figures of the measurements that are marked as `alone`. Each such measurement covers one provider. */
  const alone: Figures[] = [];
  for (const [i, scenario] of all.entries()) {
    const { result, ...facts } = await asked.answers[i]!;
    if (scenario.alone && result) alone.push(...result.dataProviders);
    const figures = result ? await compare(db, { audiences, population, scenario, result, alone }) : [];
    const protocol = result?.total.deduplicated?.methodology;
    const { about } = scenario;
    measurements.push({ ...facts, ...(about && { about }), figures, ...(protocol && { protocol }) });
  }
  const reporting = steps.start('report');
  const names = measurements.filter(({ state }) => state === 'SUCCEEDED').map(({ name }) => name);
  const campaign = await reportOf(advertiser.consumer, providers.eventGroups, names);
  reporting.done(`corrected ${campaign.figures.length} figures into one report`);
  return {
    exchange: dev.baseUrl,
    campaign,
    seed,
    seconds: (performance.now() - startedAt) / 1000,
    impressions: audiences.map(({ dataProvider, impressions }) => ({ dataProvider, impressions })),
    measurements,
  };
}

type Advertiser = ReturnType<typeof advertiserOf>;

/**
 * Starts all measurements in parallel. Most of them need no duchy, so they can finish while the duchies are still
 * starting.
 */
function askAll(advertiser: Advertiser, all: Scenario[], { signal, steps }: DemoOptions) {
  const ending = new AbortController();
  const open = new Set<string>();
  const ended = AbortSignal.any([signal, ending.signal]);
  const answers = all.map((scenario) =>
    ask(advertiser, scenario, open, { step: steps.start(scenario.title), signal: ended }),
  );
  for (const each of answers) each.catch(() => {});
  return {
    answers,
    /** Cancels the measurements that have not ended, so that an agent that is started later does not answer them. */
    async end() {
      ending.abort();
      await Promise.allSettled(answers);
      if (open.size === 0) return;
      const step = steps.start('measurements');
      let cancelled = 0;
      for (const name of open) if (await cancel(advertiser, name)) cancelled += 1;
      step.done(`cancelled ${cancelled} that were still open`);
    },
  };
}

/** Cancels a measurement. Returns false if it has already ended. */
async function cancel({ client }: Advertiser, name: string): Promise<boolean> {
  try {
    await client.cancelMeasurement({ name });
    return true;
  } catch (error) {
    if (error instanceof ExchangeError && error.reason === 'MEASUREMENT_STATE_ILLEGAL') return false;
    throw error;
  }
}

/**
 * Runs one measurement for the advertiser, from signing and encrypting the request to decrypting the result. `open`
 * contains the name of the measurement until the measurement ends. Aborting `signal` ends the wait for the result, but
 * does not cancel the measurement.
 */
async function ask(
  { client, consumer }: Advertiser,
  { title, request, refusal }: Scenario,
  open: Set<string>,
  { step, signal }: { step: Step; signal: AbortSignal },
) {
  const { name } = (await consumer.create(request)) as { name: string };
  open.add(name);
  const onChange = (progress: Progress) => step.at(stageOf(progress));
  const outcome = await consumer
    .wait(name, { pollMs: PROGRESS_MS, signal, onChange })
    .catch((error: unknown) => {
      const isExpected = error instanceof MeasurementFailed && error.refusedBy?.justification === refusal;
      if (refusal !== undefined && isExpected) return error;
      throw error;
    });
  open.delete(name);
  const timeline = await wholeTimeline(client.getMeasurementTimeline({ name }));
  if (outcome instanceof MeasurementFailed) {
    step.done(`refused   ${title}, as it should be`);
    const { dataProvider, justification, message } = outcome.refusedBy!;
    return {
      title,
      name,
      state: 'FAILED',
      failure: `${dataProvider}: ${justification}. ${message}`,
      timeline,
    };
  }
  if (refusal !== undefined)
    throw new Error(`${title}: ${name} was to be refused with ${refusal}, and was not.`);
  const result = await consumer.open(outcome);
  step.done(`measured  ${title}`);
  return { title, name, state: outcome.state, timeline, result };
}

interface Asked {
  audiences: Audience[];
  population: number;
  scenario: Scenario;
  result: MeasurementResult;
  alone: Figures[];
}

/** Compares every figure in a result with its true value. */
async function compare(db: DuckDBConnection, asked: Asked): Promise<Figure[]> {
  const { audiences, population, scenario, result, alone } = asked;
  const { request, where } = scenario;
  const compared: Figure[] = [];
  const fileOf = (name: string) => audiences.find(({ dataProvider }) => dataProvider === name)!.file;
  const { deduplicated } = result.total;
  const parts: [of: string, files: string[], figures: Figures][] = deduplicated
    ? [[TOGETHER, result.dataProviders.map(({ name }) => fileOf(name)), deduplicated]]
    : result.dataProviders.map(({ name, ...figures }) => [name, [fileOf(name)], figures]);
  for (const [of, files, figures] of parts) {
    const truth = truthOf(db, files, where);
    const add = (what: Figure['what'], truly: number, estimate: Estimate, claimed?: number) => {
      const figure = figureOf(of, what, truly, estimate);
      compared.push(of === TOGETHER ? { ...figure, claimed: claimed! } : figure);
    };
    if (figures.reach) add('reach', await truth.reach(), figures.reach, claimedReach(alone));
    if (figures.frequency) {
      const counts = await truth.frequencies(figures.frequency.length);
      const reach = counts.reduce((sum, count) => sum + count, 0);
      for (const [i, { frequency, share }] of figures.frequency.entries()) {
        const last = i === figures.frequency.length - 1;
        const claimed = claimedShare(alone, i, last);
        add(`frequency ${frequency}${last ? '+' : ''}`, counts[i]! / reach, share, claimed);
      }
    }
    if (figures.impressions) {
      add('impressions', await truth.impressions(request.maximumFrequencyPerUser!), figures.impressions);
    }
    if (figures.watchDurationSeconds) {
      const seconds = await truth.watchSeconds(request.maximumWatchDurationSeconds!);
      add('watch seconds', seconds, figures.watchDurationSeconds);
    }
    if (figures.population) {
      add('people', await truth.people(populationSpec(population)), figures.population);
    }
  }
  return compared;
}

function claimedReach(alone: Figures[]): number {
  return alone.reduce((sum, { reach }) => sum + reach!.value, 0);
}

/**
 * Returns the share of the reached people who have frequency `i + 1` (or more, if `andMore`), assuming that no two
 * providers reached the same person.
 */
function claimedShare(alone: Figures[], i: number, andMore: boolean): number {
  const people = alone.reduce((sum, { reach, frequency }) => {
    const shares = frequency!.slice(i, andMore ? undefined : i + 1);
    return sum + reach!.value * shares.reduce((part, { share }) => part + share.value, 0);
  }, 0);
  return people / claimedReach(alone);
}
