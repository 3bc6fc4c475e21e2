import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, isIPv4 } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Destinations } from './destinations.ts';
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
const SETTING = { deniedNetworks: [], perSecond: 1e6, partyPerSecond: 1e6 };
const MESSAGE = { party: 'dataProviders/x', headers: { 'webhook-id': 'msg_1' }, payload: '{"a":1}' };
const to = (url: string, isDevelopment = true, signal = never) =>
  send({ ...MESSAGE, url }, new Destinations(SETTING, isDevelopment), signal);
const here = (path = '/') => `http://127.0.0.1:${port}${path}`;

/** Makes each DNS lookup return the next of these lists of addresses. Further lookups return the last list again. */
function resolving(...answers: string[][]): void {
  let addresses: string[];
  vi.spyOn(Resolver.prototype, 'resolve4').mockImplementation((async () => {
    addresses = answers.length > 1 ? answers.shift()! : answers[0]!;
    return addresses.filter((address) => isIPv4(address));
  }) as never);
  vi.spyOn(Resolver.prototype, 'resolve6').mockImplementation((async () =>
    addresses.filter((address) => !isIPv4(address))) as never);
}

const failing = (code: string) => async () => {
  throw Object.assign(new Error(code), { code });
};

/** Returns the outcome of a delivery to a server that responds with these raw bytes. */
async function toRaw(response: string): Promise<object> {
  const raw = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.write(response));
  });
  await once(raw.listen(0, '127.0.0.1'), 'listening');
  try {
    return await to(`http://127.0.0.1:${(raw.address() as AddressInfo).port}/`);
  } finally {
    raw.close();
  }
}

