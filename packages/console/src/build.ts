/** Builds the console if the existing build is out of date. Runs on Node, in a clone of the repository. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { takeLock } from './buildLock.ts';
import { FOLDER } from './files.ts';

const PACKAGE = fileURLToPath(new URL('../', import.meta.url));
/**
 * Patterns for the files whose changes cause a new build. The paths are relative to the `packages` folder. A test
 * checks that the patterns match every file in the bundle.
 */
export const SOURCES = [
  ...['console/index.html', 'console/package.json', 'console/vite.config.ts', 'console/src/**/*.*'],
  ...['consent', 'contract', 'mpc', 'reports', 'sdk'].map((name) => `${name}/src/**/*.ts`),
  '../package-lock.json',
];

/**
 * Builds the console if its sources have changed. Does nothing in a published package, or where the build tool is not
 * installed.
 */
export async function ensureBuilt(tell: (message: string) => void = () => {}): Promise<void> {
  if (!existsSync(join(PACKAGE, 'vite.config.ts')) || vite() === undefined) return;
  const lock = join(PACKAGE, 'dist', 'lock');
  await mkdir(dirname(lock), { recursive: true });
  const sources = await hashOf();
  let isWaiting = false;
  while (!(await isCurrent(sources))) {
    if (await takeLock(lock)) {
      tell('Building the console. The next start finds it built.');
      await removeUnfinished();
      await build(sources).finally(() => rm(lock, { force: true }));
      return;
    }
    if (!isWaiting) tell('Another process is building the console. Waiting for it.');
    isWaiting = true;
    await setTimeout(200);
  }
}

async function isCurrent(sources: string): Promise<boolean> {
  return (await readFile(stampOf(FOLDER), 'utf8').catch(() => '')) === sources;
}

/**
 * Returns the path of the file that stores the hash of a build's sources. The file is beside the build's folder,
 * because the server serves every file in the folder.
 */
const stampOf = (folder: string) => `${folder.replace(/\/$/, '')}.sources`;

/**
 * Removes the folders of builds that were killed. Call this only while holding the build lock, so that it does not
 * remove the folder of a running build.
 */
async function removeUnfinished(): Promise<void> {
  for (const name of globSync('dist/web-*', { cwd: PACKAGE })) {
    await rm(join(PACKAGE, name), { recursive: true, force: true });
  }
}

/** Builds in a temporary folder and then renames the folder, so that a server never reads half of a build. */
async function build(sources: string): Promise<void> {
  const folder = join(PACKAGE, 'dist', `web-${process.pid}`);
  const args = [vite()!, 'build', '--logLevel', 'error', '--outDir', folder, '--emptyOutDir', PACKAGE];
  const { NODE_OPTIONS: _options, NODE_ENV: _mode, VITEST: _vitest, ...env } = process.env;
  try {
    await promisify(execFile)(process.execPath, args, { cwd: PACKAGE, env });
    await rm(stampOf(FOLDER), { force: true });
    await rm(FOLDER, { recursive: true, force: true });
    await rename(folder, FOLDER);
    await writeFile(stampOf(FOLDER), sources);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function vite(): string | undefined {
  try {
    return join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin', 'vite.js');
  } catch {
    return undefined;
  }
}

async function hashOf(): Promise<string> {
  const packages = join(PACKAGE, '..');
  const files = globSync(SOURCES, { cwd: packages }).filter((file) => !/\.test\.tsx?$/.test(file));
  const hash = createHash('sha256');
  for (const file of files.sort())
    hash
      .update(file)
      .update('\0')
      .update(await readFile(join(packages, file)));
  return hash.digest('hex');
}

if (import.meta.main) await ensureBuilt((message) => console.log(message));
