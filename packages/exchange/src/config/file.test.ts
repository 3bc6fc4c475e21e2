import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ConfigError, loadConfig } from './config.ts';

const ring = { workers: ['duchies/a', 'duchies/b'], aggregator: 'duchies/c', decayRate: 12, maxSize: 1000 };
const shareShuffle = { firstWorker: 'duchies/a', secondWorker: 'duchies/b', aggregator: 'duchies/c' };
const issuer = { issuer: 'https://id.example.com', audience: 'exchange' };

let path: string;
beforeAll(() => {
  path = join(mkdtempSync(join(tmpdir(), 'mex-config-test-')), 'config.json');
});
afterAll(() => rmSync(join(path, '..'), { recursive: true }));

function load(text: string) {
  writeFileSync(path, text);
  try {
    return loadConfig({ MEX_CONFIG: path });
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).problems;
  }
}

it('a config file can contain every setting', () => {
  const file = {
    ...{ mode: 'production', host: '::1', port: 443, dataDir: '/var/lib/mex', logLevel: 'warn' },
    ...{ databaseUrl: 'a', databaseOwnerUrl: 'b', databaseAppRole: 'c', pageTokenKey: 'd' },
    secretsKey: 'e',
    issuers: [
      {
        ...issuer,
        jwksUri: 'e',
        jwksFile: 'f',
        algorithms: [],
        maxTokenAgeSeconds: 1,
        principalClaim: 'g',
        clients: ['m'],
      },
    ],
    ...{ allowedPrivateHosts: ['h'], trustedProxies: ['i'], corsOrigins: ['j'] },
    protocols: { honestMajorityShareShuffle: { ...shareShuffle, noiseMechanism: 'GEOMETRIC' } },
    ...{ checks: 'strict', bodyLimitBytes: 1, behindTlsProxy: true, tls: { certFile: 'k', keyFile: 'l' } },
    ...{ rate: { perSecond: 1, burst: 1 }, rates: { operator: { perSecond: 1, burst: 1 } } },
  };
  expect(load(JSON.stringify(file))).toMatchObject(file);
  expect(load('{}')).toEqual(loadConfig({}));
});

it('a config file can contain a part of a setting, and the other parts get default values', () => {
  const { computations } = loadConfig({});
  const deniedNetworks = ['2001:db8::/32', '192.0.2.1'];
  expect(load(JSON.stringify({ webhooks: { deniedNetworks } }))).toMatchObject({
    webhooks: { deniedNetworks, perSecond: 100, partyPerSecond: 50 },
  });
  expect(load('{"computations": {"fulfillWithinHours": 48}}')).toMatchObject({
    computations: { ...computations, fulfillWithinHours: 48 },
  });
});

it.each([
  [null, 'it must be an object.'],
  [[], 'it must be an object.'],
  [{ prot: 443 }, 'prot is not a known field.'],
  [{ toString: 1 }, 'toString is not a known field.'],
  [
    { retention: { cancelPendingAfterDays: 0 } },
    'retention.cancelPendingAfterDays must be a number above 0.',
  ],
  [{ webhooks: { perSecond: 0 } }, 'webhooks.perSecond must be a number above 0.'],
  [{ computations: { fulfillWithinHours: 0 } }, 'computations.fulfillWithinHours must be a number above 0.'],
  [{ port: '443' }, 'port must be a number.'],
  [{ host: null }, 'host must not be null.'],
  [{ protocols: null }, 'protocols must not be null.'],
  [{ protocols: ['honestMajorityShareShuffle'] }, 'protocols must be an object.'],
  [{ protocols: { quantum: {} } }, 'protocols.quantum is not a known field.'],
  [
    { protocols: { liquidLegionsV2: { ...ring, maxSize: undefined } } },
    'protocols.liquidLegionsV2.maxSize is required.',
  ],
  [
    { protocols: { liquidLegionsV2: { ...ring, workers: [] } } },
    'protocols.liquidLegionsV2.workers must have at least 1 items.',
  ],
  [
    { protocols: { reachOnlyLiquidLegionsV2: { ...ring, maximumFrequency: 5 } } },
    'protocols.reachOnlyLiquidLegionsV2.maximumFrequency is not a known field.',
  ],
  [
    { protocols: { honestMajorityShareShuffle: { ...shareShuffle, aggregator: undefined } } },
    'protocols.honestMajorityShareShuffle.aggregator is required.',
  ],
  [
    { protocols: { honestMajorityShareShuffle: { ...shareShuffle, aggregator: 'dataProviders/c' } } },
    'protocols.honestMajorityShareShuffle.aggregator must match duchies/{duchy}.',
  ],
  [
    { protocols: { honestMajorityShareShuffle: { ...shareShuffle, noiseMechanism: 'LAPLACE' } } },
    'protocols.honestMajorityShareShuffle.noiseMechanism must be one of NONE, GEOMETRIC, DISCRETE_GAUSSIAN.',
  ],
  [{ behindTlsProxy: 'yes' }, 'behindTlsProxy must be true or false.'],
  [{ trustedProxies: true }, 'trustedProxies must be an array.'],
  [{ trustedProxies: [true] }, 'trustedProxies[0] must be a string.'],
  [{ checks: 'none' }, 'checks must be one of advisory, strict.'],
  [{ issuers: issuer }, 'issuers must be an array.'],
  [{ issuers: ['x'] }, 'issuers[0] must be an object.'],
  [{ issuers: [{ issuer: 'x' }] }, 'issuers[0].audience is required.'],
  [{ issuers: [issuer, { ...issuer, algorithms: 'ES256' }] }, 'issuers[1].algorithms must be an array.'],
  [{ issuers: [{ ...issuer, jwksURI: 'x' }] }, 'issuers[0].jwksURI is not a known field.'],
  [{ tls: { certFile: 'x' } }, 'tls.keyFile is required.'],
  [{ rate: { perSecond: 1 } }, 'rate.burst is required.'],
  [{ rates: { operator: 5 } }, 'rates[operator] must be an object.'],
])('a config file is rejected with content %j: %s', (file, problem) => {
  expect(load(JSON.stringify(file))).toEqual([`MEX_CONFIG ${path}: ${problem}`]);
});

