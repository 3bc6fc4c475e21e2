import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { ConsoleFiles } from '@measurement-exchange/console/files';
import { startExchange, type TestExchange } from '@measurement-exchange/testkit/exchange';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findIdentities, type Identity } from '../src/console/identities.ts';
import { loadConsole } from '../src/console/load.ts';
import { type RunningConsole, startConsole } from '../src/console/server.ts';
import { path, told, useEnvironment } from './environment.ts';
import { mex } from './mexInProcess.ts';

let exchange: TestExchange;
let files: ConsoleFiles;
let running: RunningConsole;
let cookie: string;

beforeAll(async () => {
  exchange = await startExchange();
});
useEnvironment(() => exchange);
beforeAll(async () => {
  files = await loadConsole();
  running = await startConsole({ identities: await findIdentities({ as: ['acme', 'streamly'] }), files });
  cookie = cookieOf(await ask(running.newLink()));
});
afterAll(async () => {
  await running.stop();
  expect(await exchange.stop()).toEqual([]);
});

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

interface Ask {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  /** Replaces the path of the address. It is sent exactly as written, because `URL` would normalize it. */
  path?: string;
}

/**
 * Sends a request with any headers, such as Host. `fetch` cannot do this, because it sets Host itself and rejects some
 * other headers.
 */
async function ask(address: string, { method = 'GET', headers = {}, body, path }: Ask = {}): Promise<Answer> {
  const url = new URL(address);
  const request = httpRequest({
    ...{ host: url.hostname, port: url.port, method, headers },
    path: path ?? `${url.pathname}${url.search}`,
  });
  request.end(body);
  const [response] = await once(request, 'response');
  let text = '';
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, headers: response.headers, text };
}

const cookieOf = ({ headers }: Answer) => headers['set-cookie']![0]!.split(';')[0]!;
const asPage = (path: string, { headers, ...options }: Ask = {}) =>
  ask(`${running.url}${path}`, { ...options, headers: { cookie, 'mex-identity': ACME, ...headers } });
const ACME = 'measurementConsumers/acme';
const ISSUER = ['--issuer', 'https://id.example.com', '--subject', 'newco'];

describe('findIdentities', () => {
  it('returns the party of an identity folder with its keys, or of a token without keys', async () => {
    const [name, folder] = ['measurementConsumers/newco', path('newco')];
    await mex('identity', name, '--out', folder);
    await mex(
      'admin',
      'onboard',
      join(folder, 'party.json'),
      '--trust-root',
      ...ISSUER,
      ...(await told(folder)),
    );
    const token = (await mex('token', name)).trim();
    const access = { url: exchange.url, token };
    const [own] = await findIdentities({ ...access, identity: folder, root: [join(folder, 'root.pem')] });
    expect(own).toMatchObject({ id: name, principal: name, baseUrl: exchange.url, isDemo: false });
    expect((await own!.acting!()).credentials.name).toBe(name);
    const [keyless] = await findIdentities(access);
    expect([keyless!.principal, keyless!.acting]).toEqual([name, undefined]);
  });

  it('returns all demo parties and the operator by default, and rejects an unknown party', async () => {
    const names = (await findIdentities({})).map(({ principal }) => principal);
    expect(names).toContain('dataProviders/chirper');
    expect(names.at(-1)).toBe('operator');
    await expect(findIdentities({ as: ['nobody'] })).rejects.toThrow('There is no demo party nobody.');
  });
});

