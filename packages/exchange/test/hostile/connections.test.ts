/**
 * Tests how an exchange that runs in its own process handles requests whose bytes are broken, ambiguous, endless, or
 * slow.
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_WAIT_SECONDS } from '@measurement-exchange/contract';
import { checkedErrorOf } from '@measurement-exchange/testkit/errorModel';
import {
  createDatabase,
  type Database,
  type DevParty,
  measurementRequest,
} from '@measurement-exchange/testkit/exchange';
import type { Reply } from '@measurement-exchange/testkit/http';
import { type ExchangeProcess, startExchangeProcess } from '@measurement-exchange/testkit/process';
import { bytesOf, type RawOptions, type RawReply, send } from '@measurement-exchange/testkit/rawHttp';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { doctor } from '../../src/database/doctor.ts';
import { tokenNow } from '../changes/follow.ts';

let database: Database;
let exchange: ExchangeProcess;
let acme: DevParty;
let longestWait: Promise<Reply>;
const M = '/v2alpha/measurementConsumers/acme/measurements';

beforeAll(async () => {
  database = await createDatabase();
  exchange = await startExchangeProcess({ databaseUrl: database.url });
  acme = exchange.dev.measurementConsumers[0]!;
  const idle = exchange.dev.dataProviders[2]!;
  const query = `waitSeconds=${MAX_WAIT_SECONDS}&pageToken=${await tokenNow({ ...exchange, database }, idle)}`;
  longestWait = exchange.call(idle.token, 'GET', `/v2alpha/${idle.name}/changes?${query}`);
  longestWait.catch(() => {});
});
afterAll(async () => {
  const body = measurementRequest(acme, exchange.dev.dataProviders.slice(0, 2));
  expect((await exchange.call(acme.token, 'POST', M, body)).status).toBe(200);
  expect(await exchange.kill()).toBe(0);
  expect(exchange.output()).not.toMatch(/"level":[56]0/);
  expect(await doctor({ connection: { connectionString: database.url } })).toEqual([]);
  await exchange.remove();
  await database.drop();
});

/** Sends a request of acme that creates a measurement, with these headers and this body. */
const create = (headers: string[], body: string | Buffer = '', options?: RawOptions) =>
  send(
    exchange.url,
    bytesOf('POST', M, { token: acme.token, headers: ['Content-Type: application/json', ...headers], body }),
    options,
  );
const read = (headers: string[], target = '/v2alpha/whoami') =>
  send(exchange.url, bytesOf('GET', target, { token: acme.token, headers }));

/**
 * Sends these bytes on a new connection. Returns the status of every reply until the exchange closes the connection.
 */
