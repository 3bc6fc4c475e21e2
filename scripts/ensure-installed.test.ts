import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

// Stands where npm is: tells how it was called and does what FAKE_NPM says.
const fakeNpm = `
  import { mkdirSync, writeFileSync } from 'node:fs';
  console.log('npm', ...process.argv.slice(2));
  if (process.env.FAKE_NPM === 'fails') process.exit(7);
  mkdirSync('node_modules/.bin', { recursive: true });
  if (process.env.FAKE_NPM !== 'ignores scripts') writeFileSync('node_modules/.bin/node', '');
`;
const installs = 'npm install --no-save --no-audit --no-fund --loglevel=error --include=dev\n';

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

function ensureInstalled(fake = 'works') {
  const env = { ...process.env, FAKE_NPM: fake, npm_execpath: join(project, 'npm-cli.mjs') };
  return spawnSync(process.execPath, ['scripts/ensure-installed.mjs'], {
    cwd: project,
    env,
    encoding: 'utf8',
  });
}

it('installs on a fresh clone, says why, and is silent from then on', () => {
  expect(ensureInstalled()).toMatchObject({
    status: 0,
    stdout: `Installing dependencies: nothing is installed yet.\n${installs}`,
  });
  expect(ensureInstalled()).toMatchObject({ status: 0, stdout: '', stderr: '' });
});

it.each(['package-lock.json', 'package.json', 'packages/one/package.json'])(
  'installs again when %s changed',
  (file) => {
    ensureInstalled();
    appendFileSync(join(project, file), ' ');
    expect(ensureInstalled().stdout).toContain(installs);
    expect(ensureInstalled().stdout).toBe('');
  },
);

it('installs again when the runtime is missing', () => {
  ensureInstalled();
  rmSync(join(project, 'node_modules/.bin/node'));
  expect(ensureInstalled().stdout).toContain('node_modules/.bin/node is missing');
  expect(existsSync(join(project, 'node_modules/.bin/node'))).toBe(true);
});

it.each([
  ['fails', 'Check the network'],
  ['ignores scripts', 'Allow install scripts'],
])('fails with what to do next when npm %s, and tries again the next time', (fake, advice) => {
  const { status, stderr } = ensureInstalled(fake);
  expect(status).toBe(1);
  expect(stderr).toContain(advice);
  expect(ensureInstalled()).toMatchObject({ status: 0, stdout: expect.stringContaining(installs) });
});
