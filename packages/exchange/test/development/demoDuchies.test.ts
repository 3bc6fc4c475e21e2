/** Tests when a development exchange creates the demo duchies, updates their endpoints, and leaves them out. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog, demoDuchies, start } from '@measurement-exchange/exchange';
import { loadConfig } from '@measurement-exchange/exchange/config';
import { doctor } from '@measurement-exchange/exchange/maintenance';
import { createDatabase, type Database } from '@measurement-exchange/testkit/exchange';
import { call } from '@measurement-exchange/testkit/http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { demoProtocols } from '../../src/config/duchies.ts';

let dataDir: string;
let database: Database;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'mex-demo-duchies-'));
  database = await createDatabase();
});
afterAll(async () => {
  await database.drop();
  await rm(dataDir, { recursive: true });
});

/**
 * Starts the exchange, and stops it again. Returns the contents of dev.json, and the providers, duchies, and
 * populations that the operator can list.
 */
async function registered(env: Record<string, string> = {}) {
  const config = loadConfig(env, { mode: 'development', port: 0, dataDir, databaseUrl: database.url });
  const running = await start(config, createLog('silent'));
  try {
    const dev = JSON.parse(await readFile(join(dataDir, 'dev.json'), 'utf8'));
    const list = async (what: string) =>
      (await call(dev.operator.token, 'GET', `${running.url}/v2alpha/${what}`)).json[what];
    return {
      dev,
      providers: await list('dataProviders'),
      duchies: await list('duchies'),
      populations: (await list('populations')) ?? [],
    };
  } finally {
    await running.stop();
  }
}
const names = (resources: { name: string }[]) => resources.map(({ name }) => name);

it('MEX_DUCHIES=off creates no demo duchies and no demo population', async () => {
  const { dev, providers, duchies = [], populations } = await registered({ MEX_DUCHIES: 'off' });
  expect([dev.duchies, duchies, populations]).toEqual([[], [], []]);
  for (const { capabilities } of providers)
    expect(capabilities?.honestMajorityShareShuffleSupported).toBeFalsy();
});

it('the next start creates the demo duchies and population, and providers support share-shuffle', async () => {
  const { dev, providers, duchies, populations } = await registered();
  expect(names(duchies)).toEqual(['duchies/alpha', 'duchies/beta', 'duchies/gamma']);
  expect(duchies.map(({ endpoint }: { endpoint: string }) => endpoint)).toEqual(
    dev.duchies.map(({ endpoint }: { endpoint: string }) => endpoint),
  );
  expect(populations).toMatchObject([{ name: 'populations/demo', size: 1_000_000, default: true }]);
  for (const { capabilities } of providers)
    expect(capabilities.honestMajorityShareShuffleSupported).toBe(true);
});

it('a restart keeps the population and updates changed endpoints, without doctor errors', async () => {
  const { dev, duchies, populations } = await registered();
  await rm(join(dataDir, 'dev.json'));
  const moved = await registered();
  expect(moved.populations).toEqual(populations);
  for (const [i, { endpoint }] of moved.dev.duchies.entries()) {
    expect(endpoint).not.toBe(dev.duchies[i].endpoint);
    expect(moved.duchies[i]).toMatchObject({ name: duchies[i].name, endpoint });
  }
  const ailments = await doctor({ connection: { connectionString: database.url } });
  expect(ailments.filter(({ severity }) => severity === 'error')).toEqual([]);
});

/**
 * Returns a `protocols` setting in which these duchies run share-shuffle. `ids` has the IDs of the first worker, the
 * second worker, and the aggregator.
 */
function computedBy(ids: string[]) {
  const [first, second, third] = ids.map((id) => `duchies/${id}`);
  return {
    honestMajorityShareShuffle: {
      ...{ firstWorker: first!, secondWorker: second!, aggregator: third! },
      ...({ noiseMechanism: 'NONE', reachRingModulus: 127, reachAndFrequencyRingModulus: 127 } as const),
    },
  };
}
const withProtocols = (protocols: ReturnType<typeof computedBy>) =>
  loadConfig({}, { mode: 'development', port: 0, dataDir, databaseUrl: database.url, protocols });

const DEMO = ['duchies/alpha', 'duchies/beta', 'duchies/gamma'];

it('the demo duchies are left out if the protocols setting names only other duchies', async () => {
  const config = withProtocols(computedBy(['one', 'two', 'three']));
  expect(demoDuchies(config)).toEqual([]);
  await expect(start(config, createLog('silent'))).rejects.toThrow(/duchies\/one does not exist/);
});

it('the demo duchies stay if the protocols setting also names another duchy, which must be registered', async () => {
  const protocols = computedBy(['delta', 'beta', 'gamma']);
  const config = withProtocols(protocols);
  expect(demoDuchies(config)).toEqual(DEMO);
  await expect(start(config, createLog('silent'))).rejects.toThrow(
    /^protocols\.honestMajorityShareShuffle: duchies\/delta does not exist\. Register it: mex admin onboard\.$/,
  );
  const before = await start(withProtocols(computedBy(['alpha', 'beta', 'gamma'])), createLog('silent'));
  const { operator } = JSON.parse(await readFile(join(dataDir, 'dev.json'), 'utf8'));
  const endpoint = 'http://127.0.0.1:20001';
  const created = await call(operator.token, 'POST', `${before.url}/v2alpha/duchies?duchyId=delta`, {
    endpoint,
  });
  expect([created.status, created.json.endpoint]).toEqual([200, endpoint]);
  await before.stop();
  const running = await start(config, createLog('silent'));
  expect(names(running.development!.parties.duchies)).toEqual(DEMO);
  await running.stop();
});

it('the exchange starts with a protocols setting that names only the demo duchies', async () => {
  const protocols = computedBy(['beta', 'alpha', 'gamma']);
  const config = withProtocols(protocols);
  expect(demoDuchies(config)).toEqual(DEMO);
  expect(demoProtocols(config)).toEqual(protocols);
  const running = await start(config, createLog('silent'));
  await running.stop();
});
