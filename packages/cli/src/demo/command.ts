import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Config, loadConfig } from '@measurement-exchange/exchange/config';
import { Command } from 'commander';
import { pino } from 'pino';
import { type DevFile, readDevFile } from '../devFile.ts';
import { paint, print, printJson, printTable } from '../output.ts';
import { count, percent } from './charts.ts';
import type { DemoReport, Figure } from './figures.ts';
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
Uses the development exchange that runs here (npm start), or starts one for as long as it takes. Specifications and
results are signed and encrypted as they are between real parties; the demo's providers keep a privacy budget, and refuse
one question that is beyond it and one that makes no sense.

Ends with 1 when a figure lies more than five standard deviations from the truth.`,
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
  // Imported here, since DuckDB would take memory in every other command, such as a serving exchange.
  const { runDemo } = await import('./run.ts');
  const log = (line: string) => process.stderr.write(`${line}\n`);
  const startedAt = performance.now();
  const exchange = await useExchange(loadConfig(process.env, { mode: 'development' }), log);
  let report: DemoReport;
  try {
    report = await runDemo({ dev: exchange.dev, seed: options.seed, population: options.population, log });
  } finally {
    await exchange.stop();
  }
  report.seconds = (performance.now() - startedAt) / 1000;
  await writeFile(options.report, renderReport(report));
  if (options.json) printJson(report);
  else printReport(report, options.report);
  if (!figuresOf(report).every(({ within5Sigma }) => within5Sigma)) process.exitCode = 1;
}

/** Uses the development exchange that is running, or starts one. */
async function useExchange(config: Config, log: (line: string) => void) {
  const running = await readDevFile(config.dataDir).then(ifReachable, () => undefined);
  if (running !== undefined) {
    log(`using the exchange at ${running.baseUrl}`);
    return { dev: running, stop: async () => {} };
  }
  log(`starting an exchange with its own PostgreSQL in ${config.dataDir}`);
  const { start } = await import('@measurement-exchange/exchange');
  const own = await start({ ...config, port: 0, checks: 'strict' }, pino({ level: 'warn' }, process.stderr));
  return { dev: await readDevFile(config.dataDir), stop: () => own.stop() };
}

/** The file may be left from an exchange that has stopped. */
async function ifReachable(dev: DevFile): Promise<DevFile | undefined> {
  const response = await fetch(`${dev.baseUrl}/healthz`, { signal: AbortSignal.timeout(2000) }).catch(
    () => undefined,
  );
  return response?.ok ? dev : undefined;
}

const figuresOf = (report: DemoReport) => report.measurements.flatMap(({ figures }) => figures);

function printReport(report: DemoReport, file: string): void {
  for (const { title, name, figures, union, failure } of report.measurements) {
    print(`\n${paint('bold', title)}  ${paint('dim', name)}`);
    if (failure !== undefined) {
      print(`  refused, as it should be: ${failure}`);
      continue;
    }
    printTable(
      ['  provider', 'figure', 'truth', 'result', '95 % interval', 'truth lies'],
      figures.map((figure) => row(figure)),
    );
    if (union !== undefined) {
      const [low, high] = union.bounds.map(count);
      print(
        `  all together  reach between ${low} and ${high}; truth ${count(union.truth)} (providers cannot see each other's people)`,
      );
    }
  }
  const figures = figuresOf(report);
  const inside = figures.filter(({ inside95 }) => inside95).length;
  const near = figures.filter(({ within5Sigma }) => within5Sigma).length;
  print(`
${inside} of ${figures.length} figures have the truth inside their 95 % interval, ${near} within five standard deviations.
${report.seconds.toFixed(1)} s. Pictures: ${resolve(file)}`);
}

function row({ dataProvider, what, truth, result, inside95, within5Sigma }: Figure): string[] {
  const text = what.startsWith('frequency') ? percent : count;
  const [low, high] = result.interval;
  const lies = inside95 ? 'inside' : within5Sigma ? 'outside, within 5σ' : 'BEYOND 5σ';
  return [
    `  ${dataProvider.split('/')[1]}`,
    what,
    text(truth),
    text(result.value),
    `${text(low)} … ${text(high)}`,
    lies,
  ];
}
