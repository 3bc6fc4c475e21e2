import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ConfigError, loadConfig } from './config.ts';
import { configFileProblems } from './file.ts';

const issuer = { issuer: 'https://id.example.com', audience: 'exchange' };

it('finds nothing wrong with a file of every setting', () => {
  const file = {
    ...{ mode: 'production', host: '::1', port: 443, dataDir: '/var/lib/mex', logLevel: 'warn' },
    ...{ databaseUrl: 'a', databaseOwnerUrl: 'b', databaseAppRole: 'c', pageTokenKey: 'd' },
    issuers: [
      { ...issuer, jwksUri: 'e', jwksFile: 'f', algorithms: [], maxTokenAgeSeconds: 1, principalClaim: 'g' },
    ],
    ...{ allowedPrivateHosts: ['h'], trustedProxies: ['i'], corsOrigins: ['j'], protocols: [] },
    ...{ checks: 'strict', bodyLimitBytes: 1, behindTlsProxy: true, tls: { certFile: 'k', keyFile: 'l' } },
    ...{ rate: { perSecond: 1, burst: 1 }, rates: { operator: { perSecond: 1, burst: 1 } } },
  };
  expect(configFileProblems(file)).toEqual([]);
  expect(configFileProblems({})).toEqual([]);
});

it.each([
  [null, 'it must hold one JSON object.'],
  [[], 'it must hold one JSON object.'],
  [{ prot: 443 }, 'there is no setting named prot.'],
  [{ toString: 1 }, 'there is no setting named toString.'],
  [{ port: '443' }, 'port must be a number.'],
  [{ host: null }, 'host must be a string.'],
  [{ protocols: null }, 'protocols must be a list.'],
  [{ behindTlsProxy: 'yes' }, 'behindTlsProxy must be true or false.'],
  [{ trustedProxies: true }, 'trustedProxies must be a list.'],
  [{ trustedProxies: [true] }, 'trustedProxies[0] must be a string.'],
  [{ checks: 'none' }, 'checks must be one of advisory, strict.'],
  [{ issuers: issuer }, 'issuers must be a list.'],
  [{ issuers: ['x'] }, 'issuers[0] must be an object.'],
  [{ issuers: [{ issuer: 'x' }] }, 'issuers[0].audience is missing.'],
  [{ issuers: [issuer, { ...issuer, algorithms: 'ES256' }] }, 'issuers[1].algorithms must be a list.'],
  [{ issuers: [{ ...issuer, jwksURI: 'x' }] }, 'there is no setting named issuers[0].jwksURI.'],
  [{ tls: { certFile: 'x' } }, 'tls.keyFile is missing.'],
  [{ rate: { perSecond: 1 } }, 'rate.burst is missing.'],
  [{ rates: { operator: 5 } }, 'rates["operator"] must be an object.'],
])('says of %j: %s', (file, problem) => {
  expect(configFileProblems(file)).toEqual([problem]);
});

let path: string;
beforeAll(() => {
  path = join(mkdtempSync('/tmp/mex-config-test-'), 'config.json');
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

it('is where settings come from', () => {
  expect(load('{"port": 443}')).toMatchObject({ port: 443, host: '127.0.0.1' });
});

it('is named with its problems, all of them', () => {
  expect(load('{"port": "x", "protocols": null}')).toEqual([
    `MEX_CONFIG ${path}: port must be a number.`,
    `MEX_CONFIG ${path}: protocols must be a list.`,
  ]);
});

it.each(['{"pageTokenKey": "hunter2" "x"}', '{"pageTokenKey": hunter2}', 'hunter2'])(
  'is never quoted when it is not JSON: %s',
  (text) => {
    const [problem] = load(text) as string[];
    expect(problem).toMatch(/is not JSON( \(line 1 column \d+\))?\.$/);
    expect(problem).not.toContain('hunter2');
  },
);

it('may be missing, which is said', () => {
  expect(() => loadConfig({ MEX_CONFIG: '/nowhere' })).toThrow('MEX_CONFIG /nowhere cannot be read: ENOENT');
});
