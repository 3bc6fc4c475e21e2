/** Tests which exchange a command calls, and as which party. */
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createDevIssuer, devKeyFile } from '@measurement-exchange/exchange/devIssuer';
import { readCredentials } from '@measurement-exchange/sdk';
import { describe, expect, it, vi } from 'vitest';
import { connect } from '../src/connection/client.ts';
import { findDevParty, readDevFile } from '../src/files/devFile.ts';
import { exchange, token, useExchange } from './adminWorld.ts';
import { mex, mexJson } from './mexInProcess.ts';

useExchange();

const principal = async (options: Parameters<typeof connect>[0]) =>
  (await (await connect(options)).whoAmI()).principal;

describe('a command', () => {
  it('calls the local development exchange as its operator by default, or as the demo party of --as', async () => {
    expect(await principal({})).toBe('operator');
    expect(await principal({ as: 'dataProviders/streamly' })).toBe('dataProviders/streamly');
    expect(await principal({ as: 'acme' })).toBe('measurementConsumers/acme');
  });

  it('prefers --token over --as, and --as over MEX_TOKEN', async () => {
    vi.stubEnv('MEX_TOKEN', await token('dataProviders/chirper'));
    expect(await principal({})).toBe('dataProviders/chirper');
    expect(await principal({ as: 'streamly' })).toBe('dataProviders/streamly');
    const given = await token('measurementConsumers/globex');
    expect(await principal({ token: given, as: 'streamly' })).toBe('measurementConsumers/globex');
    vi.stubEnv('MEX_URL', `${exchange.url}/`);
    expect(await principal({})).toBe('dataProviders/chirper');
  });

  it('accepts --as with a demo party, and rejects an unknown one with a list of the parties', async () => {
    const { displayName } = await mexJson(
      'admin',
      'parties',
      'get',
      'dataProviders/streamly',
      '--as',
      'streamly',
    );
    expect(displayName).toBe('Streamly TV');
    const get = ['admin', 'parties', 'get', 'dataProviders/streamly'];
    await expect(mex(...get, '--as', 'stremly')).rejects.toThrow(
      /no demo party stremly\. There are: measurementConsumers\/acme, /,
    );
    await expect(mex(...get, '--as', 'chirper')).rejects.toThrow(/PERMISSION_DENIED.*--as <party>/s);
  });

  it('prints when its token expired', async () => {
    const issuer = await createDevIssuer({ keyFile: devKeyFile(exchange.dataDir), baseUrl: exchange.url });
    vi.stubEnv('MEX_TOKEN', await issuer.mint('operator', -3600));
    await expect(mex('whoami')).rejects.toThrow(
      /\(TOKEN_INVALID\)\n {2}The token expired at \d{4}-\d\d-\d\dT[\d:.]+Z\.\n {2}Get a fresh token with mex login/,
    );
  });

  it('rejects --as for an exchange other than the local development exchange', async () => {
    const url = exchange.url.replace('127.0.0.1', 'localhost');
    await expect(connect({ url, as: 'streamly' })).rejects.toThrow(
      /--as is for the development exchange here/,
    );
  });

  it('uses the new token after the exchange renewed it in dev.json', async () => {
    const client = await connect({ as: 'streamly' });
    const file = join(exchange.dataDir, 'dev.json');
    const before = await readFile(file, 'utf8');
    const dev = JSON.parse(before);
    for (const party of dev.dataProviders) party.token = await token('dataProviders/dailynews');
    await writeFile(file, JSON.stringify(dev));
    expect((await client.whoAmI()).principal).toBe('dataProviders/dailynews');
    await writeFile(file, before);
  });

  it('reports that nothing responds at the address, or that the response is not one of an exchange', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const list = () => mex('admin', 'parties', 'list', '--url', url, '--token', 't');
    await expect(list()).rejects.toThrow(/not one of an exchange: it is text\/html/);
    await new Promise((resolve) => server.close(resolve));
    await expect(list()).rejects.toThrow(/does not respond \(.*ECONNREFUSED.*Does the exchange run there\?/);
  });
});

describe('a demo party', () => {
  it('has a signing key, a certificate and encryption keysets in dev.json', async () => {
    const party = findDevParty(await readDevFile(exchange.dataDir), 'streamly');
    const { name, certificate, privateKeyPem, ...keysets } = readCredentials(party);
    expect([name, certificate]).toEqual(['dataProviders/streamly', party.certificate]);
    expect(privateKeyPem).toContain('BEGIN PRIVATE KEY');
    for (const key of ['encryptionPublicKey', 'encryptionPrivateKey'] as const) {
      expect(Buffer.from(keysets[key]).toString('base64')).toBe(party[key]);
    }
  });
});