it('a setting in the config file overrides its default value', () => {
  expect(load('{"port": 443}')).toMatchObject({ port: 443, host: '127.0.0.1' });
});

it('a Liquid Legions protocol requires its duchies and sketch parameters, and gets defaults for the rest', () => {
  const protocols = { reachOnlyLiquidLegionsV2: ring, liquidLegionsV2: { ...ring, maximumFrequency: 5 } };
  const hiding = { epsilon: 0.1, delta: 1e-9 };
  const both = {
    ...ring,
    noiseMechanism: 'DISCRETE_GAUSSIAN',
    ...{ histogramPrivacyParams: hiding, publisherPrivacyParams: hiding },
  };
  expect(load(JSON.stringify({ protocols }))).toMatchObject({
    protocols: {
      reachOnlyLiquidLegionsV2: both,
      liquidLegionsV2: { ...both, samplingIndicatorSize: 10_000_000, maximumFrequency: 5 },
    },
  });
});

it('the share-shuffle protocol requires only its duchies, and gets defaults for the rest', () => {
  expect(load(JSON.stringify({ protocols: { honestMajorityShareShuffle: shareShuffle } }))).toMatchObject({
    protocols: {
      honestMajorityShareShuffle: {
        ...shareShuffle,
        noiseMechanism: 'DISCRETE_GAUSSIAN',
        reachRingModulus: 127,
        reachAndFrequencyRingModulus: 127,
      },
    },
  });
});

it('all problems of a config file are reported with its path', () => {
  expect(load('{"port": "x", "protocols": true}')).toEqual([
    `MEX_CONFIG ${path}: port must be a number.`,
    `MEX_CONFIG ${path}: protocols must be an object.`,
  ]);
});

it.each(['{"pageTokenKey": "hunter2" "x"}', '{"pageTokenKey": hunter2}', 'hunter2'])(
  'a config file that is not JSON is never quoted: %s',
  (text) => {
    const [problem] = load(text) as string[];
    expect(problem).toMatch(/is not JSON\. Malformed JSON: .* at position \d+\.$/);
    expect(problem).not.toContain('hunter2');
  },
);

it.each(['192.0.2.0/33', '192.0.2.0/', '192.0.2/24', 'example.com', '::1/129', '192.0.2.0/24/1'])(
  'a config file is rejected with the network %s',
  (network) => {
    expect(load(JSON.stringify({ webhooks: { deniedNetworks: ['192.0.2.0/24', network] } }))).toEqual([
      'webhooks.deniedNetworks[1] must be a network such as 192.0.2.0/24 or 2001:db8::/32.',
    ]);
  },
);

it('a config file that cannot be read is reported with its path', () => {
  expect(() => loadConfig({ MEX_CONFIG: '/nowhere' })).toThrow('MEX_CONFIG /nowhere cannot be read: ENOENT');
});
