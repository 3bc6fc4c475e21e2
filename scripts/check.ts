/**
 * What `npm run check` enforces beside types and Biome: import rules, code that a browser can run, chance that nobody
 * can predict, migrations that never change, and links between documents that lead somewhere.
 */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { linkProblems } from './links.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const EXCHANGE = 'packages/exchange/src';
const CONSENT = 'packages/consent/src';
const SDK = 'packages/sdk/src';

/** What makes up the SDK's entries `.` and `./identity`; only its providers need Node. */
const SDK_ROOT = [
  'client',
  'consent.ts',
  'consumer',
  'credentials.ts',
  'identity',
  'index.ts',
  'privacy',
].map((part) => `${SDK}/${part}`);

/** Who may import whom. The longest matching place decides; `contract` stands for the package. */
const RULES: [place: string, allowed: string[]][] = [
  ['packages/contract/src', ['packages/contract/src']],
  [CONSENT, ['contract', CONSENT]],
  [`${EXCHANGE}/domain`, ['contract', `${EXCHANGE}/domain`]],
  [`${EXCHANGE}/database`, ['contract', `${EXCHANGE}/domain`, `${EXCHANGE}/database`]],
  [
    `${EXCHANGE}/operations`,
    ['contract', `${EXCHANGE}/domain`, `${EXCHANGE}/database`, `${EXCHANGE}/operations`],
  ],
  [`${EXCHANGE}/auth`, ['contract', `${EXCHANGE}/domain/access.ts`, `${EXCHANGE}/auth`]],
  [
    `${EXCHANGE}/http`,
    [
      'contract',
      'packages/exchange/package.json',
      `${EXCHANGE}/operations`,
      `${EXCHANGE}/auth`,
      `${EXCHANGE}/observability`,
      `${EXCHANGE}/serving`,
      `${EXCHANGE}/http`,
    ],
  ],
  [
    `${EXCHANGE}/observability`,
    ['contract', ...['database', 'domain', 'observability'].map((part) => `${EXCHANGE}/${part}`)],
  ],
  [`${EXCHANGE}/postgres`, [`${EXCHANGE}/postgres`]],
  // The demo parties need keys and certificates; the rest of the exchange needs nothing of the SDK.
  [
    `${EXCHANGE}/dev`,
    [
      'contract',
      'sdk/identity',
      ...['auth', 'dev', 'domain', 'database'].map((part) => `${EXCHANGE}/${part}`),
    ],
  ],
  [SDK, ['contract', 'consent', ...SDK_ROOT]],
  [`${SDK}/provider`, ['contract', 'consent', SDK]],
  ['packages/cli/src', ['contract', 'sdk', 'exchange', 'packages/cli/src']],
  ['packages/testkit/src', ['contract', 'consent', 'sdk', 'exchange', 'packages/testkit/src']],
  // The composition root and what belongs to it.
  [EXCHANGE, ['contract', 'packages/exchange/package.json', EXCHANGE]],
];

const problems = [
  ...importProblems(),
  ...browserProblems(),
  ...chanceProblems(),
  ...migrationProblems(),
  ...linkProblems(ROOT),
];
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);

function importProblems(): string[] {
  return sources().flatMap((file) => {
    const rule = RULES.filter(([place]) => isIn(place, file)).sort((a, b) => b[0].length - a[0].length)[0];
    if (rule === undefined) return [`${file}: no import rule covers this place: add one to scripts/check.ts`];
    return ownImports(file)
      .filter((target) => !rule[1].some((place) => isIn(place, target)))
      .map((target) => `${file}: may not import ${target}`);
  });
}

function browserProblems(): string[] {
  return sources()
    .filter(
      (file) =>
        ['packages/contract/src', CONSENT, SDK].some((place) => isIn(place, file)) &&
        !isIn(`${SDK}/provider`, file),
    )
    .flatMap((file) =>
      specifiersOf(file)
        .filter((specifier) => isBuiltin(specifier))
        .map((specifier) => `${file}: runs in a browser and may not import ${specifier}`),
    );
}

/** Noise, nonces and jitter come from a source that cannot be guessed, and nothing else may stand beside it. */
function chanceProblems(): string[] {
  const forbidden = /\bMath\s*(?:\??\.\s*|\[\s*['"`])random\b|\brandom\b[^{}]*\}\s*=\s*Math\b/;
  return globSync(['packages/*/src/**/*.{ts,js,mjs}', 'scripts/**/*.{ts,mjs}', '{bench,rig}/**/*.{ts,mjs}'], {
    cwd: ROOT,
  })
    .filter((file) => !file.includes('node_modules') && forbidden.test(textOf(file)))
    .map((file) => `${file}: the chance of Math can be predicted: draw from crypto.getRandomValues`);
}

function sources(): string[] {
  return globSync('packages/*/src/**/*.ts', { cwd: ROOT }).filter((f) => !/\.test\.ts$|\/gen\//.test(f));
}

function isIn(place: string, target: string): boolean {
  return target === place || target.startsWith(`${place}/`);
}

function textOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

function specifiersOf(file: string): string[] {
  return [...textOf(file).matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1]!);
}

/** Our own modules a file imports: paths from the root, or the name of a package of ours, `sdk/provider`. */
function ownImports(file: string): string[] {
  return specifiersOf(file).flatMap((specifier) => {
    if (specifier.startsWith('.')) return [normalize(join(dirname(file), specifier))];
    const own = /^@measurement-exchange\/(\w+(?:\/\w+)*)/.exec(specifier);
    return own ? [own[1]!] : [];
  });
}

/** A migration that was published runs on databases we do not see: its text is fixed by its sum. */
function migrationProblems(): string[] {
  const directory = join(ROOT, EXCHANGE, 'database/migrations');
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
