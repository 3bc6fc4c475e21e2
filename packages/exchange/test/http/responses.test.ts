/**
 * Tests the headers of every response, the log line of every request, and the last responses before the exchange stops.
 */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type DevParty,
  measurementRequest,
  type Reply,
  startExchange,
  type TestExchange,
  useExchange,
} from '@measurement-exchange/testkit/exchange';
import {
  castOf,
  createMeasurement,
  errorOf,
  fulfill,
  ok,
  post,
  refuse,
  requisitionOf,
} from '@measurement-exchange/testkit/steps';
import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';

let acme: DevParty;
let globex: DevParty;
let streamly: DevParty;
let chirper: DevParty;

const exchange = useExchange();
beforeAll(() => {
  ({ acme, globex, streamly, chirper } = castOf(exchange));
});

const requestIdOf = (reply: Reply) => reply.headers.get('x-request-id')!;
const lines = async () => (await exchange.logs()).map((text) => JSON.parse(text));
const linesOf = async (reply: Reply) =>
  (await lines()).filter((line) => line.requestId === requestIdOf(reply));

/** For each kind of response: the expected status, a description, and a function that sends a request. */
const KINDS: [number, string, () => Promise<Reply>][] = [
  [200, 'a success', () => exchange.call(acme.token, 'GET', '/v2alpha/whoami')],
  [400, 'a bad field', () => post(exchange, acme, `${acme.name}/measurements`, {})],
  [400, 'a bad body', () => post(exchange, acme, `${acme.name}/measurements`, '{')],
  [401, 'a missing token', () => exchange.call(undefined, 'GET', '/v2alpha/whoami')],
  [401, 'a bad token', () => exchange.call('bad', 'GET', '/v2alpha/no/such/route')],
  [403, 'another party', () => exchange.call(globex.token, 'GET', `/v2alpha/${acme.name}/measurements`)],
  [
    404,
    'an absent resource',
    () => exchange.call(acme.token, 'GET', `/v2alpha/${acme.name}/measurements/absent`),
  ],
  [404, 'an absent route', () => exchange.call(acme.token, 'GET', '/v2alpha/nothing')],
  [404, 'an absent page', () => exchange.call(undefined, 'GET', '/nothing')],
  [405, 'a wrong method', () => exchange.call(acme.token, 'DELETE', '/v2alpha/whoami')],
  [
    415,
    'a wrong media type',
    () =>
      exchange.call(acme.token, 'POST', `/v2alpha/${acme.name}/measurements`, 'a=b', {
        'content-type': 'text/plain',
      }),
  ],
  [200, 'a page', () => exchange.call(undefined, 'GET', '/docs')],
  [200, 'the health', () => exchange.call(undefined, 'GET', '/healthz')],
  [400, 'a path that does not decode', () => exchange.call(undefined, 'GET', '/%zz')],
];

it('a rejected request without a body leaves its connection open for the next one', async () => {
  const rejected = () => exchange.call(acme.token, 'GET', `/v2alpha/${globex.name}/measurements`);
  // Send the request twice. The second time, the exchange has already verified the token, so it rejects the request
  // before Node has marked the request as complete.
  for (const reply of [await rejected(), await rejected()]) {
    expect(reply.status).toBe(403);
    expect(reply.headers.get('connection')).toBe('keep-alive');
  }
});

