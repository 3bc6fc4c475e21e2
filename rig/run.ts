/**
 * `npm run rig -- [--slice|--short|--long] [--seed N] [--only H2,H5] [--planted [name]] [--json] [--table]`
 * `--table` runs nothing and shows the rows kept of the last runs of that scale together.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Context, Harness, Outcome } from './harness.ts';
import { HARNESSES } from './harnesses.ts';
import { type Options, readOptions } from './options.ts';
import type { PlantedBug } from './planted/plant.ts';
import { startProgress } from './progress.ts';
import { Random } from './random.ts';
import { Results, type Row, toText, totalOf } from './results.ts';
import { printPlanted, printTable } from './table.ts';
import { emptyTally, shortfalls, TARGETS } from './tally.ts';

const OUT = fileURLToPath(new URL('out', import.meta.url));

async function runOne(harness: Harness, options: Options, planted: PlantedBug | undefined): Promise<Row> {
  const { seed, scale } = options;
  const name = planted === undefined ? harness.id : `${harness.id} ${planted.name}`;
  const progress = startProgress(name);
  const context: Context = {
    seed,
    scale,
    planted,
    random: new Random(seed).fork(harness.id),
    progress: progress.update,
    keep: (file, value) => {
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
    const violations = [`The harness itself failed: ${text}`];
    outcome = { operations: 0, faults: 0, violations, tally: emptyTally() };
  }
  progress.end();
  const seconds = (performance.now() - started) / 1000;
  return { name, title: harness.title, seed, seconds, endedAt: new Date().toISOString(), ...outcome };
}

function folderOf({ name, seed }: Pick<Row, 'name' | 'seed'>): string {
  return `${name.replace(' ', '-')}-${seed}`;
}

/** With a bug planted, silence is the failure. */
async function runPlanted(bug: PlantedBug, options: Options): Promise<Row> {
  const harness = HARNESSES.find(({ id }) => id === bug.foundBy)!;
  const row = await runOne(harness, options, bug);
  const found = row.violations.filter((violation) => !violation.startsWith('The harness itself failed'));
  const violations = found.length > 0 ? [] : [`${bug.name} was not found`, ...row.violations];
  return { ...row, found: found[0], violations };
}

async function runAll(options: Options, results: Results): Promise<Row[]> {
  const { only, planted } = options;
  const isWanted = (id: string) => only === undefined || only.includes(id);
  const rows: Row[] = [];
  const add = (row: Row) => {
    results.add(row);
    rows.push(row);
  };
  if (planted === undefined) {
    for (const harness of HARNESSES) if (isWanted(harness.id)) add(await runOne(harness, options, undefined));
  } else {
    for (const bug of planted) if (isWanted(bug.foundBy)) add(await runPlanted(bug, options));
  }
  return rows;
}

function explain({ name, violations, seed }: Row, { scale }: Options): void {
  const [id, bug] = name.split(' ');
  process.stderr.write(`\n${name}:\n${violations.map((violation) => `  - ${violation}\n`).join('')}`);
  process.stderr.write(
    `  replay: npm run rig -- --${scale} --seed ${seed} --only ${id}${bug ? ` --planted ${bug}` : ''}\n` +
      `  kept, where there was something to keep: rig/out/${folderOf({ name, seed })}/\n`,
  );
}

// Stopping halfway ends what was started: worlds end their processes when this one exits.
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

// A part of the harnesses need not reach what all of them do.
const missed = planted === undefined && (table || only === undefined) ? shortfalls(scale, totalOf(rows)) : [];
if (json) console.log(toText({ scale, rows, total: totalOf(rows), targets: TARGETS[scale], missed }));
else if (planted === undefined) printTable(rows, scale);
else printPlanted(rows);
const failed = rows.filter((row) => row.violations.length > 0);
for (const row of failed) explain(row, options);
if (missed.length > 0) process.stderr.write(`\nThe run did not reach its targets: ${missed.join(', ')}.\n`);
process.exit(failed.length + missed.length > 0 ? 1 : 0);
