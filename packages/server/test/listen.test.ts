import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createIdentity } from '@measurement-exchange/sdk/identity';
import { COMMON_HEADERS, type Listening, listenAt, sendClientError } from '@measurement-exchange/server';
import Fastify from 'fastify';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

let folder: string;
let server: Listening | undefined;
let sent: (string | undefined)[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mex-listen-'));
  sent = [];
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
  rmSync(folder, { recursive: true });
});

let release = () => {};
async function start(tls?: { certFile: string; keyFile: string }): Promise<Listening> {
  server = await listenAt({ host: '127.0.0.1', port: 0, tls }, (files) => {
    const limits = {
      headersTimeout: 300,
      requestTimeout: 300,
      connectionsCheckingInterval: 50,
      maxHeaderSize: 1_000,
    };
    const app = Fastify({
      ...(files ? { https: { ...limits, ...files } } : { http: limits }),
      requestTimeout: 300,
      clientErrorHandler: ((error: Error, socket: Socket) => {
        sent.push(sendClientError(error, socket, COMMON_HEADERS)?.reason);
      }) as never,
    });
    app.get('/', () => 'hello');
    app.get('/slow', async () => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return 'at last';
    });
    return app as never;
  });
  return server;
}

/** Starts the server, sends `bytes` on a new connection, and returns everything that the server sends back. */
async function answerTo(bytes: string): Promise<string> {
  const { hostname, port } = new URL((await start()).url);
  const socket = connect(Number(port), hostname);
  socket.write(bytes);
  let answer = '';
  socket.on('data', (data) => {
    answer += data;
  });
  await once(socket, 'close');
  return answer;
}

test('a server returns its URL, and accepts no more requests after it has stopped', async () => {
  const { url, stop } = await start();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(await (await fetch(url)).text()).toBe('hello');
  await stop();
  server = undefined;
  await expect(fetch(url)).rejects.toThrow();
});

test('a request in progress is answered before the server has stopped', async () => {
  const { url, stop } = await start();
  const answer = fetch(`${url}/slow`);
  await new Promise((resolve) => setTimeout(resolve, 100));
  let stopped = false;
  const stopping = stop().then(() => {
    stopped = true;
  });
  server = undefined;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(stopped).toBe(false);
  release();
  expect(await (await answer).text()).toBe('at last');
  await stopping;
});

test('a server with a certificate accepts only TLS', async () => {
  const identity = await createIdentity({ party: 'duchies/a', commonName: 'a', now: Date.now(), days: 1 });
  const { certificatePem: cert, privateKeyPem: key } = identity;
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  const { url } = await start({ certFile, keyFile });
  expect(url).toMatch(/^https:/);
  const [response] = await once(https.get(url, { rejectUnauthorized: false }), 'response');
  expect(response.statusCode).toBe(200);
  response.resume();
  await expect(fetch(url.replace('https', 'http'))).rejects.toThrow();
});

test.each([
  ['is not HTTP', 'nonsense\r\n\r\n', 400, 'MALFORMED_REQUEST'],
  [
    'has headers that are too large',
    `GET / HTTP/1.1\r\nhost: x\r\na: ${'x'.repeat(2_000)}\r\n\r\n`,
    431,
    'HEADERS_TOO_LARGE',
  ],
  ['never ends', 'GET / HTTP/1.1\r\nhost: x\r\n', 408, 'REQUEST_TIMEOUT'],
])(
  'a request that %s gets a standard error response, and the connection is closed',
  async (_what, bytes, status, reason) => {
    const answer = await answerTo(bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const [head, body] = answer.split('\r\n\r\n') as [string, string];
    expect(head.toLowerCase()).toContain('connection: close');
    for (const [name, value] of Object.entries(COMMON_HEADERS)) expect(head).toContain(`${name}: ${value}`);
    expect(head).toContain(`content-length: ${Buffer.byteLength(body)}`);
    expect(JSON.parse(body).error.details[0].reason).toBe(reason);
    expect(sent).toEqual([reason]);
  },
);

test('invalid bytes after a request cause no second response', async () => {
  const answer = await answerTo('GET / HTTP/1.1\r\nhost: x\r\n\r\nnonsense\r\n\r\n');
  expect(answer.match(/^HTTP\/1\.1 /gm)).toHaveLength(1);
});

test('a connection without a request does not delay stopping', async () => {
  const app = Fastify({ forceCloseConnections: 'idle' });
  const forced = vi.spyOn(app.server, 'closeAllConnections');
  const { url, stop } = await listenAt({ host: '127.0.0.1', port: 0, tls: undefined }, () => app);
  const arrived = once(app.server, 'connection');
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await Promise.all([once(socket, 'connect'), arrived]);
  const closed = once(socket, 'close');
  await stop();
  expect(forced).not.toHaveBeenCalled();
  await closed;
});
