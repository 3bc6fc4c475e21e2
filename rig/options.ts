/** The options of the command line. */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { headCommit, isInPart } from '../scripts/parts.ts';
import type { Scale } from './harness.ts';
import { HARNESSES } from './harnesses.ts';
import { bugNamed, PLANTED_BUGS } from './planted/bugs.ts';
import type { PlantedBug } from './planted/plant.ts';

export interface Options {
  scale: Scale;
  seed: number;
  only: string[] | undefined;
  /** The bugs to plant. If undefined, the exchange runs without a bug. */
  planted: readonly PlantedBug[] | undefined;
  json: boolean;
  /** Runs no harness, and prints the saved rows of earlier runs. */
  table: boolean;
}

const SCALES = ['slice', 'short', 'long'] as const;

export function readOptions(args?: string[]): Options {
  const { values, positionals } = parseArgs({
    ...(args === undefined ? {} : { args }),
    allowPositionals: true,
    options: {
      slice: { type: 'boolean' },
      short: { type: 'boolean' },
      long: { type: 'boolean' },
      seed: { type: 'string' },
      only: { type: 'string' },
      planted: { type: 'boolean' },
      third: { type: 'boolean' },
      json: { type: 'boolean' },
      table: { type: 'boolean' },
    },
  });
  const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
  if (!Number.isSafeInteger(seed) || seed < 0) throw new Error('--seed takes a whole number.');
  return {
    scale: SCALES.find((scale) => values[scale]) ?? 'short',
    seed,
    only: harnessesOf(values.only),
    planted: isThird(values.third, positionals)
      ? thirdOf(PLANTED_BUGS, headCommit())
      : bugsOf(values.planted ?? false, positionals),
    json: values.json ?? false,
    table: values.table ?? false,
  };
}

function harnessesOf(list: string | undefined): string[] | undefined {
  const only = list?.split(',').map((id) => id.trim().toUpperCase());
  const absent = only?.filter((id) => !HARNESSES.some((harness) => harness.id === id)) ?? [];
  if (absent.length === 0) return only;
  throw new Error(`--only: there is no ${absent.join(', ')}, only ${HARNESSES.map((h) => h.id).join(', ')}.`);
}

function bugsOf(planted: boolean, names: string[]): readonly PlantedBug[] | undefined {
  if (!planted && names.length > 0)
    throw new Error(`${names.join(' ')}: names of bugs come after --planted.`);
  if (!planted) return undefined;
  return names.length > 0 ? names.map(bugNamed) : PLANTED_BUGS;
}

function isThird(third: boolean | undefined, names: string[]): boolean {
  if (third && names.length > 0) throw new Error(`--third chooses the bugs: leave out ${names.join(' ')}.`);
  return third ?? false;
}

/** A third of the bugs. The commit decides which third. */
export function thirdOf(bugs: readonly PlantedBug[], commit: string): PlantedBug[] {
  return bugs.filter(({ name }) => isInPart(name, commit, 3));
}