describe('send', () => {
  it('sends the payload with its headers, and returns the status', async () => {
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

  it('sends the content length in bytes, a user agent and "connection: close", and returns retry-after', async () => {
    respond = (_, response) => {
      setTimeout(() => response.writeHead(503, { 'retry-after': '77' }).end(), 30);
    };
    const payload = '{"name":"Bücher ☃"}';
    const timeout = vi.spyOn(AbortSignal, 'timeout');
    const destinations = new Destinations(SETTING, true);
    const sent = await send({ ...MESSAGE, payload, url: here() }, destinations, never);
    expect(sent).toMatchObject({ status: 503, retryAfter: '77', error: undefined });
    expect(sent.milliseconds).toBeGreaterThanOrEqual(20);
    expect(timeout.mock.calls).toEqual([[10_000]]);
    expect(requests).toMatchObject([
      {
        body: payload,
        headers: {
          ...{ 'content-length': String(Buffer.byteLength(payload)), connection: 'close' },
          'user-agent': 'measurement-exchange-webhooks',
        },
      },
    ]);
  });

  it('accepts a response of 16 KiB, and fails with a longer one', async () => {
    const responseOf = (bytes: number) => {
      respond = (_, response) => response.writeHead(200).end('x'.repeat(bytes));
      return to(here());
    };
    expect(await responseOf(16 * 1024)).toMatchObject({ status: 200 });
    expect(await responseOf(16 * 1024 + 1)).toMatchObject({ status: undefined });
  });

  it('returns the error code if the TLS connection fails', async () => {
    respond = () => {};
    const { error } = await to(`https://127.0.0.1:${port}/`);
    expect(error).toMatch(/^the TLS connection failed \((EPROTO|ERR_SSL_\w+)\)$/);
  });

  it('does not follow redirects', async () => {
    respond = (_, response) => response.writeHead(307, { location: here('/internal') }).end();
    expect(await to(here('/hook'))).toMatchObject({ status: 307 });
    expect(requests.map(({ path }) => path)).toEqual(['/hook']);
  });

  it('returns an error for a response longer than 16 KiB', async () => {
    respond = (_, response) => response.writeHead(200).end('x'.repeat(200_000));
    expect(await to(here())).toMatchObject({
      status: undefined,
      error: 'the response is longer than 16 KiB',
    });
  });

  it('stops when it is aborted, even if the endpoint does not respond', async () => {
    respond = () => {};
    const stopping = new AbortController();
    const sent = to(here(), true, stopping.signal);
    await vi.waitFor(() => expect(requests).toHaveLength(1));
    stopping.abort();
    expect(await sent).toMatchObject({ status: undefined });
  });

  it('returns a readable error if the connection is closed or refused', async () => {
    respond = (request) => request.socket.destroy();
    expect(await to(here())).toMatchObject({ error: 'the connection was closed before a response' });
    expect(await to('http://127.0.0.1:1/')).toMatchObject({ error: 'the connection was refused' });
  });
});

describe('an endpoint that responds with 1xx', () => {
  it('causes an error if it switches protocols', async () => {
    const response = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n';
    expect(await toRaw(response)).toMatchObject({
      status: undefined,
      error: 'the connection was closed before a response',
    });
  });

  it('may send five interim responses before its response, but not six', async () => {
    const hints = 'HTTP/1.1 103 Early Hints\r\n\r\n';
    const response = 'HTTP/1.1 204 No Content\r\n\r\n';
    expect(await toRaw(hints.repeat(5) + response)).toMatchObject({ status: 204 });
    expect(await toRaw(hints.repeat(6) + response)).toMatchObject({
      status: undefined,
      error: 'there were too many interim responses',
    });
  });
});

describe('the host name of an endpoint', () => {
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
  ])('that resolves to %j is not connected to', async (addresses) => {
    resolving(addresses);
    respond = (_, response) => response.end();
    expect(await to(url(), false)).toMatchObject({
      status: undefined,
      error: 'the host name has an address that is not public',
    });
    expect(requests).toEqual([]);
  });

  it('in a network that the operator denies gets no connection, like an IP address in that network', async () => {
    respond = (_, response) => response.end();
    const denying = (network: string, at: string) =>
      send({ ...MESSAGE, url: at }, new Destinations({ ...SETTING, deniedNetworks: [network] }, true), never);
    const denied = { status: undefined, error: 'the operator of the exchange denies this network' };
    const named = `http://hooks.example.com:${port}/`;
    for (const [network, addresses] of [
      ['127.0.0.0/8', ['127.0.0.1']],
      ['127.0.0.1', ['127.0.0.1']],
      ['::1/128', ['127.0.0.1', '::1']],
    ] as const) {
      resolving([...addresses]);
      expect(await denying(network, named)).toMatchObject(denied);
    }
    expect(await denying('127.0.0.0/8', here())).toMatchObject(denied);
    expect(requests).toEqual([]);
    resolving(['127.0.0.1']);
    expect(await denying('127.0.1.0/24', named)).toMatchObject({ status: 200 });
  });

  it('that resolves to this machine gets no connection in production mode', async () => {
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

  it('is looked up only once, so that it cannot change to another address after the check', async () => {
    resolving(['127.0.0.1'], ['169.254.169.254']);
    respond = (_, response) => response.end();
    expect(await to(`http://hooks.example.com:${port}/`)).toMatchObject({ status: 200 });
    expect(Resolver.prototype.resolve4).toHaveBeenCalledTimes(1);
    expect(Resolver.prototype.resolve6).toHaveBeenCalledTimes(1);
    expect(requests).toHaveLength(1);
  });

  it('that resolves to this machine is connected to in development mode', async () => {
    resolving(['127.0.0.1']);
    respond = (_, response) => response.end();
    expect(await to(`http://hooks.example.com:${port}/`)).toMatchObject({ status: 200 });
  });

  it('may have addresses of one family only', async () => {
    resolving(['127.0.0.1']);
    vi.spyOn(Resolver.prototype, 'resolve6').mockImplementation(failing('ENODATA'));
    respond = (_, response) => response.end();
    expect(await to(`http://hooks.example.com:${port}/`)).toMatchObject({ status: 200 });
  });

  it.each([
    ['ENOTFOUND', 'ENOTFOUND', 'the host name is not known'],
    ['ENODATA', 'ENODATA', 'the host name is not known'],
    ['ENODATA', 'ESERVFAIL', 'the host name could not be looked up'],
    ['ECONNREFUSED', 'ECONNREFUSED', 'the host name could not be looked up'],
  ])('whose lookups fail with %s and %s causes a readable error', async (ipv4, ipv6, error) => {
    vi.spyOn(Resolver.prototype, 'resolve4').mockImplementation(failing(ipv4));
    vi.spyOn(Resolver.prototype, 'resolve6').mockImplementation(failing(ipv6));
    expect(await to(url(), false)).toMatchObject({ status: undefined, error });
  });

  it.each(['localhost', 'localhost.'])('%s resolves to this machine without a name server', async (name) => {
    vi.spyOn(Resolver.prototype, 'resolve4').mockImplementation(failing('ENOTFOUND'));
    vi.spyOn(Resolver.prototype, 'resolve6').mockImplementation(failing('ENOTFOUND'));
    respond = (_, response) => response.end();
    expect(await to(`http://${name}:${port}/`)).toMatchObject({ status: 200 });
  });

  it('whose name server does not respond is no longer looked up when the delivery is aborted', async () => {
    const silent = createSocket('udp4');
    await once(silent.bind(0, '127.0.0.1'), 'listening');
    const { resolve4 } = Resolver.prototype;
    const asked = vi.spyOn(Resolver.prototype, 'resolve4').mockImplementation(async function (
      this: Resolver,
      name: string,
    ) {
      this.setServers([`127.0.0.1:${silent.address().port}`]);
      return Reflect.apply(resolve4, this, [name]);
    } as never);
    vi.spyOn(Resolver.prototype, 'resolve6').mockImplementation(failing('ENODATA'));
    const stopping = new AbortController();
    const sent = to(url(), false, stopping.signal);
    await once(silent, 'message');
    stopping.abort();
    expect(await sent).toMatchObject({ status: undefined });
    await expect(asked.mock.results[0]!.value).rejects.toMatchObject({ code: 'ECANCELLED' });
    silent.close();
  });
});
