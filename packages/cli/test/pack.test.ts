/** Tests the packages as users get them: packed, and installed in an empty folder outside the workspace. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, realpathSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type ExchangeProcess, ROOT, startExchangeProcess } from '@measurement-exchange/testkit/process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Manifest, PACKAGES, publishedManifest, versionProblems } from '../../../scripts/pack.ts';
import cli from '../package.json' with { type: 'json' };

const run = promisify(execFile);
/** The environment of these tests with their Node first in PATH, because the Node of the machine may be older. */
const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` };
/** The timeout for an installation, which downloads 180 MB from the registry if the npm cache is empty. */
const INSTALL_MS = 1_200_000;

let folder: string;
/** The project in which all packages are installed. */
let everything: string;
/** The tarballs, in the order of PACKAGES. */
let tarballs: string[];

beforeAll(async () => {
  folder = realpathSync(await mkdtemp(join(tmpdir(), 'mex-pack-')));
  // Let other accounts enter this folder. When the tests run as root, PostgreSQL may run under another account, and
  // that account must reach PostgreSQL's binaries in this folder.
  await chmod(folder, 0o755);
  const { stdout } = await run(process.execPath, [join(ROOT, 'scripts/pack.ts'), join(folder, 'packed')]);
  tarballs = stdout.trim().split('\n');
  everything = await install('everything', PACKAGES);
}, INSTALL_MS);
afterAll(() => rm(folder, { recursive: true, force: true }));

async function install(name: string, packages: string[]): Promise<string> {
  const project = join(folder, name);
  await mkdir(project);
  await writeFile(join(project, 'package.json'), '{ "private": true }');
  const files = packages.map((each) => tarballs[PACKAGES.indexOf(each)]!);
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...files], {
    cwd: project,
    env,
  });
  return project;
}

/** Runs a module with this code in a user's project. */
async function runModule(project: string, code: string, ...args: string[]): Promise<string> {
  const file = join(project, 'script.mjs');
  await writeFile(file, code);
  return (await run(process.execPath, [file, ...args], { cwd: project })).stdout;
}

/** Starts `mex serve --dev` of the installed package. */
const serve = (dataDir: string) =>
  startExchangeProcess({
    dataDir,
    env: { MEX_CONSOLE: 'on' },
    mex: join(installed('cli'), 'dist/mex.js'),
    cwd: everything,
  });

const MEASUREMENT = `
  import { readFile } from 'node:fs/promises';
  import { createClient, createConsumer, createTrustStore } from '@measurement-exchange/sdk';
  import { createAgent, openEvents, openLedger } from '@measurement-exchange/sdk/provider';

  const [devFile, files] = process.argv.slice(2);
  const dev = JSON.parse(await readFile(devFile, 'utf8'));
  const trust = createTrustStore([{ pem: dev.rootCertificatePem }]);
  const [acme, streamly] = [dev.measurementConsumers[0], dev.dataProviders[0]].map((party) => ({
    client: createClient({ baseUrl: dev.baseUrl, token: party.token }),
    credentials: {
      ...party,
      encryptionPublicKey: Buffer.from(party.encryptionPublicKey, 'base64'),
      encryptionPrivateKey: Buffer.from(party.encryptionPrivateKey, 'base64'),
    },
    trust,
  }));
  const parent = streamly.credentials.name;
  const { name: eventGroup } = await streamly.client.createEventGroup({
    parent,
    body: { measurementConsumer: acme.credentials.name, eventGroupReferenceId: 'spring' },
  });

  const consumer = createConsumer(acme);
  const interval = { start: '2026-07-01T00:00:00Z', end: '2026-07-02T00:00:00Z' };
  const { name } = await consumer.create({
    type: 'reach',
    privacy: { epsilon: 10, delta: 0 },
    dataProviders: [{ name: parent, eventGroups: [{ name: eventGroup, interval }] }],
  });

  const events = await openEvents({ files });
  const ledger = openLedger(files + '.ledger', { epsilon: 10, delta: 0, rho: 0 });
  const references = { spring: { measurementConsumers: [acme.credentials.name], served: true } };
  const answered = await createAgent({ ...streamly, events, ledger, references }).once();
  await events.close();
  ledger.close();

  const { dataProviders: [{ reach }], total } = await consumer.open(await consumer.wait(name));
  console.log(JSON.stringify({ answered, reach, bounds: total.reach.bounds }));
