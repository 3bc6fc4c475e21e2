import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Which of the named packages are loaded when Node imports `specifier`, and uses it. */
async function loadedBy(
  specifier: string,
  packages: string[],
  use = '',
  variables: NodeJS.ProcessEnv = {},
): Promise<string[]> {
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = new Set();
    registerHooks({
      load(url, context, next) {
        for (const name of ${JSON.stringify(packages)}) if (url.includes('/node_modules/' + name + '/')) loaded.add(name);
        return next(url, context);
      },
    });
    const module = await import(${JSON.stringify(specifier)});
    ${use};
    console.log(JSON.stringify([...loaded].sort()));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: ROOT,
    env: { ...process.env, ...variables },
  });
  return JSON.parse(stdout);
}

it('loads HTTP for a whole exchange, and not for commands that need only its settings or its database', async () => {
  const exchange = '@measurement-exchange/exchange';
  expect(await loadedBy(exchange, ['fastify', 'pg'])).toEqual(['fastify', 'pg']);
  expect(await loadedBy(`${exchange}/maintenance`, ['fastify', 'pg'])).toEqual(['pg']);
  expect(await loadedBy(`${exchange}/config`, ['fastify', 'pg'])).toEqual([]);
});

it('loads for mex what was typed', async () => {
  const typed = (...words: string[]) =>
    loadedBy(
      './packages/cli/src/program.ts',
      ['commander', 'fastify', 'pg', '@peculiar/x509'],
      `await module.createMex(${JSON.stringify(words)})`,
    );
  expect(await typed('--help')).toEqual(['commander']);
  expect(await typed('whoami')).toEqual(['@peculiar/x509', 'commander']);
  // Every command, short of what serve and demo load when they run.
  expect(await typed('completion')).toEqual(['@peculiar/x509', 'commander', 'pg']);
});

it('leaves what runs consumers’ filters out of the agent’s process', async () => {
  const packages = ['@duckdb/node-api', '@bufbuild/cel', '@bufbuild/re2'];
  expect(await loadedBy('@measurement-exchange/sdk/provider', packages)).toEqual(['@duckdb/node-api']);
});

it('loads of TypeBox only the types', async () => {
  expect(await loadedBy('@measurement-exchange/contract', ['typebox', '@bufbuild/protobuf'])).toEqual([
    '@bufbuild/protobuf',
  ]);
});

it('loads into the thread of a share nothing that only messages need', async () => {
  const modules = [
    '@measurement-exchange/consent/sealing/pieces',
    '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/provider',
    '@measurement-exchange/mpc/shares/keystream',
    './packages/sdk/src/provider/vidIndex.ts',
  ];
  const loaded = modules.map((module) => loadedBy(module, ['@bufbuild/protobuf']));
  expect(await Promise.all(loaded)).toEqual(modules.map(() => []));
});

it('loads OpenTelemetry where its variables are set, and otherwise nothing of it', async () => {
  // The API itself is not among them: the library of Prometheus loads it.
  const packages = [
    'sdk-trace',
    'sdk-metrics',
    'core',
    'exporter-trace-otlp-proto',
    'context-async-hooks',
  ].map((name) => `@opentelemetry/${name}`);
  const programs = `
    await Promise.all(['exchange', 'duchy', 'sdk/provider'].map((name) => import('@measurement-exchange/' + name)));`;
  const loaded = (variables: NodeJS.ProcessEnv, before = '') =>
    loadedBy(
      './packages/cli/src/tracing.ts',
      packages,
      `${before} await module.traced(['whoami'], async () => {});`,
      variables,
    );
  const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_TRACES_SAMPLER: 'always_off' };
  const [without, disabled, on] = await Promise.all([
    loaded({}, programs),
    loaded({ ...collector, OTEL_SDK_DISABLED: 'true' }),
    loaded({ ...collector, OTEL_METRICS_EXPORTER: 'none' }),
  ]);
  expect([without, disabled]).toEqual([[], []]);
  expect(on).toEqual(packages.toSorted());
});