describe('every response', () => {
  it.each(KINDS)(
    '%s, %s: has no-store and nosniff headers, and one log line with its request ID',
    async (status, _kind, call) => {
      const reply = await call();
      expect(reply.status).toBe(status);
      expect(reply.headers.get('cache-control')).toBe('no-store');
      expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
      expect(reply.headers.get('x-mex-mode')).toBe('development');
      expect(requestIdOf(reply)).toMatch(/^[0-9a-f]{24}$/);
      expect(await linesOf(reply)).toMatchObject([{ status, msg: 'request' }]);
    },
  );

  it('has a unique request ID, which a caller cannot choose', async () => {
    const call = () =>
      exchange.call(acme.token, 'GET', '/v2alpha/whoami', undefined, { 'x-request-id': 'mine' });
    const ids = (await Promise.all(Array.from({ length: 20 }, call))).map(requestIdOf);
    expect(new Set(ids).size).toBe(20);
    expect(ids).not.toContain('mine');
  });

  it('has WWW-Authenticate if a token is rejected, and Allow if a method is rejected', async () => {
    const unauthenticated = await exchange.call(undefined, 'GET', '/v2alpha/whoami');
    expect(errorOf(unauthenticated)).toBe('401 UNAUTHENTICATED TOKEN_INVALID');
    expect(unauthenticated.headers.get('www-authenticate')).toBe('Bearer');
    const wrongMethod = await exchange.call(acme.token, 'DELETE', `/v2alpha/${acme.name}/measurements`);
    expect(errorOf(wrongMethod)).toBe('405 UNIMPLEMENTED METHOD_NOT_ALLOWED');
    expect(wrongMethod.headers.get('allow')?.split(', ').toSorted()).toEqual(['GET', 'POST']);
  });

  it('is JSON in UTF-8', async () => {
    const measurementReferenceId = 'Ümläut \u{1f642} \u2028';
    const request = { ...measurementRequest(acme, [streamly]), measurementReferenceId };
    const reply = await post(exchange, acme, `${acme.name}/measurements`, request);
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect((await ok(reply)).measurementReferenceId).toBe(measurementReferenceId);
  });
});

