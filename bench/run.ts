/**
 * Runs the benchmarks, which compare the product with yardsticks. Prints tables, and writes every round to a JSON file.
 * npm run bench -- [--only http,rpc,growth,fleet,fairness,start,sdk,direct,mpc,feed,console,sources,reports]
 *   [--operations get,create] [--rounds 5] [--quick] [--events 100000000] [--json file]
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { webConsole } from './console.ts';
import { direct } from './direct.ts';
import { fairness } from './fairness.ts';
import { feed } from './feed.ts';
import { fleet } from './fleet.ts';
import { growth } from './growth.ts';
import { http } from './http.ts';
import type { Generator } from './lib/generator.ts';
import type { Bench } from './lib/options.ts';
import { startServer } from './lib/postgres.ts';
import { startWorker } from './lib/processes.ts';
import { printVerdicts, progressEnd, type Section } from './lib/report.ts';
import { mpc } from './mpc.ts';
import { reports } from './reports.ts';
import { rpc } from './rpc.ts';
import { sdk } from './sdk.ts';
import { sources } from './sources.ts';
import { start } from './start.ts';

const SECTIONS: Record<string, (bench: Bench) => Promise<Section>> = {
  http,
  rpc,
  growth,
  fleet,
  fairness,
  start,
  sdk,
  direct,
  mpc,
  feed,
  console: webConsole,
  sources,
  reports,
};

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: Object.keys(SECTIONS).join(',') },
    rounds: { type: 'string', default: '5' },
    quick: { type: 'boolean', default: false },
    operations: { type: 'string' },
    events: { type: 'string' },
    json: { type: 'string' },
  },
});
const names = options.only.split(',');
const operations = options.operations?.split(',');
const unknown = names.filter((name) => !Object.hasOwn(SECTIONS, name));
const rounds = Number(options.rounds);
const events = options.events === undefined ? undefined : Number(options.events);
const isCount = (value = 1) => Number.isInteger(value) && value >= 1;
if (unknown.length > 0 || !isCount(rounds) || !isCount(events)) {
  console.error(`--only takes ${Object.keys(SECTIONS).join(', ')}; --rounds and --events a number from 1.`);
  process.exit(2);
}

const machine = {
  time: new Date().toISOString(),
  commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  }).trim(),
  node: process.version,
  cpu: cpus()[0]?.model,
  cores: availableParallelism(),
  memory: totalmem(),
  loadBefore: loadavg(),
  rounds,
  quick: options.quick,
};
console.log(
  `${machine.cores} × ${machine.cpu}, Node ${machine.node}, load ${machine.loadBefore[0]!.toFixed(1)}, ${rounds} rounds`,
);
if (options.quick) console.log('--quick: rounds too short to be figures.');

const server = await startServer();
const generator = await startWorker<Generator>('generator.ts');
const stop = async () => {
  await generator.stop();
  await server.stop();
};
let stopping: Promise<void> | undefined;
/**
 * Stops everything, but only once. An interrupt calls this function, and also makes the running section fail. That
 * failure calls this function again.
 */
const stopAll = () => {
  stopping ??= stop();
  return stopping;
};
// PostgreSQL runs in its own process session, so it would keep running after an interrupt.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    // Ignore the errors of the running section, which loses its database.
    process.on('uncaughtException', () => {});
    void stopAll().finally(() => process.exit(130));
  });
}
const sections: Section[] = [];
try {
  for (const name of names) {
    const bench = { server, generator, rounds, quick: options.quick, operations, events };
    const section = await SECTIONS[name]!(bench);
    progressEnd();
    printVerdicts(section.verdicts);
    sections.push(section);
  }
} finally {
  await stopAll();
}
const file =
  options.json ?? join(import.meta.dirname, 'results', `${machine.time.replaceAll(':', '-')}.json`);
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, JSON.stringify({ ...machine, loadAfter: loadavg(), sections }, null, 2));
console.log(`\nEvery round: ${file}`);
