/**
 * Compiles all schema pairs together and checks them with one call of `buf breaking`, because each call takes 0.1 s.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import type { SchemaPair } from './pair.ts';

const BUF = fileURLToPath(new URL('../../../../../node_modules/.bin/buf', import.meta.url));

/** The strictest category of buf rules among those that check only whether existing data stays readable. */
const RULES = { version: 'v2', breaking: { use: ['CSR'] } };

export interface Judged {
  pair: SchemaPair;
  before: Uint8Array;
  after: Uint8Array;
  /** The names of the rules that buf reports as broken. */
  broken: string[];
}

/** Checks all pairs in one folder. Each pair gets its own package name in place of acme. */
export function judgeByBuf(pairs: SchemaPair[]): Judged[] {
  const folder = mkdtempSync(join(tmpdir(), 'mex-schemas-'));
  try {
    const before = compile(folder, 'before', pairs);
    const after = compile(folder, 'after', pairs);
    const verdicts = askBreaking(folder);
    return pairs.map((pair, i) => {
      const own = verdicts.filter((v) => caseOf(v.path ?? v.message) === i);
      const broken = [...new Set(own.map((v) => v.type))].sort();
      return { pair, before: before[i]!, after: after[i]!, broken };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const rename = (text: string, i: number) => text.replaceAll(/\bacme\b/g, `case${i}`);

/** Returns the path with the package name of the original pair, `acme`, in place of a name such as `case7`. */
export const asInPair = (path: string) => path.replace(/^case\d+/, 'acme');

function caseOf(text: string): number {
  return Number(/case(\d+)/.exec(text)?.[1]);
}

function compile(folder: string, side: 'before' | 'after', pairs: SchemaPair[]): Uint8Array[] {
  pairs.forEach((pair, i) => {
    for (const [name, text] of Object.entries(pair[side])) {
      const file = join(folder, side, rename(name, i));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, rename(text, i));
    }
  });
  const image = join(folder, `${side}.binpb`);
  run('build', join(folder, side), '-o', image);
  const { file } = fromBinary(FileDescriptorSetSchema, readFileSync(image));
  return pairs.map((_, i) => {
    const set = create(FileDescriptorSetSchema, { file: file.filter(({ name }) => caseOf(name) === i) });
    return toBinary(FileDescriptorSetSchema, set);
  });
}

interface Verdict {
  /** The file; absent if the file was deleted. */
  path?: string;
  type: string;
  message: string;
}

function askBreaking(folder: string): Verdict[] {
  const [before, after] = ['before', 'after'].map((side) => join(folder, `${side}.binpb`));
  const lines = run(
    'breaking',
    after!,
    '--against',
    before!,
    '--error-format',
    'json',
    '--config',
    JSON.stringify(RULES),
  );
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** Runs buf and returns its standard output. Status 100 means that buf found broken rules. */
function run(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(BUF, args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status !== 0 && status !== 100) throw new Error(`buf ${args[0]}: ${stderr}`);
  if (status === 100 && args[0] === 'build') throw new Error(stderr);
  return stdout;
}
