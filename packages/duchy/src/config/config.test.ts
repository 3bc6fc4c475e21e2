import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonValue } from '@measurement-exchange/contract';
import { afterAll, describe, expect, test } from 'vitest';
import { DuchyConfigError, duchyConfig, examineDuchyConfig, readDuchyConfig } from './config.ts';
import { productionProblems } from './production.ts';
import { readSecretsKey } from './secretsKey.ts';

const folder = mkdtempSync(join(tmpdir(), 'mex-duchy-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A configuration that production accepts. */
const GOOD = {
  url: 'https://exchange.example.com',
  tokenFile: 'token',
  identity: 'keys',
  roots: [
    'measurementConsumers/acme=acme.pem',
    'dataProviders/streamly=streamly.pem',
    'duchies/beta=/pki=1/beta.pem',
  ],
  endpoint: 'https://alpha.example.com',
  listen: { host: '0.0.0.0', port: 8443, tls: { certFile: 'tls.pem', keyFile: 'tls.key' } },
  databaseUrl: 'postgres://duchy@127.0.0.1/duchy',
  secretsKeyFile: 'secrets.key',
  limits: { uploads: 3 },
};
const SIGN_IN = { issuer: 'https://id.example.com', clientId: 'alpha', clientSecretFile: 'client.secret' };
const config = (changes: Record<string, JsonValue> = {}) =>
  duchyConfig({ ...structuredClone(GOOD), ...changes } as JsonValue, '/etc/duchy');

describe('the settings', () => {
  test('have paths relative to the folder of their file, and defaults', () => {
    expect(config()).toMatchObject({
      mode: 'production',
      tokenFile: '/etc/duchy/token',
      roots: [
        'measurementConsumers/acme=/etc/duchy/acme.pem',
        'dataProviders/streamly=/etc/duchy/streamly.pem',
        'duchies/beta=/pki=1/beta.pem',
      ],
      listen: { tls: { keyFile: '/etc/duchy/tls.key' }, behindTlsProxy: false },
      dataDir: '/etc/duchy/.duchy',
      mills: { count: 1, leaseSeconds: 60 },
      noiseMechanisms: ['DISCRETE_GAUSSIAN', 'GEOMETRIC'],
      keepBlobsForHours: 0,
      limits: { uploads: 3, uploadsPerParty: 4 },
    });
    expect(duchyConfig({}, '/etc/duchy').secretsKeyFile).toBe('/etc/duchy/.duchy/secrets.key');
  });

  const document = readFileSync(new URL('../../../../docs/duchy.md', import.meta.url), 'utf8');

  test('of the example in docs/duchy.md are valid in production', () => {
    const [, example] = /```json\n(\{[\s\S]*?\n\})\n```/.exec(document)!;
    const path = join(folder, 'duchy.json');
    writeFileSync(path, example!);
    const { config, problems } = readDuchyConfig(path);
    expect(problems).toEqual([]);
    const modeOf = (file: string) => (file.endsWith('/roots') ? 0o040700 : 0o100600);
    expect(productionProblems(config, modeOf)).toEqual([]);
    // The example contains exactly the settings that `mex duchy init` writes if it is given a database URL.
    expect(Object.keys(JSON.parse(example!)).sort()).toEqual([
      'databaseUrl',
      'endpoint',
      'identity',
      'listen',
      'roots',
      'secretsKeyFile',
      'tokenFile',
      'url',
    ]);
  });

  test('are all in docs/duchy.md, with their defaults', () => {
    const rows = [...document.matchAll(/^\| `([\w.]+)` \| ?(.*?) ?\| \S/gm)].filter(
      ([, name]) => !name!.startsWith('mex_'),
    );
    const told = Object.fromEntries(rows.map(([, name, value]) => [name, value]));
    const flat = (value: object, prefix = ''): [string, unknown][] =>
      Object.entries(value).flatMap(([name, each]) =>
        each !== null && typeof each === 'object' && !Array.isArray(each)
          ? flat(each, `${prefix}${name}.`)
          : [[`${prefix}${name}`, each]],
      );
    const defaults = Object.fromEntries(flat(duchyConfig({}, '/')));
    const paths = { dataDir: '`.duchy`', secretsKeyFile: '`secrets.key` in `dataDir`' };
    const expected = Object.entries(defaults).map(([name, value]) => [
      name,
      value === undefined
        ? ''
        : `\`${Array.isArray(value) ? JSON.stringify(value).replaceAll(',', ', ') : value}\``,
    ]);
    expect(told).toEqual({ ...Object.fromEntries(expected), ...paths });
  });

  test.each([
    [{ uploads: 3 }, 'uploads is not a known field'],
    [{ listen: { port: 70_000 } }, 'listen.port must be an integer from 0 to 65535'],
    [{ mills: { count: 0 } }, 'mills.count must be an integer from 1 to 64'],
    [
      { noiseMechanisms: ['LAPLACE'] },
      'noiseMechanisms[0] must be one of NONE, GEOMETRIC, DISCRETE_GAUSSIAN',
    ],
    [{ noiseMechanisms: [] }, 'noiseMechanisms must have at least 1 items'],
    [{ url: 7 }, 'url must be a string'],
    [{ peers: { beta: { endpoint: 'https://beta.example.com' } } }, 'peers'],
  ])('%j are rejected: %s', (changes, problem) => {
    expect(() => config(changes as never)).toThrow(problem);
  });

  test('that cannot be read or are not JSON are rejected', () => {
    expect(() => readDuchyConfig(join(folder, 'none.json'))).toThrow(/none\.json cannot be read \(ENOENT\)/);
    const path = join(folder, 'broken.json');
    writeFileSync(path, '{"url": ');
    expect(() => readDuchyConfig(path)).toThrow(DuchyConfigError);
    writeFileSync(path, JSON.stringify(GOOD));
    expect(readDuchyConfig(path).config.identity).toBe(join(folder, 'keys'));
  });

  test('that are invalid are all reported by path, and the other settings are used', () => {
    const wrong = { url: 7, listen: { port: -1, tls: { certFile: 'tls.pem' } }, mils: {}, logLevel: 'loud' };
    const { config, problems, invalid } = examineDuchyConfig({ ...GOOD, ...wrong }, '/etc/duchy');
    expect(problems.map((problem) => problem.split(' ')[0]).sort()).toEqual([
      'listen.port',
      'listen.tls.keyFile',
      'logLevel',
      'mils',
      'url',
    ]);
    expect([...invalid].sort()).toEqual(['listen', 'logLevel', 'mils', 'url']);
    expect(config).toMatchObject({ url: undefined, identity: '/etc/duchy/keys', logLevel: 'info' });
    expect(examineDuchyConfig(['x'], '/').problems).toHaveLength(1);
  });
});

describe('productionProblems', () => {
  const problemsOf = (
    changes: Record<string, JsonValue> = {},
    modes: Record<string, number | undefined> = {},
  ) =>
    productionProblems(config(changes), (path) => {
      const name = path.split('/').at(-1)!;
      return name in modes ? modes[name] : 0o100600;
    });

  test('returns nothing for good settings', () => {
    expect(problemsOf()).toEqual([]);
    for (const trustedProxies of [[], ['127.0.0.1/32', '::1/128']]) {
      expect(problemsOf({ listen: { host: '127.0.0.1', trustedProxies } })).toEqual([]);
    }
    expect(problemsOf({ peers: { 'duchies/beta': { endpoint: 'https://10.0.0.1:8443' } } })).toEqual([]);
    const proxied = { host: '10.0.0.1', behindTlsProxy: true, trustedProxies: ['10.0.0.2/32'] };
    expect(problemsOf({ listen: proxied })).toEqual([]);
    expect(problemsOf({ url: 'http://127.0.0.1:8080' })).toEqual([]);
    const { tokenFile: _, ...signedIn } = { ...GOOD, signIn: SIGN_IN };
    expect(productionProblems(duchyConfig(signedIn, '/etc/duchy'), () => 0o600)).toEqual([]);
    expect(problemsOf({ roots: ['roots'] }, { roots: 0o040700 })).toEqual([]);
  });

  test.each<[string, Record<string, JsonValue>, RegExp]>([
    ['an exchange over HTTP', { url: 'http://exchange.example.com' }, /url must begin with https/],
    ['an endpoint over HTTP', { endpoint: 'http://alpha.example.com' }, /endpoint must be an https address/],
    [
      'another duchy over HTTP',
      { peers: { 'duchies/beta': { endpoint: 'http://10.0.0.1' } } },
      /peers: the endpoint of duchies\/beta must be an https address/,
    ],
    [
      'a public host without TLS',
      { listen: { host: '0.0.0.0' } },
      /listen\.host 0\.0\.0\.0 is reachable from outside/,
    ],
    ['a TLS proxy without trustedProxies', { listen: { behindTlsProxy: true } }, /listen\.trustedProxies/],
    ['a loopback host without trustedProxies', { listen: { host: '127.0.0.1' } }, /lock the others out/],
    ['an IPv6 loopback host without trustedProxies', { listen: { host: '::1' } }, /lock the others out/],
    [
      'trusted proxies at every address',
      { listen: { ...GOOD.listen, trustedProxies: ['0.0.0.0/0'] } },
      /trusts far too many/,
    ],
    ['the noise mechanism NONE', { noiseMechanisms: ['NONE'] }, /noiseMechanisms has NONE/],
    ['a root that names no party', { roots: [...GOOD.roots, 'all.pem'] }, /all\.pem names no party/],
    ['two ways to sign in', { signIn: SIGN_IN }, /tokenFile and signIn are both set/],
    ['no root of duchies', { roots: GOOD.roots.slice(0, 2) }, /roots has no root of duchies/],
    ['a missing folder of roots', { roots: [...GOOD.roots, 'roots'] }, /roots names no party/],
  ])('rejects %s', (_what, changes, problem) => {
    expect(problemsOf(changes)).toEqual([expect.stringMatching(problem)]);
  });

  test.each(['url', 'tokenFile', 'identity', 'endpoint'])('rejects settings without %s', (setting) => {
    const { [setting as 'url']: _, ...rest } = GOOD;
    const problems = productionProblems(duchyConfig(rest as JsonValue, '/etc/duchy'), () => 0o600);
    expect(problems).toEqual([expect.stringMatching(new RegExp(`^${setting} is not set`))]);
  });

  test('rejects an issuer over HTTP, and a client secret that others can read', () => {
    const { tokenFile: _, ...rest } = GOOD;
    const signIn = { ...SIGN_IN, issuer: 'http://id.example.com' };
    const settings = duchyConfig({ ...rest, signIn }, '/etc/duchy');
    const mode = (path: string) => (path === '/etc/duchy/client.secret' ? 0o644 : 0o600);
    expect(productionProblems(settings, mode)).toEqual([
      expect.stringMatching(/signIn\.issuer must begin with https/),
      expect.stringMatching(/signIn\.clientSecretFile .* is open to everyone/),
    ]);
  });

  test.each(['secrets.key', 'token', 'signing-key.pem', 'tls.key'])(
    'rejects %s if it is missing or readable by others',
    (file) => {
      expect(problemsOf({}, { [file]: 0o100644 })).toEqual([expect.stringMatching(/is open to everyone/)]);
      expect(problemsOf({}, { [file]: undefined })).toEqual([expect.stringMatching(/cannot be read/)]);
      expect(problemsOf({}, { [file]: 0o100640 })).toEqual([]);
    },
  );
});

describe('the secrets key', () => {
  const settings = (mode: string, file: string) => duchyConfig({ mode, secretsKeyFile: file }, folder);

  test('is created once in development, with mode 600', async () => {
    const key = await readSecretsKey(settings('development', 'new/secrets.key'));
    expect(key).toHaveLength(32);
    expect(await readSecretsKey(settings('development', 'new/secrets.key'))).toEqual(key);
    expect(statSync(join(folder, 'new/secrets.key')).mode & 0o777).toBe(0o600);
  });

  test.each([
    ['is missing', undefined],
    ['is not base64', '###'],
    ['is too short', Buffer.alloc(16, 'x').toString('base64')],
    ['is one byte repeated', Buffer.alloc(32, 7).toString('base64')],
  ])('that %s is rejected with the openssl command that creates one', async (_what, text) => {
    if (text !== undefined) writeFileSync(join(folder, 'bad.key'), text);
    const file = text === undefined ? 'none.key' : 'bad.key';
    await expect(readSecretsKey(settings('production', file))).rejects.toThrow(/openssl rand -base64 32/);
  });
});
