import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Config, loadConfig } from '@measurement-exchange/exchange/config';
import { createClient } from '@measurement-exchange/sdk';
import { Command } from 'commander';
import { pino } from 'pino';
import { startDemoDuchies } from '../duchy/demoDuchies.ts';
import { type DevFile, readDevFile } from '../files/devFile.ts';
import { count, percent } from '../terminal/numbers.ts';
import { Failed, paint, print, printJson, printTable } from '../terminal/output.ts';
import { INTERRUPTED, StopSignal } from '../terminal/stopSignal.ts';
import { rangeText, signedPercent } from './charts.ts';
import { type DemoReport, type Figure, reachesTogether, shortName, TOGETHER } from './figures.ts';
import { renderReport } from './report.ts';

interface Options {
  report: string;
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
    .option('--seed <n>', 'another seed, another audience', Number, 1)
    .option('--population <n>', 'how many people there are', Number, 600_000)
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
  // Import run.ts only here, because it loads DuckDB, which would use memory in every other command.
  const { runDemo } = await import('./run.ts');
  const log = (line: string) => process.stderr.write(`${line}\n`);
  const startedAt = performance.now();
  const config = loadConfig(process.env, { mode: 'development' });
  using stopped = new StopSignal();
  const { signal } = stopped;
  const exchange = await useExchange(config, log);
  try {
    requireDuchies(exchange.dev);
    await requirePopulation(exchange.dev, options.population);
    const { seed, population } = options;
    const report = await runDemo({
      dev: exchange.dev,
      dataDir: config.dataDir,
      seed,
      population,
      signal,
      log,
    });
    report.seconds = (performance.now() - startedAt) / 1000;
    await writeFile(options.report, renderReport(report));
    if (options.json) printJson(report);
    else printReport(report, options.report);
    if (!figuresOf(report).every(({ within5Sigma }) => within5Sigma)) process.exitCode = 1;
  } catch (error) {
    if (signal.aborted)
      throw new Failed(INTERRUPTED, 'interrupted. The demo cancelled and deleted what it had made.');
    throw error;
  } finally {
    await exchange.stop();
  }
}

/** Uses the development exchange that is already running, or starts one. */
async function useExchange(config: Config, log: (line: string) => void) {
  const running = await readDevFile(config.dataDir).then(ifReachable, () => undefined);
  if (running !== undefined) {
    log(`using the exchange at ${running.baseUrl}`);
    return { dev: running, stop: async () => {} };
  }
  log(`starting an exchange with its own PostgreSQL, and three duchies, in ${config.dataDir}`);
  const { start } = await import('@measurement-exchange/exchange');
  const warnings = pino({ level: 'warn' }, process.stderr);
  await using opened = new AsyncDisposableStack();
  const own = await start({ ...config, port: 0, checks: 'strict' }, warnings);
  opened.defer(() => own.stop());
  const dev = await readDevFile(config.dataDir);
  const names = dev.duchies.map(({ name }) => name);
  const duchies = startDemoDuchies({ dataDir: config.dataDir, names, log: warnings });
  opened.defer(() => duchies.stop());
  const mine = opened.move();
  return { dev, stop: () => mine.disposeAsync() };
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

/** Returns undefined if the exchange that wrote the file is no longer running. */
async function ifReachable(dev: DevFile): Promise<DevFile | undefined> {
  const response = await fetch(`${dev.baseUrl}/healthz`, { signal: AbortSignal.timeout(2000) }).catch(
    () => undefined,
  );
  return response?.ok ? dev : undefined;
}

const figuresOf = (report: DemoReport) => report.measurements.flatMap(({ figures }) => figures);

const COLUMNS = ['  provider', 'figure', 'truth', 'result', '95 % interval', 'truth is'];

export function printReport(report: DemoReport, file: string): void {
  for (const { title, name, figures, failure } of report.measurements) {
    print(`\n${paint('bold', title)}  ${paint('dim', name)}`);
    if (failure !== undefined) {
      print(`  refused, as it should be: ${failure}`);
      continue;
    }
    const added = figures.some(({ claimed }) => claimed !== undefined);
    printTable(
      [...COLUMNS, ...(added ? ['added up'] : [])],
      figures.map((figure) => row(figure)),
    );
  }
  const figures = figuresOf(report);
  const inside = figures.filter(({ inside95 }) => inside95).length;
  const near = figures.filter(({ within5Sigma }) => within5Sigma).length;
  print(`\n${paint('bold', 'People counted once, by the protocol of the duchies')}`);
  printTable(
    ['  protocol', ...COLUMNS.slice(1)],
    reachesTogether(report).map((reach) => [`  ${reach.protocol}`, ...row(reach).slice(1, COLUMNS.length)]),
  );
  print(`
${inside} of ${figures.length} figures have the truth inside their 95 % interval, ${near} within five standard deviations.
${report.seconds.toFixed(1)} s. Pictures: ${resolve(file)}

${headline(report)}`);
}

function headline(report: DemoReport): string {
  const { result, truth, claimed } = reachesTogether(report)[0]!;
  const value = paint('green', count(result.value));
  return `All publishers together reached ${paint('bold', `${value} people`)} (95 %: ${rangeText(result.interval, count)}), each counted once; truth ${count(truth)}.
Adding up their figures would have claimed ${count(claimed)}, ${signedPercent(claimed / truth - 1)}.`;
}

function row({ of, what, truth, result, inside95, within5Sigma, claimed }: Figure): string[] {
  const text = what.startsWith('frequency') ? percent : count;
  const position = inside95 ? 'inside' : within5Sigma ? 'outside, within 5σ' : 'BEYOND 5σ';
  return [
    `  ${of === TOGETHER ? 'all, once' : shortName(of)}`,
    what,
    text(truth),
    text(result.value),
    rangeText(result.interval, text, '…'),
    position,
    ...(claimed === undefined ? [] : [text(claimed)]),
  ];
}