describe('the log', () => {
  const ALWAYS = [
    'level',
    'time',
    'pid',
    'hostname',
    'requestId',
    'method',
    'operation',
    'status',
    'ms',
    'msg',
  ];
  const SOMETIMES = ['name', 'principal', 'code', 'reason', 'fields', 'findings', 'why'];

  it('has the principal, operation, name and outcome of each request, and nothing else', async () => {
    const { name } = await createMeasurement(exchange, acme, [streamly]);
    const read = await exchange.call(acme.token, 'GET', `/v2alpha/${name}/requisitions?pageSize=7`);
    expect(await linesOf(read)).toEqual([
      {
        level: 30,
        time: expect.any(Number),
        pid: process.pid,
        hostname: expect.any(String),
        requestId: requestIdOf(read),
        method: 'GET',
        operation: 'listMeasurementRequisitions',
        name: `${name}/requisitions`,
        principal: acme.name,
        status: 200,
        ms: expect.any(Number),
        msg: 'request',
      },
    ]);
    const denied = await exchange.call(globex.token, 'GET', `/v2alpha/${name}`);
    expect(await linesOf(denied)).toMatchObject([
      { principal: globex.name, name, code: 'PERMISSION_DENIED', reason: 'PERMISSION_DENIED' },
    ]);
    const wrong = await post(exchange, acme, `${name}:cancel`, { typo: 1 });
    expect(await linesOf(wrong)).toMatchObject([{ operation: 'cancelMeasurement', fields: ['typo'] }]);
    const stranger = await exchange.call('bad', 'GET', `/v2alpha/${name}`);
    expect(await linesOf(stranger)).toMatchObject([{ operation: 'none', why: expect.stringMatching(/\w/) }]);
    // The log contains the reason, but the response must not.
    expect(stranger.text).not.toContain((await linesOf(stranger))[0].why);
  });

  it('has the time of the response, even if it is written later', async () => {
    const reply = await exchange.call(acme.token, 'GET', '/v2alpha/whoami');
    await sleep(20);
    const asked = Date.now();
    const [line] = await linesOf(reply);
    expect(line.time).toBeLessThan(asked);
  });

  it('has only fields of a fixed list, for every kind of request', async () => {
    for (const [, , call] of KINDS) await call();
    const requests = (await lines()).filter((line) => line.msg === 'request');
    expect(requests.length).toBeGreaterThanOrEqual(KINDS.length);
    for (const line of requests) {
      expect(Object.keys(line)).toEqual(expect.arrayContaining(ALWAYS));
      expect([...ALWAYS, ...SOMETIMES]).toEqual(expect.arrayContaining(Object.keys(line)));
    }
  });

  it('contains no secrets, whether the request succeeds or fails', async () => {
    let count = 0;
    const markers: string[] = [];
    /** Returns a text that occurs nowhere else, and records it. */
    const mark = (): string => {
      markers.push(`marker${++count}marker`);
      return markers.at(-1)!;
    };
    const marked = () => {
      const base64 = Buffer.from(mark()).toString('base64');
      markers.push(base64, base64.replace(/=+$/, '').slice(0, -2));
      return base64;
    };
    const nonce = 13371337133713371337n;
    markers.push(nonce.toString());
    const request = measurementRequest(acme, [streamly, chirper], [nonce, 2n]);
    const entry = request.dataProviders[streamly.name]!;
    entry.encryptedRequisitionSpec.ciphertext = marked();
    entry.dataProviderPublicKey.data = marked();
    request.measurementSpec.signature = marked();
    request.measurementSpec.message = marked();
    const create = `${acme.name}/measurements`;
    const body = { ...request, measurementReferenceId: mark(), requestId: mark() };
    const measurement = await ok(post(exchange, acme, create, body));
    expect((await post(exchange, acme, create, { ...body, measurementReferenceId: mark() })).status).toBe(
      409,
    );
    expect(
      (await post(exchange, acme, create, { ...body, requestId: mark(), dataProviders: mark() })).status,
    ).toBe(400);
    expect((await post(exchange, acme, create, `{"requestId": "${mark()}"`)).status).toBe(400);

    const requisition = await requisitionOf(exchange, streamly, measurement);
    const changes = () => ({
      encryptedResult: { ciphertext: marked(), typeUrl: `type.example/${mark()}` },
      fulfillmentContext: { buildLabel: mark(), warnings: [mark()] },
    });
    expect((await fulfill(exchange, streamly, requisition, nonce + 1n, changes())).status).toBe(400);
    markers.push((nonce + 1n).toString());
    await ok(fulfill(exchange, streamly, requisition, nonce, changes()));
    const open = await requisitionOf(exchange, chirper, measurement);
    expect((await refuse(exchange, chirper, { ...open, etag: mark() })).status).toBe(409);
    await ok(refuse(exchange, chirper, open, { justification: 'DECLINED', message: mark() }));

    const [header, payload] = acme.token.split('.');
    for (const token of [mark(), `${header}.${payload}.${marked()}`, `${header}.${marked()}.x`]) {
      expect((await exchange.call(token, 'GET', '/v2alpha/whoami')).status).toBe(401);
    }
    const list = `/v2alpha/${acme.name}/measurements`;
    expect((await exchange.call(acme.token, 'GET', `${list}?pageToken=${mark()}`)).status).toBe(400);
    expect((await exchange.call(acme.token, 'GET', `${list}?filter.states=${mark()}`)).status).toBe(400);
    expect(
      (await exchange.call(acme.token, 'GET', list, undefined, { cookie: mark(), 'x-any': mark() })).status,
    ).toBe(200);

    const secrets = [...exchange.dev.measurementConsumers, ...exchange.dev.dataProviders].flatMap((party) => [
      ...party.token.split('.').slice(1),
      party.privateKeyPem.split('\n')[1]!,
    ]);
    const log = (await exchange.logs()).join('');
    const found = [...markers, ...secrets].filter((secret) => log.includes(secret));
    expect(found).toEqual([]);
    const { text } = await exchange.call(undefined, 'GET', '/metrics');
    expect([...markers, ...secrets].filter((secret) => text.includes(secret))).toEqual([]);
  });
});

