/**
 * Usage: `npm run rig -- [--slice | --short | --long] [--seed N] [--only H2,H5] [--planted [name …] [--third]] [--json]
 * [--table]`. With `--table`, the command runs no harness, and prints the saved rows of the last runs of that scale.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Context, Harness, Outcome } from './harness.ts';
import { HARNESSES } from './harnesses.ts';
import { type Options, readOptions } from './options.ts';
import type { PlantedBug } from './planted/plant.ts';
import { TestSession } from './planted/testRun.ts';
import { startProgress } from './progress.ts';
import { Random } from './random.ts';
import { numberOf, Results, type Row, toText, totalOf } from './results.ts';
import { printPlanted, printTable } from './table.ts';
import { emptyTally, shortfalls, TARGETS } from './tally.ts';

/**
 * The number of harnesses that run in parallel. Harnesses often wait for killed processes, so two can share the cores.
 * In a long run, each harness runs alone, so that no other harness affects its figures. A slice has only a few seconds
 * of work.
 */
const AT_ONCE = { slice: 1, short: 2, long: 1 };
const HARNESS_FAILED = 'The harness itself failed';
const OUT = fileURLToPath(new URL('out', import.meta.url));

type RunOptions = Pick<Options, 'seed' | 'scale'>;

async function runOne(harness: Harness, options: RunOptions, planted: PlantedBug | undefined): Promise<Row> {
  const { seed, scale } = options;
  const name = planted === undefined ? harness.id : `${harness.id} ${planted.name}`;
  const progress = startProgress(name);
  const context: Context = {
    seed,
    scale,
    planted,
    random: new Random(seed).fork(harness.id),
    progress: progress.update,
    save: (file, value) => {
      const folder = join(OUT, folderOf({ name, seed }));
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, file), typeof value === 'string' ? value : toText(value));
    },
  };
  const started = performance.now();
  let outcome: Outcome;
  try {
    outcome = await harness.run(context);
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const violations = [`${HARNESS_FAILED}: ${text}`];
    outcome = { operations: 0, faults: 0, violations, tally: emptyTally() };
  }
  progress.end();
  const seconds = (performance.now() - started) / 1000;
  return { name, title: harness.title, seed, seconds, endedAt: new Date().toISOString(), ...outcome };
}

function folderOf({ name, seed }: Pick<Row, 'name' | 'seed'>): string {
  return `${name.replace(' ', '-')}-${seed}`;
}

/** Runs the harness or the test that must find the bug. A run without a violation is a failure. */
async function runPlanted(bug: PlantedBug, options: RunOptions, session: TestSession): Promise<Row> {
  const row = await runOne(finderOf(bug, session), options, bug);
  const found = row.violations.find((violation) => !violation.startsWith(HARNESS_FAILED));
  if (found !== undefined) return { ...row, found, violations: [] };
  return { ...row, violations: row.violations.length > 0 ? row.violations : ['NOT FOUND'] };
}

function finderOf(bug: PlantedBug, session: TestSession): Harness {
  const { foundBy } = bug;
  return typeof foundBy === 'string'
    ? HARNESSES.find(({ id }) => id === foundBy)!
    : session.harnessOf(bug, foundBy.file);
}

async function runAll({ planted, ...options }: Options, results: Results): Promise<Row[]> {
  const rows: Row[] = [];
  const add = (row: Row) => {
    results.add(row);
    rows.push(row);
  };
  const isWanted = (id: string) => options.only === undefined || options.only.includes(id);
  if (planted === undefined) {
    const remaining = HARNESSES.filter(({ id }) => isWanted(id)).values();
    const lane = async () => {
      for (const harness of remaining) add(await runOne(harness, options, undefined));
    };
    await Promise.all(Array.from({ length: AT_ONCE[options.scale] }, lane));
    return rows.toSorted((a, b) => numberOf(a) - numberOf(b));
  }
  const ofHarnesses = planted.filter(({ foundBy }) => typeof foundBy === 'string' && isWanted(foundBy));
  const ofTests = isWanted('test') ? planted.filter(({ foundBy }) => typeof foundBy !== 'string') : [];
  // Three lanes run in parallel, because many bugs make their test wait for something that does not happen. Only one
  // lane runs harnesses, so two harnesses never run in parallel.
  const remaining = ofTests.values();
  const lane = async (...lists: Iterable<PlantedBug>[]) => {
    const session = new TestSession();
    for (const bugs of lists) for (const bug of bugs) add(await runPlanted(bug, options, session));
    await session.end();
  };
  await Promise.all([lane(ofHarnesses, remaining), lane(remaining), lane(remaining)]);
  return rows;
}

function explain({ name, violations, seed }: Row, { scale }: Options): void {
  const [id, bug] = name.split(' ');
  process.stderr.write(`\n${name}:\n${violations.map((violation) => `  - ${violation}\n`).join('')}`);
  process.stderr.write(
    `  replay: npm run rig -- --${scale} --seed ${seed} ${bug ? `--planted ${bug}` : `--only ${id}`}\n` +
      `  details, where there are any: rig/out/${folderOf({ name, seed })}/\n`,
  );
}

// On an interrupt, exit normally, so that worlds end their processes.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

let options: Options;
try {
  options = readOptions();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(2);
}
const { seed, scale, only, planted, json, table } = options;
const results = new Results(OUT, scale, planted !== undefined);
if (table || only !== undefined) results.load();
else results.clear();
if (!table) process.stderr.write(`rig: ${scale}, seed ${seed}\n`);
const rows = table ? results.rows : await runAll(options, results);

// The targets apply only to a run of all harnesses.
const missed = planted === undefined && (table || only === undefined) ? shortfalls(scale, totalOf(rows)) : [];
if (json) console.log(toText({ scale, rows, total: totalOf(rows), targets: TARGETS[scale], missed }));
else if (planted === undefined) printTable(rows, scale);
else printPlanted(rows);
const failed = rows.filter((row) => row.violations.length > 0);
for (const row of failed) explain(row, options);
if (missed.length > 0) process.stderr.write(`\nThe run did not reach its targets: ${missed.join(', ')}.\n`);
process.exit(failed.length + missed.length > 0 ? 1 : 0);
