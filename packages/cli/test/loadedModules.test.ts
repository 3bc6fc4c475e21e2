import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Returns which of the named packages Node has loaded after each step. All steps run in one process, because starting
 * Node takes a second. The lists are cumulative, so each step must need all packages of the step before it.
 */
async function loadedAfter(packages: string[], ...steps: string[]): Promise<string[][]> {
  const noted = steps.map((step) => `${step}; seen.push([...loaded].sort());`).join('\n');
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = new Set();
    const seen = [];
    registerHooks({
      load(url, context, next) {
        for (const name of ${JSON.stringify(packages)}) if (url.includes('/node_modules/' + name + '/')) loaded.add(name);
        return next(url, context);
      },
    });
    ${noted}
    console.log(JSON.stringify(seen));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: ROOT,
  });
  return JSON.parse(stdout);
}

const importing = (specifier: string) => `await import(${JSON.stringify(specifier)})`;

it('the exchange loads HTTP only with its main module and gRPC only with its RPC server', async () => {
  const parts = ['/config', '/maintenance', '', '/internal/rpc/server'].map((part) =>
    importing(`@measurement-exchange/exchange${part}`),
  );
  expect(await loadedAfter(['@connectrpc/connect', 'fastify', 'pg'], ...parts)).toEqual([
    [],
    ['pg'],
    ['fastify', 'pg'],
    ['@connectrpc/connect', 'fastify', 'pg'],
  ]);
});

it('mex loads only the packages that the typed command needs', async () => {
  const typed = ['--help', 'whoami', 'login', 'completion'].map(
    (word) => `await (${importing('./packages/cli/src/program.ts')}).createMex(['${word}'])`,
  );
  const packages = ['commander', 'fastify', 'pg', '@peculiar/x509', 'openid-client', 'oauth4webapi'];
  expect(await loadedAfter(packages, ...typed)).toEqual([
    ['commander'],
    ['@peculiar/x509', 'commander'],
    ['@peculiar/x509', 'commander'],
    // The last step loads the modules of every command. Some commands, such as serve and login, load more only when
    // they run.
    ['@peculiar/x509', 'commander', 'pg'],
  ]);
});

it('the SDK loads no protobuf for a share, no TypeBox for the contract, and DuckDB only for event files', async () => {
  const packages = ['typebox', '@bufbuild/protobuf', '@duckdb/node-api', '@bufbuild/cel', '@bufbuild/re2'];
  const share = [
    '@measurement-exchange/consent/sealing/pieces',
    '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/provider',
    '@measurement-exchange/mpc/shares/keystream',
    './packages/sdk/src/provider/vidIndex.ts',
  ];
  const contract = '@measurement-exchange/contract';
  const [consumer, agent] = ['@measurement-exchange/sdk', '@measurement-exchange/sdk/provider'];
  const files = './packages/sdk/src/provider/events/duckdb/source.ts';
  expect(await loadedAfter(packages, ...[...share, contract, consumer, agent, files].map(importing))).toEqual(
    [
      ...share.map(() => []),
      // The contract, the consumer and the agent load protobuf. None of them loads a filter engine.
      ['@bufbuild/protobuf'],
      ['@bufbuild/protobuf'],
      ['@bufbuild/protobuf'],
      ['@bufbuild/protobuf', '@duckdb/node-api'],
    ],
  );
});

it('OpenTelemetry is loaded only if its environment variables are set', async () => {
  // The list omits @opentelemetry/api, because the Prometheus client loads it anyway.
  const packages = [
    'sdk-trace',
    'sdk-metrics',
    'core',
    'exporter-trace-otlp-proto',
    'context-async-hooks',
  ].map((name) => `@opentelemetry/${name}`);
  const programs = ['exchange', 'duchy', 'sdk/provider'].map((name) =>
    importing(`@measurement-exchange/${name}`),
  );
  const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_TRACES_SAMPLER: 'always_off' };
  const traced = (variables: NodeJS.ProcessEnv) => `
    Object.assign(process.env, ${JSON.stringify(variables)});
    await (${importing('./packages/cli/src/tracing.ts')}).traced(['whoami'], async () => {})`;
  const [without, disabled, on] = await loadedAfter(
    packages,
    `${programs.join(';')};${traced({})}`,
    traced({ ...collector, OTEL_SDK_DISABLED: 'true' }),
    traced({ OTEL_SDK_DISABLED: 'false', OTEL_METRICS_EXPORTER: 'none' }),
  );
  expect([without, disabled]).toEqual([[], []]);
  expect(on).toEqual(packages.toSorted());
});