`;

const installed = (name: string) => join(everything, 'node_modules/@measurement-exchange', name);
const manifestOf = (name: string): Manifest =>
  JSON.parse(readFileSync(join(installed(name), 'package.json'), 'utf8'));

describe.each(PACKAGES)('the package %s', (name) => {
  it('has JavaScript, types, a README and the license, and neither TypeScript nor tests', () => {
    const files = globSync('**/*.*', { cwd: installed(name), exclude: ['node_modules'] });
    expect(files).toEqual(expect.arrayContaining(['package.json', 'README.md']));
    expect(existsSync(join(installed(name), 'LICENSE'))).toBe(true);
    expect(files.filter((file) => file.endsWith('.js')).length).toBeGreaterThan(3);
    expect(files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))).toEqual([]);
    expect(files.filter((file) => file.includes('.test.'))).toEqual([]);
    // The console's files run in browsers and have no type declarations.
    for (const file of files.filter((each) => each.endsWith('.js') && !each.startsWith('dist/web/'))) {
      expect(files).toContain(file.replace(/\.js$/, '.d.ts'));
    }
  });

  it('names no TypeScript source in its imports', () => {
    const files = globSync('dist/**/*.{js,d.ts}', { cwd: installed(name) });
    const specifiers = files.flatMap((file) => [
      ...readFileSync(join(installed(name), file), 'utf8').matchAll(/(?:from |import\()['"](\.[^'"]+)['"]/g),
    ]);
    expect(specifiers.length).toBeGreaterThan(5);
    expect(specifiers.map((match) => match[1]).filter((specifier) => !/\.js(on)?$/.test(specifier!))).toEqual(
      [],
    );
  });

  it('can be published, and every path in its manifest exists', () => {
    const manifest = manifestOf(name);
    expect(manifest).not.toHaveProperty('private');
    expect(manifest).not.toHaveProperty('scripts');
    expect(manifest.engines).toEqual({ node: '>=24' });
    const entries = Object.values(manifest.exports ?? {}) as unknown as Record<string, string>[];
    expect(entries.map((entry) => Object.keys(entry))).toEqual(entries.map(() => ['types', 'default']));
    const paths = [...entries.flatMap((entry) => Object.values(entry)), ...Object.values(manifest.bin ?? {})];
    expect(paths).not.toEqual([]);
    // An entry may be a pattern such as ./dist/*.js, which must match at least one file.
    for (const path of paths) expect(globSync(path, { cwd: installed(name) }), path).not.toEqual([]);
  });
});

it('npm pack of the sources fails, and names npm run pack', async () => {
  const packing = run('npm', ['pack', '--dry-run'], { cwd: join(ROOT, 'packages/sdk'), env });
  await expect(packing).rejects.toThrow(/npm run pack/);
});

it('versionProblems reports a package that depends on another version of a package of the workspace', () => {
  const contract = { name: 'contract', version: '2.0.0' };
  const sdk = { name: 'sdk', version: '2.0.0', dependencies: { contract: '1.0.0', other: '1.0.0' } };
  expect(versionProblems(sdk, [contract, sdk])).toEqual([
    'sdk must depend on contract 2.0.0: edit its package.json',
  ]);
  expect(versionProblems({ ...sdk, dependencies: { contract: '2.0.0' } }, [contract, sdk])).toEqual([]);
  expect(publishedManifest(contract)).toEqual(contract);
});

it('publishedManifest removes the internal exports', () => {
  const exports = { '.': './src/index.ts', './internal/*': './src/*.ts' };
  const published = publishedManifest({ name: 'exchange', version: '2.0.0', exports });
  expect(Object.keys(published.exports!)).toEqual(['.']);
});

describe('mex, installed', () => {
  it('runs as JavaScript, and prints its version and its help', async () => {
    const bin = join(everything, 'node_modules/.bin/mex');
    expect(realpathSync(bin)).toBe(join(installed('cli'), 'dist/mex.mjs'));
    expect((await run(bin, ['--version'], { env })).stdout).toBe(`${cli.version}\n`);
    const { stdout } = await run('npx', ['mex', '--help'], { cwd: everything, env });
    expect(stdout).toMatch(/^Usage: mex /);
    expect(stdout).toContain('mex serve --dev');
  });

  it('starts without the query engine, as in a container without optional packages', async () => {
    const [engine, away] = ['node_modules/@duckdb', 'away'].map((path) => join(everything, path));
    await rename(engine!, away!);
    try {
      const { stdout } = await run(process.execPath, [join(installed('cli'), 'dist/mex.js'), '--version']);
      expect(stdout).toBe(`${cli.version}\n`);
    } finally {
      await rename(away!, engine!);
    }
  });
});

it('mex console without the console package names the package to install', async () => {
  const [installedConsole, away] = [installed('console'), join(everything, 'console-away')];
  await rename(installedConsole, away);
  try {
    const mex = join(installed('cli'), 'dist/mex.js');
    const dataDir = join(folder, 'without-console');
    const started = await startExchangeProcess({ dataDir, mex, cwd: everything });
    const running = run(process.execPath, [mex, 'console', '--as', 'acme', '--no-open'], {
      env: { ...env, MEX_DATA_DIR: dataDir },
    });
    await expect(running).rejects.toThrow(
      'The console is not installed here: npm install @measurement-exchange/console',
    );
    await started.kill();
  } finally {
    await rename(away, installedConsole);
  }
});

describe('an exchange started from the package', () => {
  let exchange: ExchangeProcess;
  let url: string;
  const dataDir = () => join(folder, 'data');

  beforeAll(async () => {
    exchange = await serve(dataDir());
    url = exchange.url;
  });
  afterAll(async () => {
    await exchange.kill();
  });

  it('serves readiness, the API reference with a style sheet, and its version', async () => {
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${url}/docs`)).text()).toContain('<style>');
    expect(await (await fetch(`${url}/openapi.json`)).json()).toMatchObject({
      info: { version: manifestOf('exchange').version },
    });
  });

  it('serves the packed console, whose files match the checksums in files.json', async () => {
    const web = join(installed('console'), 'dist/web');
    const sums: Record<string, string> = JSON.parse(readFileSync(join(web, 'files.json'), 'utf8'));
    const files = globSync('**/*.*', { cwd: web }).filter((file) => file !== 'files.json');
    expect(files.sort()).toEqual(Object.keys(sums).sort());
    for (const [file, sum] of Object.entries(sums)) {
      expect(
        createHash('sha256')
          .update(readFileSync(join(web, file)))
          .digest('base64'),
      ).toBe(sum);
    }
    const page = await fetch(url, { headers: { accept: 'text/html' } });
    expect(await page.text()).toBe(readFileSync(join(web, 'index.html'), 'utf8'));
  });

  it('authenticates a client in plain JavaScript, and lists the data providers to it', async () => {
    const code = `
      import { readFile } from 'node:fs/promises';
      import { createClient } from '@measurement-exchange/sdk';
      const { baseUrl, measurementConsumers: [{ token }] } = JSON.parse(await readFile(process.argv[2], 'utf8'));
      const client = createClient({ baseUrl, token });
      console.log((await client.whoAmI()).principal);
      for await (const { name } of client.listParties({ collection: 'dataProviders' })) console.log(name);
    `;
    const said = await runModule(everything, code, join(dataDir(), 'dev.json'));
    const dev = JSON.parse(readFileSync(join(dataDir(), 'dev.json'), 'utf8'));
    const [first, ...providers] = said.trim().split('\n');
    expect(first).toBe(dev.measurementConsumers[0].name);
    expect(providers.sort()).toEqual(dev.dataProviders.map((each: { name: string }) => each.name).sort());
  });

  it('relays a whole measurement between a consumer and a provider in plain JavaScript', async () => {
    const people = Array.from({ length: 1000 }, (_, i) => `${i + 1},2026-07-01 12:00:00,spring`);
    const events = join(folder, 'events.csv');
    await writeFile(events, ['vid,timestamp,event_group', ...people].join('\n'));
    const said = await runModule(everything, MEASUREMENT, join(dataDir(), 'dev.json'), events);
    const { answered, reach, bounds } = JSON.parse(said);
    expect(answered).toEqual({ handled: 1, failed: 0 });
    // At epsilon 10, the noise exceeds 3 with a probability of about 10^-17.
    expect(Math.abs(reach.value - 1000)).toBeLessThanOrEqual(3);
    expect(bounds).toEqual([reach.value, reach.value]);
  });
});

