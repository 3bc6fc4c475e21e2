/** Checks that lists in documents match the code. For example, docs/api.md must name every operation. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROUTES, type Route } from '@measurement-exchange/contract';
import { loadConfig } from '@measurement-exchange/exchange/config';
import { FINDING_CODES } from '@measurement-exchange/exchange/internal/domain/findings';
import { describe, expect, it } from 'vitest';
import { ownImports, sources } from './check/sources.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');
/** Returns the words that none of these documents contains. */
const missingFrom = (documents: string | string[], words: Iterable<string>) => {
  const known = new Set(
    [documents]
      .flat()
      .map(textOf)
      .join('\n')
      .match(/[\w.]+/g),
  );
  return [...new Set(words)].filter((word) => !known.has(word));
};

describe('docs/api.md', () => {
  it('names every operation', () => {
    expect(
      missingFrom(
        'docs/api.md',
        ROUTES.map(({ operation }) => operation),
      ),
    ).toEqual([]);
  });

  it('names every filter of a list', () => {
    const parameters = (ROUTES as readonly Route[]).flatMap(({ query }) =>
      Object.keys((query as { properties?: object } | undefined)?.properties ?? {}),
    );
    expect(
      missingFrom(
        ['docs/api.md', 'docs/api-resources.md', 'docs/api-changes.md'],
        parameters.filter((name) => name.startsWith('filter.')),
      ),
    ).toEqual([]);
  });

  it('explains every finding', () => {
    expect(missingFrom('docs/api.md', Object.keys(FINDING_CODES))).toEqual([]);
  });
});

describe('docs/data-model.md', () => {
  const schema = textOf('packages/exchange/src/database/schema.sql');
  const tables = new Map(
    [...schema.matchAll(/^CREATE TABLE (\w+) \(\n([\s\S]*?)^\);/gm)].map(([, table, body]) => [
      table!,
      body!,
    ]),
  );
  const [, diagram] = /^erDiagram\n([\s\S]*?)^```/m.exec(textOf('docs/data-model.md'))!;

  it('names every table', () => {
    expect(tables.size).toBeGreaterThan(25);
    expect(missingFrom('docs/data-model.md', tables.keys())).toEqual([]);
  });

  it('draws only columns that exist', () => {
    const drawn = [...diagram!.matchAll(/^ {2}(\w+) \{\n([\s\S]*?)^ {2}\}/gm)].flatMap(([, table, body]) =>
      [...body!.matchAll(/^ {4}\w+ (\w+)/gm)].map(([, column]) => ({ table: table!, column: column! })),
    );
    expect(drawn.length).toBeGreaterThan(100);
    const exists = ({ table, column }: (typeof drawn)[number]) =>
      new RegExp(`^  ${column} `, 'm').test(tables.get(table) ?? '');
    expect(drawn.filter((each) => !exists(each))).toEqual([]);
  });

  it('draws every foreign key', () => {
    const drawn = [...diagram!.matchAll(/^ {2}(\w+) \S+--\S+ (\w+) :/gm)].map(
      ([, to, from]) => `${from} → ${to}`,
    );
    const keys = [...tables].flatMap(([from, body]) =>
      [...body.matchAll(/FOREIGN KEY .* REFERENCES (\w+)/g)].map(([, to]) => `${from} → ${to}`),
    );
    expect(keys.length).toBeGreaterThan(20);
    expect(keys.filter((key) => !drawn.includes(key))).toEqual([]);
  });
});

describe('docs/architecture.md', () => {
  it('draws exactly the imports between packages', () => {
    const [, picture] = /^flowchart BT\n([\s\S]*?)^```/m.exec(textOf('docs/architecture.md'))!;
    const drawn = [...picture!.matchAll(/^ {2}(\w+) -.*-> (\w+)$/gm)].map(
      ([, from, to]) => `${from} → ${to}`,
    );
    const packageOf = (path: string) => /^packages\/(\w+)/.exec(path)?.[1] ?? /^\w+/.exec(path)![0];
    const imports = sources().flatMap((file) =>
      ownImports(file).map((target) => `${packageOf(file)} → ${packageOf(target)}`),
    );
    const between = [...new Set(imports)].filter((edge) => {
      const [from, to] = edge.split(' → ');
      // Skip the imports of testkit. The picture only summarizes them, because testkit imports every package.
      return from !== to && from !== 'testkit';
    });
    expect(drawn.filter((edge) => !/testkit|rig/.test(edge)).sort()).toEqual(between.sort());
  });
});

it('docs/production.md names every setting', () => {
  expect(missingFrom('docs/production.md', Object.keys(loadConfig({})))).toEqual([]);
});

it('CONTRIBUTING.md maps every package', () => {
  const [map] = /^## The map\n[\s\S]*?^## /m.exec(textOf('CONTRIBUTING.md'))!;
  const packages = globSync('packages/*/package.json', { cwd: ROOT }).map(dirname);
  expect(packages.length).toBeGreaterThan(8);
  expect(packages.filter((name) => !map.includes(`\n${name} `))).toEqual([]);
});

it('CONTRIBUTING.md names files that exist', () => {
  const [section] = /^## To do X[\s\S]*?^## /m.exec(textOf('CONTRIBUTING.md'))!;
  const paths = [...section.matchAll(/`([\w.]+\/[\w./]*)`/g)].map(([, path]) => path!);
  expect(paths.length).toBeGreaterThan(20);
  const isThere = (path: string) =>
    ['.', 'packages', 'packages/exchange/src'].some((at) => existsSync(join(ROOT, at, path)));
  expect(paths.filter((path) => !isThere(path))).toEqual([]);
});

describe('the Dockerfile', () => {
  const dockerfile = textOf('Dockerfile');

  it('pins its base by digest, uses the same Node version as the tests, and names no registry', () => {
    const { packages } = JSON.parse(textOf('package-lock.json'));
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base!);
    expect(bases.slice(1)).toEqual(['base', 'base']);
    expect(bases.slice(0, 1)).toEqual([
      expect.stringMatching(/^node:[\d.]+-bookworm-slim@sha256:[0-9a-f]{64}$/),
    ]);
    expect(bases[0]).toContain(`node:${packages['node_modules/node'].version}-`);
  });

  it('installs only from the lockfile, and runs no install scripts', () => {
    expect(dockerfile.match(/\bnpm (ci|install|i)\b.*/g)).toEqual([
      expect.stringMatching(/^npm ci .*--ignore-scripts/),
      // This installs DuckDB's binary for this platform, in the version of the lockfile.
      expect.stringMatching(/^npm install --no-save .*--ignore-scripts/),
    ]);
    expect(dockerfile).not.toMatch(/\b(curl|wget|apt-get|apk|npx)\b|^ADD /m);
    type Locked = { dev?: boolean; link?: boolean; integrity?: string };
    const locked = Object.entries<Locked>(JSON.parse(textOf('package-lock.json')).packages).filter(
      ([path, { dev, link }]) => path.includes('node_modules/') && !dev && !link,
    );
    expect(locked.length).toBeGreaterThan(100);
    for (const [path, { integrity }] of locked) expect(integrity, path).toMatch(/^sha512-/);
  });
});
