/** What `npm run check` enforces beside types and Biome: import rules, and migrations that never change. */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const EXCHANGE = 'packages/exchange/src';

/** Who may import whom. The longest matching place decides; `contract` stands for the package. */
const RULES: [place: string, allowed: string[]][] = [
  ['packages/contract/src', ['packages/contract/src']],
  [`${EXCHANGE}/domain`, ['contract', `${EXCHANGE}/domain`]],
  [`${EXCHANGE}/sql`, ['contract', `${EXCHANGE}/domain`, `${EXCHANGE}/sql`]],
  [`${EXCHANGE}/operations`, ['contract', `${EXCHANGE}/domain`, `${EXCHANGE}/sql`, `${EXCHANGE}/operations`]],
  [`${EXCHANGE}/auth`, ['contract', `${EXCHANGE}/domain/access.ts`, `${EXCHANGE}/auth`]],
  [
    `${EXCHANGE}/http`,
    [
      'contract',
      'packages/exchange/package.json',
      `${EXCHANGE}/operations`,
      `${EXCHANGE}/auth`,
      `${EXCHANGE}/http`,
    ],
  ],
  [`${EXCHANGE}/postgres`, [`${EXCHANGE}/postgres`]],
  ['packages/cli/src', ['contract', 'exchange', 'packages/cli/src']],
  // The composition root and what belongs to it.
  [EXCHANGE, ['contract', 'packages/exchange/package.json', EXCHANGE]],
];

const problems = [...importProblems(), ...migrationProblems()];
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);

function importProblems(): string[] {
  const files = globSync('packages/*/src/**/*.ts', { cwd: ROOT }).filter(
    (f) => !/\.test\.ts$|\/gen\//.test(f),
  );
  return files.flatMap((file) => {
    const rule = RULES.filter(([place]) => file.startsWith(`${place}/`)).sort(
      (a, b) => b[0].length - a[0].length,
    )[0];
    if (rule === undefined) return [`${file}: no import rule covers this place: add one to scripts/check.ts`];
    return importsOf(file)
      .filter((target) => !rule[1].some((place) => target === place || target.startsWith(`${place}/`)))
      .map((target) => `${file}: may not import ${target}`);
  });
}

/** Our own modules a file imports: paths from the root, or the name of a package of ours. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1]!);
  return specifiers.flatMap((specifier) => {
    if (specifier.startsWith('.')) return [normalize(join(dirname(file), specifier))];
    const own = /^@measurement-exchange\/(\w+)/.exec(specifier);
    return own ? [own[1]!] : [];
  });
}

/** A migration that was published runs on databases we do not see: its text is fixed by its sum. */
function migrationProblems(): string[] {
  const directory = join(ROOT, EXCHANGE, 'sql/migrations');
  const sums = new Map(
    readFileSync(join(directory, 'SHA256SUMS'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(/\s+/).reverse() as [string, string]),
  );
  const files = globSync('*.sql', { cwd: directory }).sort();
  const missing = [...sums.keys()].filter((file) => !files.includes(file));
  return [
    ...missing.map((file) => `${file}: a migration may not be removed`),
    ...files.flatMap((file) => {
      const sum = createHash('sha256')
        .update(readFileSync(join(directory, file)))
        .digest('hex');
      if (!sums.has(file))
        return [`${file}: add "${sum}  ${file}" to ${relative(ROOT, directory)}/SHA256SUMS`];
      return sums.get(file) === sum
        ? []
        : [`${file}: a migration may not change; write the next one instead`];
    }),
  ];
}
