/**
 * `npm run stress` runs the test files that repeat something, with the full number of repetitions (see
 * packages/testkit/src/rounds.ts), and the test files that `npm test` omits. `npm run stress -- [--part] [file …]` runs
 * only the named files. With `--part`, it also runs a 24th of all stress test files. The commit selects this 24th.
 */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { STRESS_ONLY } from '../vitest.config.ts';
import { headCommit, isInPart } from './parts.ts';

const ROOT = join(import.meta.dirname, '..');
const PARTS = 24;

/**
 * The first file occupies one core for an hour, the second for three minutes. The part that a commit selects never
 * includes them.
 */
const LONGEST = ['packages/reports/test/coverage.test.ts', 'packages/reports/test/identities.test.ts'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { part: { type: 'boolean' } },
});

/** Returns the test files that import `rounds`, directly or through their helpers, and the files in STRESS_ONLY. */
function stressTests(): string[] {
  const files = globSync('packages/*/{src,test}/**/*.ts', { cwd: ROOT, exclude: ['**/node_modules/**'] });
  const imports = new Map(
    files.map((file) => {
      const text = readFileSync(join(ROOT, file), 'utf8');
      const relative = [...text.matchAll(/ from '(\.[^']+)'/g)].map((match) => join(file, '..', match[1]!));
      return [file, { usesRounds: text.includes('testkit/rounds'), relative }];
    }),
  );
  const found = new Set(files.filter((file) => imports.get(file)!.usesRounds));
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const [file, { relative }] of imports) if (relative.some((path) => found.has(path))) found.add(file);
  }
  const others = globSync(STRESS_ONLY, { cwd: ROOT });
  return [...new Set([...found, ...others])].filter((file) => file.endsWith('.test.ts')).sort();
}

const part = values.part
  ? stressTests().filter((file) => !LONGEST.includes(file) && isInPart(file, headCommit(), PARTS))
  : [];
const chosen =
  positionals.length > 0 || values.part ? [...new Set([...positionals, ...part])] : stressTests();
if (chosen.length === 0) {
  // Without files, vitest would run all tests.
  console.log('No test file is in the part of this commit.');
  process.exit();
}
console.log(`${chosen.length} files:\n${chosen.join('\n')}`);
const { status } = spawnSync('vitest', ['run', ...chosen], {
  cwd: ROOT,
  stdio: 'inherit',
  env: { MEX_STRESS: '1', ...process.env },
});
process.exitCode = status ?? 1;
