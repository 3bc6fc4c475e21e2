/** Tests agents, duchies and scripts that sign in with a client secret at a real OpenID provider. */
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isTransient } from '@measurement-exchange/sdk';
import { createDuchyDatabase } from '@measurement-exchange/testkit/duchy';
import { spawnMex, urlOf } from '@measurement-exchange/testkit/process';
import { expect, it, vi } from 'vitest';
import { connect } from '../src/connection/client.ts';
import { readProviderConfig } from '../src/provider/config.ts';
import { expiryOf } from '../src/signIn/claims.ts';
import { clientCredentials } from '../src/signIn/clientCredentials.ts';
import { path, told } from './environment.ts';
import { mex, run } from './mexInProcess.ts';
import { AGENT, DUCHY, SECRET, startProvider } from './openIdProvider.ts';
import { exchange, provider, useSignIn } from './signInWorld.ts';

useSignIn();

const signIn = (issuer = provider.url) => ({
  issuer,
  clientId: AGENT,
  clientSecretFile: path('secret'),
  resource: 'urn:exchange',
});

it('clientCredentials reuses a token until it is about to expire, and renews it once for concurrent calls', async () => {
  const token = clientCredentials(signIn());
  const [first, same] = await Promise.all([token(), token()]);
  expect([same, await token()]).toEqual([first, first]);
  provider.lifetime = 3;
  const short = clientCredentials(signIn());
  const before = await short();
  // Wait until less than a third of the token's lifetime is left. The next call then renews the token.
  await sleep(2100);
  const [after] = await Promise.all([short(), short(), short()]);
  expect(expiryOf(after)).toBeGreaterThan(expiryOf(before));
  expect(provider.grants).toEqual(Array(3).fill('client_credentials'));
});

it('clientCredentials returns the old token until it expires while the issuer is unreachable', async () => {
  const own = await startProvider();
  own.lifetime = 4;
  const token = clientCredentials(signIn(own.url));
  const before = await token();
  await own.stop();
  await sleep(2800);
  expect(await token()).toBe(before);
  await vi.waitFor(() => expect(token()).rejects.toThrow(/cannot be reached \(ECONNREFUSED\)/), {
    timeout: 60_000,
  });
});

/**
 * Onboards a party that signs in as this client of the OpenID provider. The folder with the party's keys is named after
 * the party's ID.
 */
async function onboard(name: string, client: string): Promise<void> {
  const folder = path(name.split('/')[1]!);
  await mex('identity', name, '--out', folder);
  const operator = ['--url', exchange.url, '--token', exchange.dev.operator.token];
  const subject = ['--issuer', provider.url, '--subject', client];
  await mex('admin', 'onboard', join(folder, 'party.json'), ...(await told(folder)), ...subject, ...operator);
}

it('an agent signs in with its client secret, and does not print it', async () => {
  await onboard('dataProviders/lakeside', AGENT);
  await writeFile(path('events.csv'), 'vid,timestamp,event_group\n1,2026-01-01T00:00:00Z,spring\n');
  const config = {
    ...{ url: exchange.url, signIn: { ...signIn(), clientSecretFile: 'secret' }, identity: 'lakeside' },
    ...{ roots: ['lakeside/root.pem'], ledger: 'ledger', budget: { epsilon: 1, delta: 1e-6, rho: 0.1 } },
    events: { files: 'events.csv', columns: { attributes: [] } },
    references: {},
  };
  await writeFile(path('provider.json'), JSON.stringify(config));
  const { error, out, err } = await run('provider', 'run', '--config', path('provider.json'), '--once');
  expect(error).toBeUndefined();
  expect(provider.grants).toEqual(['client_credentials']);
  expect(out + err).not.toContain(SECRET);
  await writeFile(path('both.json'), JSON.stringify({ ...config, tokenFile: 'token' }));
  await expect(readProviderConfig(path('both.json'))).rejects.toThrow('tokenFile and signIn are both set');
});

