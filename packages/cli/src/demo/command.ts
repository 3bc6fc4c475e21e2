import { existsSync } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import { type Config, loadConfig } from '@measurement-exchange/exchange/config';
import { createClient } from '@measurement-exchange/sdk';
import { Command } from 'commander';
import { pino } from 'pino';
import { missingConsole } from '../console/load.ts';
import { startDemoDuchiesTogether } from '../duchy/demoDuchies.ts';
import { type DevFile, readDevFile } from '../files/devFile.ts';
import { count } from '../terminal/numbers.ts';
import { Failed, printJson } from '../terminal/output.ts';
import { INTERRUPTED, StopSignal } from '../terminal/stopSignal.ts';
import { type DemoReport, figuresOf } from './figures.ts';
import { withSketches } from './sketches.ts';
import { type Steps, startSteps } from './steps.ts';
import { printReport } from './summary.ts';

interface Options {
  report: string;
  csv: string;
  seed: number;
  population: number;
  json?: boolean;
}

export function demoCommand(): Command {
  return new Command('demo')
    .description(
      'measure three synthetic publishers together, every type of measurement, and compare with the truth',
    )
    .option('--report <file>', 'where the HTML report goes', 'mex-demo.html')
    .option('--csv <file>', 'where all figures go as CSV', 'mex-demo.csv')
    .option('--seed <n>', 'another seed, another audience', Number, 1)
    .option('--population <n>', 'how many people there are', Number, 150_000)
    .option('--json', 'print the figures as JSON')
    .addHelpText(
      'after',
      `
Uses the development exchange that runs here (npm start), or starts one with three duchies for as long as it takes.
Specifications, shares and results are signed and encrypted as they are between real parties. The duchies count everybody
once whom several publishers reached, by each of three protocols. The demo's providers keep a privacy budget: they refuse one
question that exceeds it, and one that filters by an attribute they do not have.

It cancels the measurements that are open when it is interrupted, and deletes its event groups at the end.
Ends with 1 when a figure is more than five standard deviations from the truth.`,
    )
    .action(demo);
}

async function demo(options: Options): Promise<void> {
  for (const name of ['seed', 'population'] as const) {
    const smallest = name === 'population' ? 1000 : 0;
    if (!Number.isSafeInteger(options[name]) || options[name] < smallest || options[name] > 1e8) {
      throw new Error(`--${name} must be an integer from ${smallest} to 100000000.`);
    }
  }
  for (const path of [options.report, options.csv]) await requireWritable(path);
  // The charts belong to the console, which is an optional package. Check that it is installed before measuring
  // anything.
  const { renderReport } = await import('./report.ts').catch(missingConsole);
  const { renderCsv } = await import('./csv.ts');
  await using opened = new AsyncDisposableStack();
  const report = await measured(options, opened);
  await writeFile(options.report, renderReport(report));
  await writeFile(options.csv, renderCsv(report));
  if (options.json) printJson(report);
  else printReport(report, options);
  if (!figuresOf(report).every(({ within5Sigma }) => within5Sigma)) process.exitCode = 1;
}

/** Throws if the file cannot be written. Without this check, the demo would fail only after all measurements. */
async function requireWritable(path: string): Promise<void> {
  const isNew = !existsSync(path);
  await (await open(path, 'a')).close();
  if (isNew) await rm(path);
}

/** Runs all measurements. If this function starts an exchange, disposing of `opened` stops that exchange. */
async function measured({ seed, population }: Options, opened: AsyncDisposableStack): Promise<DemoReport> {
  const startedAt = performance.now();
  using stopped = new StopSignal();
  const { signal } = stopped;
  using steps = startSteps();
  const config = loadConfig(process.env, { mode: 'development' });
  const exchange = useExchange(config, population, steps, opened);
  const settled = exchange.catch(() => {});
  try {
    // Import run.ts only here, because it loads DuckDB, which the help and `mex completion` do not need.
    const { runDemo } = await import('./run.ts');
    const report = await runDemo({ exchange, dataDir: config.dataDir, seed, population, signal, steps });
    return { ...report, seconds: (performance.now() - startedAt) / 1000 };
  } catch (error) {
    if (signal.aborted)
      throw new Failed(INTERRUPTED, 'interrupted. The demo cancelled and deleted what it had made.');
    throw error;
  } finally {
    // Wait until the exchange has started, because it cannot be stopped before that.
    await settled;
  }
}

/** Returns the dev.json of the running development exchange. Starts an exchange if none is running. */
async function useExchange(
  config: Config,
  population: number,
  steps: Steps,
  opened: AsyncDisposableStack,
): Promise<DevFile> {
  const step = steps.start('exchange');
  const running = await readDevFile(config.dataDir).then(ifReachable, () => undefined);
  if (running === undefined) step.at(`starts with its own PostgreSQL, in ${config.dataDir}`);
  const dev = running ?? (await startExchange(config, opened));
  requireDuchies(dev);
  await requirePopulation(dev, population);
  step.done(`${running ? 'found' : 'started'} the exchange at ${dev.baseUrl}`);
  return dev;
}

async function startExchange(config: Config, opened: AsyncDisposableStack): Promise<DevFile> {
  const { demoProtocols, start } = await import('@measurement-exchange/exchange');
  const protocols = withSketches(demoProtocols(config) ?? config.protocols);
  const warnings = pino({ level: 'warn' }, process.stderr);
  const own = await start({ ...config, protocols, port: 0, checks: 'strict' }, warnings);
  opened.defer(() => own.stop());
  const dev = await readDevFile(config.dataDir);
  const names = dev.duchies.map(({ name }) => name);
  const duchies = startDemoDuchiesTogether({ dataDir: config.dataDir, names, log: warnings });
  opened.defer(() => duchies.stop());
  return dev;
}

function requireDuchies({ baseUrl, duchies }: DevFile): void {
  if (duchies.length > 0) return;
  throw new Error(`The exchange at ${baseUrl} runs without duchies: start it without MEX_DUCHIES=off.`);
}

/** Throws unless the exchange's default population includes all of the demo's people. */
async function requirePopulation({ baseUrl, operator }: DevFile, people: number): Promise<void> {
  const client = createClient({ baseUrl, token: operator.token });
  for await (const { default: counted, vidRanges = [], size = 0 } of client.listPopulations()) {
    if (!counted) continue;
    if (vidRanges.some(({ start, end }) => start === 1 && end >= people)) return;
    throw new Error(
      `--population ${people} is more than the ${count(size)} people whom this exchange counts. While it runs ` +
        `(npm start), make a larger population: mex admin populations create people --range 1-${people} --default`,
    );
  }
  throw new Error('No population is the default: mex admin populations update demo --default');
}

/** Returns `dev`, or undefined if the exchange that `dev` describes is no longer running. */
async function ifReachable(dev: DevFile): Promise<DevFile | undefined> {
  const response = await fetch(`${dev.baseUrl}/healthz`, { signal: AbortSignal.timeout(2000) }).catch(
    () => undefined,
  );
  return response?.ok ? dev : undefined;
}
