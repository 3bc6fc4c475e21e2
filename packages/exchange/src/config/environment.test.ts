/**
 * Tests that each environment variable sets its setting and overrides the configuration file, that flags override the
 * variables, and that invalid values are rejected. Also tests the allowed hosts and the default values.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Config, type ConfigError, loadConfig } from './config.ts';

let folder: string;
let file: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'mex-config-'));
  file = join(folder, 'config.json');
  const settings = {
    ...{ port: 1111, host: '127.0.0.2', dataDir: 'of the file', logLevel: 'fatal', checks: 'strict' },
    ...{ databaseUrl: 'postgres://file', databaseOwnerUrl: 'postgres://file-owner' },
    ...{ demoDuchies: false, demoAgents: false },
  };
  writeFileSync(file, JSON.stringify(settings));
});
afterAll(() => rmSync(folder, { recursive: true }));

const VARIABLES: [variable: string, text: string, setting: keyof Config, value: unknown, inFile: unknown][] =
  [
    ['PORT', '2222', 'port', 2222, 1111],
    ['HOST', '127.0.0.3', 'host', '127.0.0.3', '127.0.0.2'],
    ['MEX_DATA_DIR', 'elsewhere', 'dataDir', 'elsewhere', 'of the file'],
    ['DATABASE_URL', 'postgres://env', 'databaseUrl', 'postgres://env', 'postgres://file'],
    [
      'DATABASE_OWNER_URL',
      'postgres://env-owner',
      'databaseOwnerUrl',
      'postgres://env-owner',
      'postgres://file-owner',
    ],
    ['MEX_CHECKS', 'advisory', 'checks', 'advisory', 'strict'],
    ['MEX_DUCHIES', 'on', 'demoDuchies', true, false],
    ['MEX_AGENTS', 'on', 'demoAgents', true, false],
    ['MEX_LOG_LEVEL', 'debug', 'logLevel', 'debug', 'fatal'],
  ];

describe('the environment', () => {
  it.each(VARIABLES)('%s=%s sets %s, and nothing else', (variable, text, setting, value, inFile) => {
    const without = loadConfig({ MEX_CONFIG: file });
    expect(without[setting]).toBe(inFile);
    expect(loadConfig({ MEX_CONFIG: file, [variable]: text })).toEqual({ ...without, [setting]: value });
  });

  it('is overridden by the flags', () => {
    const config = loadConfig({ PORT: '2222', MEX_CONFIG: file }, { port: 3333, mode: 'development' });
    expect([config.port, config.mode]).toEqual([3333, 'development']);
  });

  it('turns the demo duchies and agents off', () => {
    expect(loadConfig({ MEX_DUCHIES: 'off' })).toMatchObject({ demoDuchies: false, demoAgents: true });
    expect(loadConfig({ MEX_AGENTS: 'off' })).toMatchObject({ demoDuchies: true, demoAgents: false });
  });

  it.each([
    ['PORT', '65536', /PORT must be a port number, not 65536/],
    ['PORT', '-1', /PORT must be a port number, not -1/],
    ['PORT', '80a', /PORT must be a port number, not 80a/],
    ['PORT', '', /^PORT is empty: give it a value, or unset it\.$/],
    ['DATABASE_URL', '', /^DATABASE_URL is empty/],
    ['MEX_CONFIG', '', /^MEX_CONFIG is empty/],
    ['MEX_CHECKS', 'lax', /MEX_CHECKS must be advisory or strict, not lax/],
    ['MEX_DUCHIES', 'none', /MEX_DUCHIES must be on or off, not none/],
  ])('is rejected with %s=%s', (variable, text, problem) => {
    expect(() => loadConfig({ [variable]: text })).toThrow(problem);
  });

  it('accepts port 65535, and reports every problem', () => {
    expect(loadConfig({ PORT: '65535' }).port).toBe(65535);
    try {
      loadConfig({ PORT: '65536', MEX_CHECKS: 'lax' });
      expect.unreachable();
    } catch (error) {
      expect((error as ConfigError).problems).toHaveLength(2);
    }
  });
});

it.each([
  ['localhost', true],
  ['127.0.0.1', true],
  ['127.255.0.9', true],
  ['::1', true],
  ['0.0.0.0', false],
  ['127.0.0.1.example.com', false],
  ['10.0.0.1', false],
])('development mode listens on %s: %s', (host, isAllowed) => {
  const load = () => loadConfig({ HOST: host }, { mode: 'development' });
  if (isAllowed) expect(load().host).toBe(host);
  else expect(load).toThrow('loopback only');
});

it('a partial setting keeps its given parts, and only the missing parts get default values', () => {
  const computations = { computeWithinHours: 5 };
  const duchies = { firstWorker: 'duchies/a', secondWorker: 'duchies/b', aggregator: 'duchies/c' };
  const ring = { workers: ['duchies/a', 'duchies/b'], aggregator: 'duchies/c', decayRate: 12, maxSize: 1000 };
  const hiding = (epsilon: number) => ({ epsilon, delta: 1e-7 });
  const own = { histogramPrivacyParams: hiding(0.2), publisherPrivacyParams: hiding(0.3) };
  writeFileSync(
    file,
    JSON.stringify({
      computations,
      protocols: {
        honestMajorityShareShuffle: { ...duchies, noiseMechanism: 'NONE' },
        reachOnlyLiquidLegionsV2: { ...ring, ...own },
        liquidLegionsV2: { ...ring, ...own, maximumFrequency: 4 },
      },
    }),
  );
  const config = loadConfig({ MEX_CONFIG: file });
  expect(config.computations).toEqual({
    ...{ parametersWithinHours: 1, fulfillWithinHours: 336, confirmWithinHours: 1, computeWithinHours: 5 },
  });
  expect(config.protocols).toMatchObject({
    honestMajorityShareShuffle: { ...duchies, noiseMechanism: 'NONE', reachRingModulus: 127 },
    reachOnlyLiquidLegionsV2: { ...own, noiseMechanism: 'DISCRETE_GAUSSIAN' },
    liquidLegionsV2: { ...own, maximumFrequency: 4, samplingIndicatorSize: 10_000_000 },
  });
});