describe('the types, in strict TypeScript', () => {
  async function complaints(code: string, ...options: string[]): Promise<string> {
    await writeFile(join(everything, 'user.mts'), code);
    const strict = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024'];
    const args = [join(ROOT, 'node_modules/typescript/bin/tsc'), ...strict, ...options, 'user.mts'];
    const { stdout } = await run(process.execPath, args, { cwd: everything }).catch((error) => error);
    return stdout;
  }

  it('accept correct code of a consumer for a browser, and reject wrong code', async () => {
    const code = `
      import { type ExchangeClient, createClient } from '@measurement-exchange/sdk';
      import { type Measurement, ROUTES } from '@measurement-exchange/contract';
      import { createIdentity } from '@measurement-exchange/sdk/identity';

      const client: ExchangeClient = createClient({ baseUrl: 'http://127.0.0.1:8080', token: () => 'token' });
      for await (const { state } of client.listMeasurements({ parent: 'measurementConsumers/acme' })) {
        const known: string = state;
        // @ts-expect-error The state is not a number.
        const other: number = state;
      }
      export const read = (name: string): Promise<Measurement> => client.getMeasurement({ name });
      export const all = [ROUTES.length satisfies number, createIdentity];
      // @ts-expect-error A token is missing.
      createClient({ baseUrl: 'http://127.0.0.1:8080' });
      // @ts-expect-error A name is missing.
      client.getMeasurement({});
    `;
    expect(await complaints(code, '--lib', 'esnext,dom,dom.iterable', '--types', '')).toBe('');
  });

  it('accept correct code of a provider on Node, and reject wrong code', async () => {
    const code = `
      import type { AgentOptions, Ledger } from '@measurement-exchange/sdk/provider';
      import { createAgent, openLedger } from '@measurement-exchange/sdk/provider';

      const ledger: Ledger = openLedger('ledger', { epsilon: 1, delta: 0, rho: 1 });
      export const agent = (options: Omit<AgentOptions, 'ledger'>) => createAgent({ ...options, ledger });
      // @ts-expect-error An agent needs more than a ledger.
      createAgent({ ledger });
    `;
    const types = ['--skipLibCheck', '--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node'];
    expect(await complaints(code, '--lib', 'esnext', ...types)).toBe('');
  });
});

