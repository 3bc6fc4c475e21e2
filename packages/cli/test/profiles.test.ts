/** Tests profiles: which setting takes precedence, and which settings are rejected. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { connect } from '../src/connection/client.ts';
import { loadCredentials } from '../src/connection/credentials.ts';
import { exchange, onboarded, path, token, useExchange } from './adminWorld.ts';
import { mex, run } from './mexInProcess.ts';

useExchange();

let tests = 0;
beforeEach(() => {
  vi.stubEnv('XDG_CONFIG_HOME', path(`config-${tests++}`));
  vi.stubEnv('MEX_PROFILE', undefined);
});

const principal = async (options: Parameters<typeof connect>[0] = {}) =>
  (await (await connect(options)).whoAmI()).principal;

describe('a setting', () => {
  it('comes from the option, then the environment, then the profile, then the development exchange', async () => {
    expect(await principal()).toBe('operator');
    await mex('profile', 'set', 'default', '--as', 'streamly');
    expect(await principal()).toBe('dataProviders/streamly');
    vi.stubEnv('MEX_TOKEN', await token('dataProviders/chirper'));
    expect(await principal()).toBe('dataProviders/chirper');
    expect(await principal({ as: 'acme' })).toBe('measurementConsumers/acme');
    expect(await principal({ token: await token('dataProviders/dailynews') })).toBe(
      'dataProviders/dailynews',
    );
  });

  it('comes from the profile that --profile names, then from that of MEX_PROFILE', async () => {
    await mex('profile', 'set', 'a', '--as', 'acme');
    await mex('profile', 'set', 'b', '--as', 'globex');
    vi.stubEnv('MEX_PROFILE', 'a');
    expect(await mex('whoami')).toMatch(/^measurementConsumers\/acme/);
    expect(await mex('whoami', '--profile', 'b')).toMatch(/^measurementConsumers\/globex/);
  });

  it('from MEX_URL overrides the address of the profile, whose other settings still apply', async () => {
    await mex('profile', 'set', 'default', '--url', 'http://127.0.0.1:1', '--identity', path('nowhere'));
    await expect(principal()).rejects.toThrow('Say who you are at http://127.0.0.1:1: run mex login');
    vi.stubEnv('MEX_URL', exchange.url);
    expect(await principal()).toBe('operator');
    await expect(loadCredentials({ roots: ['x.pem'] })).rejects.toThrow('x.pem');
  });
});

it('a profile supplies the identity, the roots and the accepted duchies, and options override them', async () => {
  const folder = await onboarded('dataProviders/lakeside');
  const root = join(folder, 'root.pem');
  const roots = ['--root', root, '--root', `duchies/one=${root}`];
  await mex('profile', 'set', 'lakeside', '--url', exchange.url, '--identity', folder, ...roots);
  vi.stubEnv('MEX_PROFILE', 'lakeside');
  vi.stubEnv('MEX_TOKEN', await token('dataProviders/lakeside'));
  const { credentials, duchies } = await loadCredentials({});
  expect([credentials.name, duchies]).toEqual(['dataProviders/lakeside', ['duchies/one']]);
  // The --root option replaces the profile's duchies, and --as replaces the profile's identity with that of the demo
  // party.
  expect((await loadCredentials({ roots: [root] })).duchies).toEqual([]);
  expect((await loadCredentials({ as: 'acme' })).credentials.name).toBe('measurementConsumers/acme');
});

it('profiles are set, shown, listed and removed', async () => {
  expect(await mex('profile', 'list')).toMatch(/no profiles yet/);
  await mex(
    'profile',
    'set',
    'x',
    '--url',
    'https://exchange.example.com/',
    '--identity',
    'keys',
    '--root',
    'duchies/p=a=b/r.pem',
  );
  expect(JSON.parse(await mex('profile', 'show', 'x', '--json'))).toEqual({
    url: 'https://exchange.example.com',
    identity: resolve('keys'),
    roots: [`duchies/p=${resolve('a=b/r.pem')}`],
  });
  await mex(
    'profile',
    'set',
    'x',
    '--identity',
    '',
    '--issuer',
    'https://id.example.com',
    '--client-id',
    'mex',
  );
  const shown = await mex('profile', 'show', 'x');
  expect(shown).toMatch(
    /issuer +https:\/\/id\.example\.com\n.*clientId +mex\n.*roots +duchies\/p=\S+r\.pem\n.*login +signed out/s,
  );
  expect(shown).not.toContain('identity');
  await mex('profile', 'remove', 'x');
  expect(await mex('profile', 'list')).toMatch(/no profiles yet/);
});

it.each([
  [['profile', 'set', '../x', '--url', 'https://x.example'], /^\.\.\/x cannot name a profile/],
  [
    ['profile', 'set', 'x', '--url', 'http://exchange.example.com'],
    /must be an address that begins with https/,
  ],
  [['profile', 'set', 'x', '--as', 'acme', '--identity', 'keys'], /has --as and --identity/],
  [['profile', 'remove', 'constructor'], /^There is no profile constructor\. Make it: mex profile set/],
  [['whoami', '--profile', 'nobody'], /^There is no profile nobody\./],
  [['whoami', '--profile', '../../secrets'], /cannot name a profile/],
])('%j is rejected in one sentence', async (args, message) => {
  expect((await run(...args)).error?.message).toMatch(message);
});

it('mex login rejects the profile of a demo party', async () => {
  await mex('profile', 'set', 'default', '--as', 'acme');
  const settings = ['--url', exchange.url, '--issuer', 'https://id.example.com', '--client-id', 'mex'];
  expect((await run('login', ...settings)).error?.message).toMatch(
    /default is for the demo party acme: name another/,
  );
});

it('a configuration folder that cannot be used is reported with its path', async () => {
  await writeFile(path('file'), '');
  vi.stubEnv('XDG_CONFIG_HOME', path('file'));
  expect((await run('profile', 'set', 'x', '--as', 'acme')).error?.message).toMatch(
    /file\/mex\/profiles\.json cannot be (read|written) \(ENOTDIR\): check the folder and its owner\.$/,
  );
});

it.each([
  ['{"default": {"url": 7}}', /profiles\.json: \S*url must be a string\. Correct it, or remove the file\.$/],
  ['{"default": {"token": "x"}}', /token is not a known field/],
  ['{', /profiles\.json is not JSON/],
])('a profiles.json with %s is reported with its problem', async (text, message) => {
  const folder = join(process.env.XDG_CONFIG_HOME!, 'mex');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'profiles.json'), text);
  expect((await run('whoami')).error?.message).toMatch(message);
});
