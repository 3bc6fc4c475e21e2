/** Tests `mex login` at a real OpenID provider, and calls to an exchange that trusts the provider. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { browse } from './fetchBrowser.ts';
import { mex, run } from './mexInProcess.ts';
import { CLIENT, startProvider } from './openIdProvider.ts';
import { as, bind, exchange, login, provider, settings, useSignIn } from './signInWorld.ts';

useSignIn();

const configFolder = () => join(process.env.XDG_CONFIG_HOME!, 'mex');
const stored = async (profile: string) =>
  JSON.parse(await readFile(join(configFolder(), 'logins', `${profile}.json`), 'utf8'));

it('signs in with a browser, and every command then calls as the user', async () => {
  await bind('ann', 'measurementConsumers/acme');
  const { out, error, notes } = await login(as('ann'), 'login', '--no-browser', ...settings());
  expect(error).toBeUndefined();
  expect(out).toBe(`You are measurementConsumers/acme at ${exchange.url}.\n`);
  expect(notes).toContain('code_challenge_method=S256');
  expect(await mex('whoami')).toMatch(/^measurementConsumers\/acme\n.*issuer.*\n.*subject +ann/);
  expect(await mex('profile', 'list')).toMatch(new RegExp(`default +${exchange.url} +signed in`));
  // Other users of this machine cannot read the files, and the settings contain no token.
  const login_ = await stored('default');
  for (const file of ['profiles.json', 'logins/default.json']) {
    expect((await stat(join(configFolder(), file))).mode & 0o777).toBe(0o600);
  }
  expect(await readFile(join(configFolder(), 'profiles.json'), 'utf8')).not.toContain('oken');
  for (const secret of [login_.idToken, login_.refreshToken]) expect(notes + out).not.toContain(secret);
});

it('renews an expired token once for concurrent commands', async () => {
  await bind('bob', 'measurementConsumers/acme');
  provider.lifetime = 20;
  await login(as('bob'), 'login', '--no-browser', ...settings());
  const before = await stored('default');
  provider.lifetime = 3600;
  const { connect } = await import('../src/connection/client.ts');
  const clients = await Promise.all([connect({}), connect({}), connect({})]);
  const callers = await Promise.all(clients.map((client) => client.whoAmI()));
  expect(callers.map(({ subject }) => subject)).toEqual(['bob', 'bob', 'bob']);
  expect(provider.grants).toEqual(['authorization_code', 'refresh_token']);
  const after = await stored('default');
  expect(after.refreshToken).not.toBe(before.refreshToken);
  expect(await readdir(join(configFolder(), 'logins'))).toEqual(['default.json', 'default.json.lock']);
});

it('asks to sign in again after the refresh token is revoked, and deletes the login on logout', async () => {
  provider.lifetime = 20;
  await login(as('bob'), '--profile', 'work', 'login', '--no-browser', ...settings());
  const { refreshToken } = await stored('work');
  await fetch(`${provider.url}/token/revocation`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: CLIENT, token: refreshToken }),
  });
  const { error } = await run('whoami', '--profile', 'work');
  expect(error?.message).toBe(`Your login at ${provider.url} has expired: run mex --profile work login.`);
  expect(error?.message).not.toContain(refreshToken);
  expect(await mex('logout')).toBe(`Signed out of ${provider.url} with the profile work.\n`);
  expect((await run('whoami')).error?.message).toMatch(
    /You are not signed in at .*: run mex --profile work login\.$/,
  );
});

it('revokes the refresh token on logout', async () => {
  await login(as('bob'), 'login', '--no-browser', ...settings());
  const { refreshToken } = await stored('default');
  await mex('logout');
  const body = new URLSearchParams({
    client_id: CLIENT,
    refresh_token: refreshToken,
    grant_type: 'refresh_token',
  });
  const response = await fetch(`${provider.url}/token`, { method: 'POST', body });
  expect(await response.json()).toMatchObject({ error: 'invalid_grant' });
});

it('rejects redirects with a wrong or missing state, and continues to wait for the right one', async () => {
  await bind('cat', 'measurementConsumers/acme');
  const forged: number[] = [];
  const visit = async (address: string) => {
    const redirect = new URL(new URL(address).searchParams.get('redirect_uri')!);
    for (const query of ['?code=stolen&state=other', '?code=stolen', `?error=access_denied&state=other`]) {
      forged.push((await fetch(redirect.href + query)).status);
    }
    return browse(address, { name: 'cat' });
  };
  const { error, out, visited } = await login(visit, 'login', '--no-browser', ...settings());
  expect(error).toBeUndefined();
  expect(forged).toEqual([400, 400, 400]);
  expect(visited).toMatchObject({ status: 200, text: expect.stringContaining('can be closed') });
  expect(out).toContain('You are measurementConsumers/acme');
});

it('signs in by a device code', async () => {
  await bind('dan', 'dataProviders/streamly');
  const { out, error, notes } = await login(as('dan'), 'login', '--device', ...settings());
  expect(error).toBeUndefined();
  expect(notes).toMatch(/any browser:\n {2}http:.*user_code=(\S+)\nand compare or enter the code \1\n/);
  expect(out).toContain('You are dataProviders/streamly');
});

it('prints the command with which the operator binds the subject, and keeps the login until then', async () => {
  const { error } = await login(as('eve'), 'login', '--no-browser', ...settings());
  expect(error?.message).toMatch(
    new RegExp(`PRINCIPAL_UNKNOWN.*principals bind <party> --issuer '${provider.url}' --subject 'eve'`, 's'),
  );
  await bind('eve', 'dataProviders/chirper');
  expect(await mex('whoami')).toContain('dataProviders/chirper');
});

it('mex login fails and stores nothing if it is denied, times out or cannot reach the issuer', async () => {
  const denied = (address: string) => browse(address, { name: 'ann', denies: true });
  const away = await startProvider();
  await away.stop();
  const attempts: [RegExp, (address: string) => Promise<unknown>, string[]][] = [
    [/^The login was denied at http:\S+\./, denied, []],
    [/^The login timed out after 1 s: run mex login again\.$/, async () => {}, ['--timeout', '1']],
    [
      /^The login timed out after 1 s: run mex login --device again\.$/,
      async () => {},
      ['--device', '--timeout', '1'],
    ],
    [/^The issuer http:\S+ cannot be reached \(ECONNREFUSED\): check/, as('ann'), ['--issuer', away.url]],
    [
      /did not respond as an OpenID issuer does \(.*\): check the address/,
      as('ann'),
      ['--issuer', exchange.url],
    ],
    [
      /^The issuer must be an address that begins with https/,
      as('ann'),
      ['--issuer', 'http://id.example.com'],
    ],
    [/^The redirect must be an address of this machine/, as('ann'), ['--redirect', 'http://example.com/']],
  ];
  for (const [message, visit, args] of attempts) {
    const { error } = await login(visit, 'login', '--no-browser', ...settings(), ...args);
    expect(error?.message).toMatch(message);
    expect(await readdir(configFolder()).catch(() => [])).toEqual([]);
  }
  vi.stubEnv('MEX_URL', exchange.url);
  expect((await run('login')).error?.message).toMatch(/^Say where you sign in: --issuer and --client-id/);
});

it('sends a login to no other exchange', async () => {
  await login(as('ann'), 'login', '--no-browser', ...settings());
  const other = exchange.url.replace('127.0.0.1', 'localhost');
  expect((await run('whoami', '--url', other)).error?.message).toMatch(
    /^Say who you are at http:\/\/localhost/,
  );
  await mex('profile', 'set', 'default', '--url', other);
  expect((await run('whoami')).error?.message).toMatch(/^You are not signed in at http:\/\/localhost/);
});