it("the README's example of the contract runs", async () => {
  const [, example] = /```js\n(.*?)```/s.exec(
    readFileSync(join(installed('contract'), 'README.md'), 'utf8'),
  )!;
  expect(await runModule(everything, example!)).toMatch(/^\d+ routes, \d+ reasons\n3\.1\.0\n$/);
});

it(
  'the SDK alone works, and installs neither the exchange nor its database nor a query engine',
  async () => {
    const project = await install('sdk', ['contract', 'consent', 'mpc', 'reports', 'sdk']);
    const lockfile = JSON.parse(readFileSync(join(project, 'node_modules/.package-lock.json'), 'utf8'));
    const names = Object.keys(lockfile.packages).map((path) => path.replace(/^.*node_modules\//, ''));
    expect(names).toEqual(
      expect.arrayContaining(
        ['contract', 'consent', 'mpc', 'reports', 'sdk'].map((name) => `@measurement-exchange/${name}`),
      ),
    );
    expect(
      names.filter((name) => /exchange\/(exchange|cli)|^pg|postgres|duckdb|fastify|pino/.test(name)),
    ).toEqual([]);
    const code = `
    import { createClient } from '@measurement-exchange/sdk';
    import * as identity from '@measurement-exchange/sdk/identity';
    console.log(typeof createClient, typeof identity.createIdentity);
    // Opening events requires DuckDB. The SDK does not include it, so this call fails.
    import { openEvents } from '@measurement-exchange/sdk/provider';
    await openEvents({ files: ['events.csv'] }).catch((error) => console.log(error.message));
  `;
    const said = await runModule(project, code);
    expect(said).toMatch(/^function function\nCannot find package '@duckdb\/node-api'/);
  },
  INSTALL_MS,
);
