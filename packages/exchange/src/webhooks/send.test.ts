import dns from 'node:dns';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { send } from './send.ts';

let respond: RequestListener;
const requests: { path: string; body: string; headers: Record<string, unknown> }[] = [];
const server: Server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  requests.push({ path: request.url!, body, headers: request.headers });
  respond(request, response);
});
let port: number;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => server.close());
afterEach(() => {
  vi.restoreAllMocks();
  requests.length = 0;
});

const never = new AbortController().signal;
const to = (url: string, isDevelopment = true, signal = never) =>
  send({ url, headers: { 'webhook-id': 'msg_1' }, payload: '{"a":1}' }, isDevelopment, signal);
const here = (path = '/') => `http://127.0.0.1:${port}${path}`;

/** What names stand for, look-up by look-up. */
function resolving(...answers: string[][]): void {
  vi.spyOn(dns, 'lookup').mockImplementation(((
    _name: string,
    _options: object,
    done: (error: null, found: object[]) => void,
  ) => {
    const addresses = answers.length > 1 ? answers.shift()! : answers[0]!;
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  }) as never);
}

describe('what is sent', () => {
  it('is the payload with its headers, and the status comes back', async () => {
    respond = (_, response) => response.writeHead(204).end();
    expect(await to(here('/hook'))).toEqual({
      status: 204,
      error: undefined,
      retryAfter: undefined,
      milliseconds: expect.any(Number),
    });
    expect(requests).toEqual([
      {
        path: '/hook',
        body: '{"a":1}',
        headers: expect.objectContaining({ 'webhook-id': 'msg_1', 'content-type': 'application/json' }),
      },
    ]);
  });

  it('follows no redirect', async () => {
    respond = (_, response) => response.writeHead(307, { location: here('/internal') }).end();
    expect(await to(here('/hook'))).toMatchObject({ status: 307 });
    expect(requests.map(({ path }) => path)).toEqual(['/hook']);
  });

  it('reads no long response', async () => {
    respond = (_, response) => response.writeHead(200).end('x'.repeat(200_000));
    expect(await to(here())).toMatchObject({
      status: undefined,
      error: 'the response is longer than 16 KiB',
    });
  });

  it('ends when it is told to, whatever the endpoint does', async () => {
    respond = () => {};
    const stopping = new AbortController();
    const sent = to(here(), true, stopping.signal);
    await vi.waitFor(() => expect(requests).toHaveLength(1));
    stopping.abort();
    expect(await sent).toMatchObject({ status: undefined });
  });

  it('says in plain words why there was no response', async () => {
    respond = (request) => request.socket.destroy();
    expect(await to(here())).toMatchObject({ error: 'the connection was closed before a response' });
    expect(await to('http://127.0.0.1:1/')).toMatchObject({ error: 'the connection was refused' });
  });
});

describe('a name', () => {
  const url = () => `https://hooks.example.com:${port}/`;

  it.each([
    [['127.0.0.1']],
    [['169.254.169.254']],
    [['::1']],
    [['::ffff:127.0.0.1']],
    [['64:ff9b::7f00:1']],
    [['8.8.8.8', '127.0.0.1']],
    [['10.1.2.3', '2606:4700:4700::1111']],
    [[]],
  ])('that stands for %j is not connected to', async (addresses) => {
    resolving(addresses);
    respond = (_, response) => response.end();
    expect(await to(url(), false)).toMatchObject({
      status: undefined,
      error: 'the name stands for an address that is not public',
    });
    expect(requests).toEqual([]);
  });

  it('of this machine gets no connection in production', async () => {
    resolving(['127.0.0.1']);
    let connections = 0;
    const count = () => {
      connections += 1;
    };
    server.on('connection', count);
    await to(url(), false);
    server.off('connection', count);
    expect(connections).toBe(0);
  });

  it('is looked up once, so that one that changes between look-ups gains nothing', async () => {
    resolving(['127.0.0.1'], ['169.254.169.254']);
    respond = (_, response) => response.end();
    expect(await to(`http://hooks.example.com:${port}/`)).toMatchObject({ status: 200 });
    expect(dns.lookup).toHaveBeenCalledTimes(1);
    expect(requests).toHaveLength(1);
  });

  it('of this machine is connected to in development mode', async () => {
    resolving(['127.0.0.1']);
    respond = (_, response) => response.end();
    expect(await to(`http://hooks.example.com:${port}/`)).toMatchObject({ status: 200 });
  });
});
