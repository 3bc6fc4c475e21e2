/**
 * Tests that the command printed by `mex measure --no-wait` runs exactly as printed, in the same folder and
 * environment.
 */
import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDevIssuer, devKeyFile } from '@measurement-exchange/exchange/devIssuer';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { eciesPrivate, keyset } from '@measurement-exchange/testkit/tinkKeysets';
import { fulfillWith, reach } from '@measurement-exchange/testkit/world';
import { describe, expect, it } from 'vitest';
import { programName, quoteWord } from '../src/terminal/shell.ts';
import { told } from './environment.ts';
import { mex } from './mexInProcess.ts';
import { der } from './opensslIdentity.ts';
import { describeTo, path, useWorld, w } from './partyWorld.ts';

useWorld();

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const MEX = join(ROOT, 'packages/cli/src/mex.mjs');
/** PATH with the Node of the tests first, because the Node of the machine may be older. */
const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`;
const JANUARY = '--from 2026-01-01 --to 2026-02-01';

interface Output {
  out: string;
  err: string;
}

/** Runs a command line in a new shell, without the environment variables that npm sets for the tests. */
function shell(command: string, cwd: string, env: Record<string, string> = {}): Promise<Output> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^npm_/.test(name));
  const options = {
    cwd,
    env: {
      ...Object.fromEntries(inherited),
      PATH,
      NO_UPDATE_NOTIFIER: '1',
      npm_config_offline: 'true',
      ...env,
    },
  };
  return new Promise((resolve, reject) => {
    execFile('sh', ['-c', command], options, (error, out, err) => {
      if (error) reject(new Error(`${command}: ${err}`));
      else resolve({ out, err });
    });
  });
}

/**
 * Creates a measurement with this command line, lets Streamly fulfill it, and runs the command that was printed.
 * Returns the printed command, with placeholders for the measurement and the data directory.
 */
async function runPrinted(measure: string, cwd: string, env: Record<string, string> = {}): Promise<string> {
  const { out, err } = await shell(`${measure} --provider streamly ${JANUARY} --no-wait`, cwd, env);
  const name = /^(measurementConsumers\/\S+)\n$/.exec(out)![1]!;
  const printed = /^Its figures: (.*)$/m.exec(err)![1]!;
  await fulfillWith(w.streamly, name, reach(50n));
  expect((await shell(printed, cwd, env)).out).toMatch(/reach +50 /);
  return printed.replace(name, '<name>').replace(w.exchange.dataDir, '<data>');
}

describe('the command that mex measure --no-wait prints', () => {
  it('runs for a demo party if mex was started by npm', async () => {
    const printed = await runPrinted('npm run -s mex -- measure reach --as acme', ROOT);
    expect(printed).toBe(
      'MEX_DATA_DIR=<data> npm run -s mex -- measurements results <name> --wait --as acme',
    );
  });

  // Only `npm run stress` runs this slow test. Runs of this file with a planted bug (rig/planted) skip the test.
  it.runIf(isStress)(
    'runs for an imported identity whose folder has a space, with mex on the PATH, a root and an address',
    async () => {
      const bin = path('bin');
      await mkdir(bin);
      await symlink(MEX, join(bin, 'mex'));
      const consumer = 'measurementConsumers/imported';
      await writeFile(path('cert.der'), der('ecCertificate'));
      await writeFile(path('key.der'), der('ecSec1'));
      await writeFile(path('root.der'), der('root'));
      await writeFile(path('private.tink'), keyset([eciesPrivate()]));
      await writeFile(path('demo-root.pem'), w.root.certificatePem);
      await mex(
        ...['identity', 'import', consumer, '--out', path('my keys'), '--certificate', path('cert.der')],
        ...['--signing-key', path('key.der'), '--root', path('root.der')],
        ...['--encryption-private', path('private.tink')],
      );
      const issuer = `${w.exchange.url}/dev`;
      await mex(
        ...['admin', 'onboard', path('my keys/party.json'), '--trust-root'],
        ...['--issuer', issuer, '--subject', consumer, ...(await told(path('my keys')))],
      );
      await describeTo({ ...w.acme, name: consumer }, w.streamly, 'imported');
      const token = await (
        await createDevIssuer({ keyFile: devKeyFile(w.exchange.dataDir), baseUrl: w.exchange.url })
      ).mint(consumer);
      const env = { MEX_TOKEN: token, PATH: `${bin}${delimiter}${PATH}` };
      const keys = `--identity 'my keys' --root dataProviders/streamly=demo-root.pem --url ${w.exchange.url}`;
      expect(await runPrinted(`mex measure reach ${keys}`, path('.'), env)).toBe(
        `mex measurements results <name> --wait --url ${w.exchange.url} --identity 'my keys' --root dataProviders/streamly=demo-root.pem`,
      );
    },
  );

  it('names the program by its path in another folder, and does not print a token', async () => {
    const { token } = w.exchange.dev.measurementConsumers[0]!;
    const { err } = await shell(
      `node ${quoteWord(MEX)} measure reach --as acme --token ${quoteWord(token)} --provider streamly ${JANUARY} --no-wait`,
      path('.'),
    );
    expect(err).toContain(
      `MEX_DATA_DIR=${w.exchange.dataDir} node ${quoteWord(MEX)} measurements results measurementConsumers/`,
    );
    expect(err).toContain('--wait --as acme   (with your --token, which is not printed)');
    expect(err).not.toContain(token);
  });
});

describe('programName', () => {
  const started = (script: string, env: Record<string, string> = {}) => programName(['node', script], env);

  it('returns the command that runs mex again in the same shell', () => {
    expect(started('/usr/bin/mex', { PATH: '/bin:/usr/bin' })).toBe('mex');
    expect(started('/opt/a b/mex', { PATH: '/bin' })).toBe("'/opt/a b/mex'");
    expect(started(join(process.cwd(), 'node_modules/.bin/mex'))).toBe('./node_modules/.bin/mex');
    expect(started('/x/node_modules/.bin/mex', { npm_lifecycle_event: 'npx' })).toBe('npx mex');
    expect(started('/x/mex.ts', { npm_lifecycle_event: 'mex' })).toBe('npm run -s mex --');
    expect(started('/x/mex.mjs', { npm_lifecycle_event: 'test' })).toBe('node /x/mex.mjs');
  });
});