describe('the link to the console', () => {
  it('works once, sets a cookie that scripts cannot read, and redirects to an address without the token', async () => {
    const link = running.newLink();
    const token = new URL(link).searchParams.get('token')!;
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    const opened = await ask(link);
    expect(opened.status).toBe(303);
    expect(opened.headers.location).toBe('/');
    expect(opened.headers['set-cookie']![0]).toMatch(
      /^mex-console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(opened.headers['set-cookie']![0]).not.toContain(token);
    const again = await ask(link);
    expect([again.status, again.headers['set-cookie']]).toEqual([403, undefined]);
    expect(again.text).toContain('This link was used already.');
  });

  it('is rejected with 403 if its token is wrong, empty or missing', async () => {
    for (const query of ['', '?token=', `?token=${'A'.repeat(43)}`]) {
      const { status, headers, text } = await ask(`${running.url}/open${query}`);
      expect([status, headers['set-cookie']]).toEqual([403, undefined]);
      expect(text).toContain('Open the link that mex console printed.');
    }
  });

  it('has a loopback address other than 127.0.0.1 on Linux', () => {
    expect(new URL(running.url).hostname).toMatch(
      process.platform === 'linux' ? /^127\.(?!0\.0\.1$)/ : /^127\./,
    );
  });
});

describe('a request without the cookie', () => {
  const PATHS = ['/', '/console.json', '/v2alpha/whoami', '/companion/about', '/measurements'];

  it.each(PATHS)('is rejected with 401 at %s', async (path) => {
    for (const headers of [
      {},
      { cookie: 'mex-console=' },
      { cookie: `mex-console=${'A'.repeat(43)}` },
    ] as Ask['headers'][]) {
      const { status, text } = await ask(`${running.url}${path}`, {
        headers: { accept: 'text/html', ...headers },
      });
      expect(status).toBe(401);
      expect(text).toContain('Open the link that mex console printed');
    }
  });
});

describe('a request from another page or for another host', () => {
  const { host } = new URL('http://127.0.0.1:1');
  const FOREIGN: [string, Record<string, string>][] = [
    ['a foreign Host that resolves to this machine', { host: 'evil.example' }],
    ['a Host with another port', { host }],
    ['the Host localhost', { host: 'localhost' }],
    ['another origin', { origin: 'https://evil.example' }],
    ['the origin null', { origin: 'null' }],
    ['Sec-Fetch-Site cross-site', { 'sec-fetch-site': 'cross-site' }],
    ['Sec-Fetch-Site same-site', { 'sec-fetch-site': 'same-site' }],
  ];

  it.each(FOREIGN)('is rejected with 403 even with the cookie: %s', async (_title, headers) => {
    for (const path of ['/', '/console.json', '/v2alpha/whoami', '/open?token=x']) {
      const { status, text } = await asPage(path, { headers });
      expect(status).toBe(403);
      expect(text).toMatch(/answers only at http:|answers only its own page/);
    }
    const companion = await asPage('/companion/about', {
      ...{ method: 'POST', body: '{}' },
      headers: { 'content-type': 'application/json', ...headers },
    });
    expect(companion.status).toBe(403);
  });

  it('does not use up the link', async () => {
    const link = running.newLink();
    expect((await ask(link, { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403);
    expect((await ask(link)).status).toBe(303);
  });
});

describe('the page of the console', () => {
  it('has a strict Content-Security-Policy, and scripts that are compressed and cacheable', async () => {
    const { status, headers, text } = await asPage('/', { headers: { accept: 'text/html' } });
    expect(status).toBe(200);
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    );
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    const [, script] = /src="(\/assets\/[^"]+\.js)"/.exec(text)!;
    const file = await asPage(script!, { headers: { 'accept-encoding': 'gzip, br' } });
    expect(file.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-encoding': 'br',
      'content-type': 'text/javascript; charset=utf-8',
    });
    expect(
      (await asPage(script!, { headers: { 'accept-encoding': 'br;q=0' } })).headers['content-encoding'],
    ).toBeUndefined();
  });

  it('is served at the addresses of the app, but not for a missing asset or a POST', async () => {
    const page = await asPage('/measurements/x', { headers: { accept: 'text/html,*/*' } });
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect((await asPage('/assets/absent.js')).status).toBe(404);
    expect((await asPage('/', { method: 'POST' })).status).toBe(405);
  });

  it.each([
    '/../package.json',
    '/assets/../../files.ts',
    '/%2e%2e/%2e%2e/package.json',
    '/assets/..%2f..%2ffiles.json',
    '//etc/passwd',
  ])('does not expose other files: %s', async (path) => {
    const { status, text } = await asPage('/', { path });
    expect(status).toBe(404);
    expect(text).toBe('There is no such file.\n');
  });

  it('receives the identities, but no secret', async () => {
    const about = await asPage('/console.json');
    expect(JSON.parse(about.text)).toMatchObject({
      by: 'mex console',
      companion: true,
      identities: [
        { id: ACME, principal: ACME, keys: true },
        { id: 'dataProviders/streamly', principal: 'dataProviders/streamly', keys: true },
      ],
    });
    const companion = await asPage('/companion/about', {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    const whoAmI = await asPage('/v2alpha/whoami');
    expect(companion.status).toBe(200);
    expect(JSON.parse(companion.text).principal).toBe(ACME);
    const [acme] = exchange.dev.measurementConsumers as unknown as Record<string, string>[];
    const secrets = [acme!.token!, acme!.encryptionPrivateKey!, acme!.privateKeyPem!.split('\n')[1]!];
    for (const { text, headers } of [about, companion, whoAmI]) {
      for (const secret of secrets) expect(`${text}${JSON.stringify(headers)}`).not.toContain(secret);
    }
  });
});

it.each(['absent', 'constructor', '__proto__', 'about/x'])(
  'the companion rejects the unknown method %s with 404',
  async (method) => {
    const { status, text } = await asPage(`/companion/${method}`, {
      ...{ method: 'POST', body: '{}' },
      headers: { 'content-type': 'application/json' },
    });
    expect([status, JSON.parse(text).reason]).toEqual([404, 'METHOD_NOT_FOUND']);
  },
);

describe('the API behind the console', () => {
  it('is called as the identity in the header mex-identity, and an unknown identity is rejected', async () => {
    for (const identity of [ACME, 'dataProviders/streamly']) {
      const { text } = await asPage('/v2alpha/whoami', { headers: { 'mex-identity': identity } });
      expect(JSON.parse(text).principal).toBe(identity);
    }
    for (const identity of ['dataProviders/chirper', '', '__proto__']) {
      const { status, text } = await asPage('/v2alpha/whoami', { headers: { 'mex-identity': identity } });
      expect(status).toBe(403);
      expect(text).toContain('mex console was not started for this identity.');
    }
  });

  it.each([
    '/v2alpha/../metrics',
    '/v2alpha/%2e%2e/metrics',
    '/v2alpha/..%5cmetrics/../../metrics',
    '/v2alpha',
    '/metrics',
  ])('does not give access to other paths of the exchange: %s', async (path) => {
    const { status, text } = await asPage('/', { path });
    expect(text).not.toContain('process_cpu');
    expect(status).toBe(404);
  });

  it('redirects /docs to the exchange', async () => {
    const { status, headers } = await asPage('/docs');
    expect([status, headers.location]).toEqual([302, `${exchange.url}/docs`]);
  });

  it('rejects the method OPTIONS and a cookie with another name', async () => {
    expect((await asPage('/v2alpha/whoami', { method: 'OPTIONS' })).status).toBe(405);
    expect(
      (await asPage('/v2alpha/whoami', { headers: { cookie: cookie.replace('mex-console', 'other') } }))
        .status,
    ).toBe(401);
  });
});

describe('the console in front of an exchange', () => {
  let server: Server;
  let seen: { url: string; headers: IncomingHttpHeaders; body: string }[];
  let tokens: string[];
  /** The number of open event streams. */
  let streams = 0;
  let console: RunningConsole;
  let own: string;

  beforeAll(async () => {
    server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      seen.push({ url: request.url!, headers: request.headers, body });
      const isGood = request.headers.authorization === 'Bearer good';
      response.writeHead(isGood ? 200 : 401, {
        'content-type': 'text/event-stream',
        'set-cookie': 'tracked=1',
        'content-security-policy': 'default-src *',
        'x-request-id': 'r1',
      });
      response.write('data: 1\n\n');
      if (!request.url!.endsWith('stream')) return void response.end();
      streams += 1;
      response.once('close', () => {
        streams -= 1;
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const identity: Identity = {
      ...{ id: 'x', principal: ACME, baseUrl: `http://127.0.0.1:${port}`, isDemo: false, acting: undefined },
      token: async () => tokens.shift() ?? 'good',
    };
    console = await startConsole({ identities: [identity], files });
    own = cookieOf(await ask(console.newLink()));
  });
  afterAll(async () => {
    await console.stop();
    server.closeAllConnections();
    server.close();
  });

  const call = (path: string, options: Ask = {}) =>
    ask(`${console.url}${path}`, { ...options, headers: { cookie: own, ...options.headers } });

  it('sends the token of the party, and from the page only the headers that the API needs', async () => {
    [seen, tokens] = [[], []];
    const answer = await call('/v2alpha/things?a=b%2Fc', {
      method: 'POST',
      body: '{"a":1}',
      headers: {
        ...{ authorization: 'Bearer of-the-page', 'content-type': 'application/json', 'last-event-id': '7' },
        ...{
          referer: `${console.url}/measurements/secret`,
          'x-forwarded-for': '1.2.3.4',
          'mex-identity': 'x',
        },
      },
    });
    expect(seen).toHaveLength(1);
    const [{ url, headers, body }] = seen as [(typeof seen)[0]];
    expect([url, body]).toEqual(['/v2alpha/things?a=b%2Fc', '{"a":1}']);
    expect(headers).toMatchObject({
      authorization: 'Bearer good',
      'content-type': 'application/json',
      'last-event-id': '7',
    });
    for (const name of ['cookie', 'referer', 'origin', 'x-forwarded-for', 'mex-identity'])
      expect(headers[name]).toBeUndefined();
    // The page receives only the headers that belong to the API.
    expect(answer.headers).toMatchObject({ 'x-request-id': 'r1', 'cache-control': 'no-store' });
    for (const name of ['set-cookie', 'content-security-policy'])
      expect(answer.headers[name]).toBeUndefined();
  });

  it('repeats a request after a 401 only if there is a new token', async () => {
    [seen, tokens] = [[], ['old', 'good']];
    expect((await call('/v2alpha/things', { method: 'POST', body: '{}' })).status).toBe(200);
    expect(seen.map(({ headers, body }) => [headers.authorization, body])).toEqual([
      ['Bearer old', '{}'],
      ['Bearer good', '{}'],
    ]);
    [seen, tokens] = [[], ['old', 'old', 'old']];
    expect((await call('/v2alpha/things')).status).toBe(401);
    expect(seen).toHaveLength(1);
  });

  it('forwards streamed events immediately, and closes the stream when the page disconnects', async () => {
    [seen, tokens] = [[], []];
    const { hostname, port } = new URL(console.url);
    const request = httpRequest({
      host: hostname,
      port,
      path: '/v2alpha/stream',
      headers: { cookie: own },
    }).end();
    const [response] = await once(request, 'response');
    const [chunk] = await once(response, 'data');
    expect(String(chunk)).toBe('data: 1\n\n');
    expect(streams).toBe(1);
    response.destroy();
    await expect.poll(() => streams).toBe(0);
  });

  it('rejects calls of the companion with NO_KEYS for an identity without keys', async () => {
    const { status, text } = await call('/companion/about', {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    expect([status, JSON.parse(text).reason]).toEqual([422, 'NO_KEYS']);
  });
});