it('a duchy signs in with its client secret, and logs neither the secret nor a token', async () => {
  await onboard('duchies/alpha', DUCHY);
  const database = await createDuchyDatabase();
  const config = {
    ...{ mode: 'development', url: exchange.url, identity: 'alpha', databaseUrl: database.url },
    ...{ signIn: { ...signIn(), clientId: DUCHY, clientSecretFile: 'secret' }, logLevel: 'trace' },
    ...{ roots: ['duchies/alpha=alpha/root.pem'], listen: { port: 0 }, dataDir: 'data' },
  };
  await writeFile(path('duchy.json'), JSON.stringify(config));
  const duchy = spawnMex(['duchy', 'run', '--config', path('duchy.json')]);
  await urlOf(duchy);
  const operations = /"operationsUrl":"([^"]+)"/.exec(duchy.output())![1];
  await vi.waitFor(async () => expect((await fetch(`${operations}/readyz`)).status).toBe(200));
  expect(await duchy.kill('SIGTERM')).toBe(0);
  expect(provider.grants).toEqual(['client_credentials']);
  expect(duchy.output()).not.toMatch(new RegExp(`${SECRET}|eyJ`));
  await database.drop();
});

it('mex signs in with the client secret and issuer from environment variables', async () => {
  vi.stubEnv('MEX_URL', exchange.url);
  vi.stubEnv('MEX_CLIENT_SECRET_FILE', path('secret'));
  expect((await run('whoami')).error?.message).toMatch(/set MEX_ISSUER and MEX_CLIENT_ID, too/);
  vi.stubEnv('MEX_ISSUER', provider.url);
  vi.stubEnv('MEX_CLIENT_ID', AGENT);
  expect((await run('whoami')).error?.message).toMatch(
    /sent a token that only it can read: set audience, scope or resource/,
  );
  vi.stubEnv('MEX_RESOURCE', 'urn:exchange');
  expect(await mex('whoami')).toMatch(new RegExp(`^dataProviders/lakeside\\n.*subject +${AGENT}`, 's'));
  for (const name of ['SECRET_FILE', 'ID']) vi.stubEnv(`MEX_CLIENT_${name}`, undefined);
  vi.stubEnv('MEX_ISSUER', undefined);
  vi.stubEnv('MEX_RESOURCE', undefined);
});

it('a wrong client secret fails with a transient error that does not contain the secret', async () => {
  await writeFile(path('wrong'), 'another-secret');
  const token = clientCredentials({ ...signIn(), clientSecretFile: path('wrong') });
  const error: Error = await token().then(expect.unreachable, (failure) => failure);
  // The error is transient, so a duchy does not give up its computations.
  expect(isTransient(error)).toBe(true);
  expect(error.message).toMatch(new RegExp(`does not accept the client ${AGENT}: check its ID, its secret`));
  expect(`${error.stack} ${JSON.stringify(error)} ${error.cause}`).not.toContain('another-secret');
  await expect(clientCredentials({ ...signIn(), clientSecretFile: path('none') })()).rejects.toThrow(
    /none cannot be read \(ENOENT\): put the secret of the client there/,
  );
});

it('an error of the issuer is quoted without the client secret and without control characters', async () => {
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    const issuer = `http://127.0.0.1:${port}`;
    const isToken = request.url === '/token';
    response.writeHead(isToken ? 400 : 200, { 'content-type': 'application/json' });
    const rejected = { error: 'invalid_request', error_description: `\u001b[2J${SECRET} is odd` };
    response.end(JSON.stringify(isToken ? rejected : { issuer, token_endpoint: `${issuer}/token` }));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const token = clientCredentials(signIn(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  await expect(token()).rejects.toThrow(
    /rejected the request \(invalid_request\)\. It says: \ufffd\[2J… is odd$/,
  );
  server.closeAllConnections();
  server.close();
});

it('the error for an untrusted token names the issuer, audience and client that the exchange must list', async () => {
  const own = await startProvider();
  const client = await connect({ url: exchange.url, signIn: signIn(own.url) });
  const { explained } = await import('../src/connection/client.ts');
  const error = await client.whoAmI().then(() => undefined, explained);
  expect((error as Error).message).toMatch(
    new RegExp(
      `TOKEN_INVALID.*token is for ${AGENT}\\..*issuer ${own.url}, audience mex, clients with ${AGENT}`,
      's',
    ),
  );
  await own.stop();
});
