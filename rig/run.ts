/** `npm run rig -- [--slice|--short|--long] [--seed N] [--only H2,H5] [--planted [name]] [--json]` */
import { randomInt } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { PLANTED_BUGS, type PlantedBug } from '../packages/exchange/src/planted.ts';
import type { Context, Harness, Outcome, Scale } from './harness.ts';
import { HARNESSES } from './harnesses.ts';
import { FINDERS } from './planted.ts';
import { startProgress } from './progress.ts';
import { Random } from './random.ts';
import { printTable, type Row } from './table.ts';

const OUT = fileURLToPath(new URL('out', import.meta.url));
const SCALES: Scale[] = ['slice', 'short', 'long'];

interface Options {
  scale: Scale;
  seed: number;
  only: string[] | undefined;
  /** Which bugs to plant; undefined: run the exchange as it is. */
  planted: readonly PlantedBug[] | undefined;
  json: boolean;
}

function readOptions(): Options {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      slice: { type: 'boolean' },
      short: { type: 'boolean' },
      long: { type: 'boolean' },
      seed: { type: 'string' },
      only: { type: 'string' },
      planted: { type: 'boolean' },
      json: { type: 'boolean' },
    },
  });
  const unknown = positionals.filter((name) => !(PLANTED_BUGS as readonly string[]).includes(name));
  if (unknown.length > 0 || (positionals.length > 0 && !values.planted)) {
    throw new Error(
      `${positionals.join(' ')}: after --planted comes nothing or one of ${PLANTED_BUGS.join(', ')}.`,
    );
  }
  const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
  if (!Number.isSafeInteger(seed) || seed < 0) throw new Error('--seed takes a whole number.');
  const only = values.only?.split(',').map((id) => id.trim().toUpperCase());
  const absent = only?.filter((id) => !HARNESSES.some((harness) => harness.id === id)) ?? [];
  if (absent.length > 0) {
    throw new Error(
      `--only: there is no ${absent.join(', ')}, only ${HARNESSES.map((h) => h.id).join(', ')}.`,
    );
  }
  return {
    scale: SCALES.find((scale) => values[scale as 'slice']) ?? 'short',
    seed,
    only,
    planted: values.planted
      ? positionals.length > 0
        ? (positionals as PlantedBug[])
        : PLANTED_BUGS
      : undefined,
    json: values.json ?? false,
  };
}

async function runOne(harness: Harness, options: Options, planted: PlantedBug | undefined): Promise<Row> {
  const { seed, scale } = options;
  const name = planted === undefined ? harness.id : `${harness.id} ${planted}`;
  const folder = join(OUT, `${name.replace(' ', '-')}-${seed}`);
  const progress = startProgress(name);
  const context: Context = {
    seed,
    scale,
    planted,
    random: new Random(seed).fork(harness.id),
    progress: progress.update,
    keep: (file, value) => {
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
    outcome = { operations: 0, faults: 0, violations: [`The harness itself failed: ${text}`] };
  }
  progress.end();
  return { name, title: harness.title, seconds: (performance.now() - started) / 1000, ...outcome };
}

function toText(value: unknown): string {
  return `${JSON.stringify(value, (_key, v) => (typeof v === 'bigint' ? `${v}` : v), 1)}\n`;
}

/** With a bug planted, silence is the failure. */
async function runPlanted(options: Options): Promise<Row[]> {
  const rows: Row[] = [];
  for (const bug of options.planted!) {
    const id = FINDERS[bug];
    if (options.only !== undefined && !options.only.includes(id)) continue;
    const harness = HARNESSES.find((one) => one.id === id);
    if (harness === undefined) {
      const violations = [`${bug} is expected of ${id}, which is not in harnesses.ts`];
      rows.push({ name: `${id} ${bug}`, title: '', operations: 0, faults: 0, violations, seconds: 0 });
      continue;
    }
    const row = await runOne(harness, options, bug);
    const found = row.violations.filter((violation) => !violation.startsWith('The harness itself failed'));
    rows.push({
      ...row,
      found: found[0],
      violations: found.length > 0 ? [] : [`${bug} was not found`, ...row.violations],
    });
  }
  return rows;
}

async function runAll(options: Options): Promise<Row[]> {
  const rows: Row[] = [];
  for (const harness of HARNESSES) {
    if (options.only === undefined || options.only.includes(harness.id)) {
      rows.push(await runOne(harness, options, undefined));
    }
  }
  return rows;
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
const { seed, scale } = options;
process.stderr.write(`rig: ${scale}, seed ${seed}\n`);
const rows = await (options.planted === undefined ? runAll(options) : runPlanted(options));
const failed = rows.filter((row) => row.violations.length > 0);
if (options.json) console.log(toText({ seed, scale, rows }));
else printTable(rows);
for (const { name, violations } of failed) {
  const [id, bug] = name.split(' ');
  process.stderr.write(`\n${name}:\n${violations.map((violation) => `  - ${violation}\n`).join('')}`);
  process.stderr.write(
    `  replay: npm run rig -- --${scale} --seed ${seed} --only ${id}${bug ? ` --planted ${bug}` : ''}\n` +
      `  kept, where there was something to keep: rig/out/${name.replace(' ', '-')}-${seed}/\n`,
  );
}
process.exit(failed.length > 0 ? 1 : 0);