describe('cross-origin callers', () => {
  const LISTED = 'https://console.example';
  const CORS = /^access-control-/;
  const preflight = (exchange: TestExchange, origin: string) =>
    exchange.call(undefined, 'OPTIONS', `/v2alpha/${acme.name}/measurements`, undefined, {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, content-type',
    });
  const simple = (exchange: TestExchange, origin: string, token?: string) =>
    exchange.call(token, 'GET', '/v2alpha/whoami', undefined, { origin });
  const corsOf = (reply: Reply) => Object.fromEntries([...reply.headers].filter(([name]) => CORS.test(name)));

  it('are not allowed by default', async () => {
    const reply = await simple(exchange, LISTED, acme.token);
    expect([reply.status, corsOf(reply)]).toEqual([200, {}]);
    const asked = await preflight(exchange, LISTED);
    expect([asked.status, corsOf(asked)]).toEqual([401, {}]);
  });

  it('are allowed only if the operator lists their origin', async () => {
    const exchange = await startExchange({ corsOrigins: [LISTED] });
    const [caller] = exchange.dev.measurementConsumers;
    const reply = await simple(exchange, LISTED, caller!.token);
    expect(reply.status).toBe(200);
    expect(corsOf(reply)).toEqual({
      'access-control-allow-origin': LISTED,
      'access-control-expose-headers': expect.stringContaining('x-request-id'),
    });
    expect(reply.headers.get('vary')).toBe('origin');
    // A browser must be able to read errors as well.
    expect(corsOf(await simple(exchange, LISTED))).toMatchObject({ 'access-control-allow-origin': LISTED });

    const asked = await preflight(exchange, LISTED);
    expect(asked.status).toBe(204);
    expect(corsOf(asked)).toMatchObject({
      'access-control-allow-origin': LISTED,
      'access-control-allow-methods': 'GET, POST, PATCH, PUT, DELETE',
      'access-control-allow-headers': 'authorization, content-type, last-event-id, traceparent',
    });
    for (const origin of ['https://evil.example', `${LISTED}.evil.example`, 'null']) {
      expect(corsOf(await simple(exchange, origin, caller!.token))).toEqual({});
      expect(corsOf(await preflight(exchange, origin))).toEqual({});
    }
    expect(await exchange.stop()).toEqual([]);
  });
});

describe('a stopping exchange', () => {
  it('answers requests in flight, is not ready, accepts no new connections, and closes existing ones', async () => {
    const exchange = await startExchange();
    const { acme, streamly } = castOf(exchange);
    const { name } = await createMeasurement(exchange, acme, [streamly]);
    const holder = new pg.Client({ connectionString: exchange.database.url });
    await holder.connect();
    await holder.query('BEGIN; SELECT * FROM measurements FOR UPDATE');
    const inFlight = post(exchange, acme, `${name}:cancel`);
    await lockWait(exchange);
    // Open a connection and send only the first line of a request.
    const socket = connect(Number(new URL(exchange.url).port), '127.0.0.1');
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    const closed = new Promise((resolve) => socket.on('close', resolve));
    await new Promise((resolve) => socket.write('GET /readyz HTTP/1.1\r\n', resolve));
    await sleep(50);

    const began = performance.now();
    const stopping = exchange.stop();
    await expect(fetch(`${exchange.url}/readyz`)).rejects.toThrow();
    socket.write('Host: x\r\n\r\n');
    await closed;
    expect(received).toMatch(/^HTTP\/1\.1 503 /);
    expect(received).toMatch(/^x-request-id: [0-9a-f]{24}\r$/m);
    expect(received).toMatch(/\{"status":"not ready"\}$/);

    await holder.query('COMMIT');
    await holder.end();
    const reply = await inFlight;
    expect(await ok(reply)).toMatchObject({ name, state: 'CANCELLED' });
    expect(reply.headers.get('connection')).toBe('close');
    expect(await stopping).toEqual([]);
    // The server must wait only for open responses. Any other wait takes at least 8 s.
    expect(performance.now() - began).toBeLessThan(7_900);
  });

  /** Resolves when a transaction in this database is waiting for a lock. */
  async function lockWait(exchange: TestExchange): Promise<void> {
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    while ((await exchange.database.query(waiting)).length === 0) await sleep(10);
  }
});
