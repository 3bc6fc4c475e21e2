import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import manifest from '../packages/cli/package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('..', import.meta.url));

// A fake npm, which prints its arguments and behaves as FAKE_NPM says.
const fakeNpm = `
  import { mkdirSync, writeFileSync } from 'node:fs';
  console.log('npm', ...process.argv.slice(2));
  const fake = process.env.FAKE_NPM;
  if (fake === 'fails') process.exit(7);
  mkdirSync('node_modules/.bin', { recursive: true });
  const version = fake === 'installs another Node' ? 'v20.9.0' : 'v24.1.0';
  if (fake !== 'ignores scripts') writeFileSync('node_modules/.bin/node', '#!/bin/sh\\necho ' + version, { mode: 0o755 });
`;
const installs = 'npm install --no-save --no-audit --no-fund --loglevel=error --include=dev\n';

const lockfile = (packages: object) => JSON.stringify({ packages });

let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'mex-install-'));
  for (const folder of ['scripts', 'packages/one']) mkdirSync(join(project, folder), { recursive: true });
  for (const file of ['package.json', 'package-lock.json', 'packages/one/package.json']) {
    writeFileSync(join(project, file), '{}');
  }
  writeFileSync(join(project, 'npm-cli.mjs'), fakeNpm);
  copyFileSync(
    new URL('ensure-installed.mjs', import.meta.url),
    join(project, 'scripts/ensure-installed.mjs'),
  );
});

afterEach(() => rmSync(project, { recursive: true }));

function ensureInstalled(fake = 'works', node = process.execPath) {
  const npm_execpath = join(project, 'npm-cli.mjs');
  const env = { ...process.env, FAKE_NPM: fake, npm_execpath, npm_node_execpath: node };
  return spawnSync(node, ['scripts/ensure-installed.mjs'], {
    cwd: project,
    env,
    encoding: 'utf8',
  });
}

it('ensure-installed installs on a fresh clone and prints why, and prints nothing the next time', () => {
  expect(ensureInstalled()).toMatchObject({
    status: 0,
    stdout: `Installing dependencies: nothing is installed yet. It takes a minute or two, and says nothing meanwhile.\n${installs}`,
  });
  expect(ensureInstalled()).toMatchObject({ status: 0, stdout: '', stderr: '' });
});

it('ensure-installed installs again if the lockfile or the dependencies changed, or if the runtime is missing', () => {
  ensureInstalled();
  for (const [file, text] of [
    ['package-lock.json', lockfile({ 'node_modules/left': { version: '2.0.0' } })],
    ['package.json', '{"dependencies":{"left":"^1.0.0"}}'],
    ['packages/one/package.json', '{"dependencies":{"left":"^1.0.0"}}'],
  ] as const) {
    writeFileSync(join(project, file), text);
    expect([file, ensureInstalled().stdout]).toEqual([file, expect.stringContaining(installs)]);
  }
  expect(ensureInstalled().stdout).toBe('');
  rmSync(join(project, 'node_modules/.bin/node'));
  expect(ensureInstalled().stdout).toContain('node_modules/.bin/node is missing');
  expect(existsSync(join(project, 'node_modules/.bin/node'))).toBe(true);
});

describe('node_modules that npm filled without ensure-installed', () => {
  const other = { version: '1.0.0', optional: true, os: ['aix'] };
  const mine = { version: '1.0.0', optional: true, os: [process.platform], cpu: [process.arch] };

  it.each([
    ['the packages of the lockfile', { left: '1.0.0', mine: '1.0.0' }, undefined],
    ['another version', { left: '1.0.1', mine: '1.0.0' }, 'left'],
    ['a missing package', { mine: '1.0.0' }, 'left'],
    ['no binary for this platform', { left: '1.0.0' }, 'mine'],
    ['other dependencies than package.json', { left: '1.0.0', mine: '1.0.0' }, 'package.json'],
  ])('are installed again unless they match the lockfile: %s', (name, versions, differing) => {
    ensureInstalled();
    rmSync(join(project, 'node_modules/.mex-installed'));
    const own = name.startsWith('other') ? { dependencies: { left: '^1.0.0' } } : {};
    const locked = { left: { version: '1.0.0' }, other, mine };
    const inModules = (packages: object) =>
      Object.fromEntries(Object.entries(packages).map(([name, each]) => [`node_modules/${name}`, each]));
    writeFileSync(join(project, 'package-lock.json'), lockfile({ '': own, ...inModules(locked) }));
    const found = Object.fromEntries(Object.entries(versions).map(([name, version]) => [name, { version }]));
    writeFileSync(join(project, 'node_modules/.package-lock.json'), lockfile(inModules(found)));
    const { stdout } = ensureInstalled();
    if (differing === undefined) expect(stdout).toBe('');
    else expect(stdout).toContain(`${differing} is not as the lockfile has it`);
    expect(ensureInstalled().stdout).toBe('');
  });
});

it.each([
  ['fails', 'Check the network'],
  ['ignores scripts', 'Allow install scripts'],
  ['installs another Node', 'Node 24 is needed'],
])('ensure-installed fails with advice if npm %s, and retries the next time', (fake, advice) => {
  const { status, stderr } = ensureInstalled(fake);
  expect(status).toBe(1);
  expect(stderr).toContain(advice);
  expect(ensureInstalled()).toMatchObject({ status: 0, stdout: expect.stringContaining(installs) });
});

/** The path of the machine's own Node, if it is older than the Node that npm installs here. */
const older = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .map((folder) => join(folder, 'node'))
  .find((node) => existsSync(node) && Number.parseInt(versionOf(node).slice(1), 10) < 24);

function versionOf(node: string): string {
  return spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout ?? '';
}

const which = older === undefined ? 'skipped: PATH has no Node below 24' : versionOf(older).trim();
describe.skipIf(older === undefined)(`with an older Node (${which})`, () => {
  it('ensure-installed installs, and prints nothing the next time', () => {
    expect(ensureInstalled('works', older).stdout).toContain(installs);
    expect(ensureInstalled('works', older)).toMatchObject({ status: 0, stdout: '', stderr: '' });
  });

  it('npm scripts use the Node that npm installed, and mex starts', () => {
    const { stdout, stderr } = spawnSync('npm', ['run', '-s', 'mex', '--', '--version'], {
      cwd: ROOT,
      env: { ...process.env, PATH: `${dirname(older!)}${delimiter}${process.env.PATH}` },
      encoding: 'utf8',
    });
    expect({ stdout, stderr }).toEqual({ stdout: `${manifest.version}\n`, stderr: '' });
  });

  it('mex exits with status 1 and prints which Node it requires', () => {
    const mex = join(ROOT, 'packages/cli/src/mex.mjs');
    const { status, stdout, stderr } = spawnSync(older!, [mex, '--version'], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^mex needs Node 24 or newer, and \S+ is Node \d+\.\d+\.\d+\.\n.*npm start/);
  });
});