async function statusesOf(bytes: Buffer): Promise<number[]> {
  const { hostname, port } = new URL(exchange.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.write(bytes);
  const chunks = await Array.fromAsync(socket as AsyncIterable<Buffer>);
  const text = Buffer.concat(chunks).toString('latin1');
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
}

function expectClosed(reply: RawReply, wanted: string): void {
  expect(checkedErrorOf(reply)).toBe(wanted);
  expect(reply.closed).toBe(true);
}

describe('the HTTP server', () => {
  const SMUGGLED = '0\r\n\r\nGET /v2alpha/whoami HTTP/1.1\r\nHost: exchange\r\n\r\n';
  it.each<[title: string, headers: string[], body: string]>([
    ['a length and chunks', ['Content-Length: 4', 'Transfer-Encoding: chunked'], SMUGGLED],
    ['chunks and a length', ['Transfer-Encoding: chunked', 'Content-Length: 4'], SMUGGLED],
    ['two lengths', ['Content-Length: 2', 'Content-Length: 3'], '{} '],
    ['two equal lengths', ['Content-Length: 2', 'Content-Length: 2'], '{}'],
    ['two lengths in one header', ['Content-Length: 2, 2'], '{}'],
    ['a negative length', ['Content-Length: -1'], '{}'],
    ['a length with a sign', ['Content-Length: +2'], '{}'],
    ['a hexadecimal length', ['Content-Length: 0x2'], '{}'],
    ['a length beyond 64 bits', ['Content-Length: 99999999999999999999999'], '{}'],
    ['a chunk size that is not a number', ['Transfer-Encoding: chunked'], 'zz\r\n{}\r\n0\r\n\r\n'],
    ['a negative chunk size', ['Transfer-Encoding: chunked'], '-2\r\n{}\r\n0\r\n\r\n'],
    ['a chunk size beyond 64 bits', ['Transfer-Encoding: chunked'], `${'f'.repeat(17)}\r\n{}`],
    ['a chunk longer than its size', ['Transfer-Encoding: chunked'], '1\r\n{}\r\n0\r\n\r\n'],
    ['chunks that end with bare newlines', ['Transfer-Encoding: chunked'], '2\n{}\n0\n\n'],
    ['an unknown coding', ['Transfer-Encoding: xchunked'], SMUGGLED],
    ['a coding after chunked', ['Transfer-Encoding: chunked, identity'], SMUGGLED],
    ['a coding before chunked', ['Transfer-Encoding: gzip, chunked'], '2\r\n{}\r\n0\r\n\r\n'],
    ['chunked twice', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], SMUGGLED],
  ])('rejects %s with 400 and closes the connection', async (_title, headers, body) => {
    expectClosed(await create(headers, body), '400 MALFORMED_REQUEST');
  });

  it.each<[title: string, bytes: Buffer, statuses: number[]]>([
    [
      'invalid headers with a request in the body',
      bytesOf('POST', M, { headers: ['Transfer-Encoding: xchunked'], body: SMUGGLED }),
      [400],
    ],
    [
      'a valid request followed by invalid bytes',
      Buffer.concat([bytesOf('GET', '/healthz'), Buffer.from('{}\r\n\r\n')]),
      [200],
    ],
    ['invalid bytes followed by a request', Buffer.from(`{}\r\n\r\n${SMUGGLED}`), [400]],
  ])('sends exactly one response to %s', async (_title, bytes, statuses) => {
    expect(await statusesOf(bytes)).toEqual(statuses);
  });

  it.each<[title: string, headers: string[]]>([
    ['a second Authorization', ['Authorization: Bearer x']],
    ['a second Authorization in lower case', ['authorization: Bearer x']],
    ['a second Host', ['Host: another']],
    ['a second Content-Type', ['Content-Type: application/json', 'Content-Type: text/plain']],
    ['a folded header', ['X-A: b', ' c']],
    ['a blank before the colon', ['X-A : b']],
    ['a header without a name', [': b']],
    ['a header without a colon', ['X-A']],
    ['NUL in a header', ['X-A: \0']],
    ['a bare carriage return', ['X-A: b\rX-B: c']],
  ])('rejects %s with 400 and closes the connection', async (_title, headers) => {
    expectClosed(await read(headers), '400 MALFORMED_REQUEST');
  });

  it.each<[title: string, request: string]>([
    ['a request without Host', 'GET /v2alpha/whoami HTTP/1.1\r\n\r\n'],
    ['an absolute target', 'GET http://exchange/v2alpha/whoami HTTP/1.1\r\nHost: exchange\r\n\r\n'],
    ['an absolute target with POST', 'POST http://exchange/v2alpha/x HTTP/1.1\r\nHost: exchange\r\n\r\n'],
    [
      'an absolute target of another host',
      'GET https://elsewhere/healthz HTTP/1.1\r\nHost: exchange\r\n\r\n',
    ],
    ['a target without a slash', 'GET v2alpha/whoami HTTP/1.1\r\nHost: exchange\r\n\r\n'],
    ['the target *', 'OPTIONS * HTTP/1.1\r\nHost: exchange\r\n\r\n'],
    ['NUL in the target', 'GET /v2alpha/\0 HTTP/1.1\r\nHost: exchange\r\n\r\n'],
    ['a blank in the target', 'GET /v2alpha/who ami HTTP/1.1\r\nHost: exchange\r\n\r\n'],
    ['bare newlines', 'GET /v2alpha/whoami HTTP/1.1\nHost: exchange\n\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['HTTP/3', 'GET /v2alpha/whoami HTTP/3.0\r\nHost: exchange\r\n\r\n'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['bytes that are not HTTP', 'EHLO mail.example\r\n'],
  ])('rejects %s with 400 and closes the connection', async (_title, request) => {
    expectClosed(await send(exchange.url, Buffer.from(request, 'latin1')), '400 MALFORMED_REQUEST');
  });

  it('ignores an unknown Expect header and an unsupported Upgrade', async () => {
    for (const headers of [
      ['Expect: wonders'],
      ['Expect: 100-continue'],
      ['Connection: Upgrade', 'Upgrade: h2c'],
    ]) {
      expect((await read(headers)).status, headers[0]).toBe(200);
    }
  });
});

/** Returns the peak resident memory of the exchange process, in MiB. */
const peak = () =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${exchange.pid}/status`, 'utf8'))![1]) / 1024;
const GIGABYTE = 1024 ** 3;
const PIECE = Buffer.alloc(64 * 1024, 'a');
const CHUNK = Buffer.concat([Buffer.from('10000\r\n'), PIECE, Buffer.from('\r\n')]);

/**
 * Expects that the exchange rejected the request early. The exchange closes the connection during the upload, so the
 * reply can be lost. If the reply is lost, its status is 0.
 */
function expectCutShort(reply: RawReply, wanted: string): void {
  expect(reply.closed).toBe(true);
  expect(reply.sent).toBeLessThan(GIGABYTE / 10);
  if (reply.status !== 0) expect(checkedErrorOf(reply)).toBe(wanted);
}

describe('large requests', () => {
  it('are rejected by their declared length before any byte of the body', async () => {
    for (const bytes of [4 * 1024 * 1024 + 1, GIGABYTE]) {
      const reply = await create([`Content-Length: ${bytes}`]);
      // The exchange must reject the declared length at once. An error 408 would mean that the exchange waited for the
      // body.
      expectClosed(reply, '413 BODY_TOO_LARGE');
    }
    expectClosed(
      await send(exchange.url, bytesOf('POST', M, { headers: [`Content-Length: ${GIGABYTE}`] })),
      '401 TOKEN_INVALID',
    );
  });

  it('are rejected if their headers or URL exceed the limits', async () => {
    const some = (n: number) => Array.from({ length: n }, (_, i) => `X-${i}: ${i}`);
    expect((await read(some(90))).status).toBe(200);
    expectClosed(await read(some(110)), '431 HEADERS_TOO_LARGE');
    expectClosed(await read([`X-A: ${'a'.repeat(40_000)}`]), '431 HEADERS_TOO_LARGE');
    expectClosed(await read([], `/v2alpha/whoami?${'a'.repeat(40_000)}`), '431 HEADERS_TOO_LARGE');
    expect(checkedErrorOf(await read([], `/v2alpha/whoami?${'a'.repeat(20_000)}`))).toBe('414 URI_TOO_LONG');
  });

  it.skipIf(process.platform !== 'linux')(
    'increase the memory of the exchange by less than 100 MiB',
    async () => {
      const before = peak();
      const flood = { piece: PIECE, bytes: GIGABYTE };
      const chunked = ['Transfer-Encoding: chunked'];
      expectCutShort(await create([`Content-Length: ${GIGABYTE}`], '', { flood }), '413 BODY_TOO_LARGE');
      expectCutShort(await create(chunked, '', { flood: { ...flood, piece: CHUNK } }), '413 BODY_TOO_LARGE');
      expectCutShort(await create(chunked, '2;', { flood }), '400 MALFORMED_REQUEST');
      expectCutShort(await create(chunked, '2\r\n{}\r\n0\r\nX-A: ', { flood }), '431 HEADERS_TOO_LARGE');
      const header = 'GET /healthz HTTP/1.1\r\nHost: exchange\r\nX-A: ';
      expectCutShort(
        await send(exchange.url, header, { flood: { ...flood, bytes: 1e7 } }),
        '431 HEADERS_TOO_LARGE',
      );
      // Send no token here, because a path without a route does not require one.
      const nowhere = ['Content-Type: application/json', ...chunked];
      const stranger = bytesOf('POST', '/nowhere', { headers: nowhere, body: '' });
      expectCutShort(
        await send(exchange.url, stranger, { flood: { ...flood, piece: CHUNK } }),
        '413 BODY_TOO_LARGE',
      );
      // The exchange must not keep one object per chunk of one byte, because 500,000 such objects take 130 MB.
      const crumbs = Buffer.from(`${'1\r\n \r\n'.repeat(500_000)}0\r\n\r\n`);
      // Also accept 408, because a busy machine may take longer than the time limit of a body.
      expect(['400 MALFORMED_JSON', '408 REQUEST_TIMEOUT']).toContain(
        checkedErrorOf(await create(chunked, crumbs)),
      );
      expect(peak() - before).toBeLessThan(100);
    },
  );
});

describe('slow requests', () => {
  it('time out with 408, and do not block other requests', { timeout: 40_000 }, async () => {
    const slowly = { drip: { piece: 'a', everyMs: 400 } };
    const head = 'GET /v2alpha/whoami HTTP/1.1\r\nHost: exchange\r\nX-A: ';
    const timeouts: [title: string, seconds: number, answer: Promise<RawReply>][] = [
      ['nothing', 10, send(exchange.url, '')],
      ['slow headers', 10, send(exchange.url, head, slowly)],
      ['a slow request line', 10, send(exchange.url, 'GET /', slowly)],
      ['a slow body', 15, create(['Content-Length: 1000'], '{', slowly)],
      ['a body that stops', 15, create(['Content-Length: 1000'], '{')],
      [
        'slow chunks',
        15,
        create(['Transfer-Encoding: chunked'], '', { drip: { piece: '1\r\n \r\n', everyMs: 400 } }),
      ],
    ];
    const crowd = Promise.all(Array.from({ length: rounds(300) }, () => send(exchange.url, head, slowly)));
    let finished = false;
    const all = Promise.all([crowd, ...timeouts.map(([, , reply]) => reply)]).then(() => {
      finished = true;
    });
    while (!finished) {
      const began = performance.now();
      expect((await exchange.call(acme.token, 'GET', M)).status).toBe(200);
      expect(performance.now() - began).toBeLessThan(5_000);
      await sleep(250);
    }
    await all;
    for (const [title, seconds, sent] of timeouts) {
      const reply = await sent;
      expectClosed(reply, '408 REQUEST_TIMEOUT');
      // Allow up to ten seconds more than the time limit. Node checks the limit once a second, and a busy machine may
      // check later.
      expect(reply.ms / 1000, title).toBeGreaterThan(seconds - 1);
      expect(reply.ms / 1000, title).toBeLessThan(seconds + 10);
    }
    for (const reply of await crowd) expect(checkedErrorOf(reply)).toBe('408 REQUEST_TIMEOUT');
  });
});

it('a request that waits for changes for the maximum time is not cut off', {
  timeout: 40_000,
}, async () => {
  const { status, json } = await longestWait;
  expect(status).toBe(200);
  expect(json).toEqual({ changes: [], nextPageToken: expect.any(String) });
});
