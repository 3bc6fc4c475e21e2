import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Random } from '../random.ts';
import type { Fault } from './faults.ts';
import { ChaosProxy } from './proxy.ts';

let server: Server;
let proxy: ChaosProxy;
/** The server's sockets, in the order of their connections. */
let accepted: Socket[];
let clients: Socket[];

beforeEach(async () => {
  accepted = [];
  clients = [];
  server = createServer({ allowHalfOpen: true }, (socket) => {
    accepted.push(socket);
    socket.on('error', () => {});
    socket.on('data', (chunk) => socket.write(chunk));
    socket.on('end', () => socket.end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  proxy = await ChaosProxy.start({ random: new Random(1) }, { host: '127.0.0.1', port });
});

afterEach(async () => {
  for (const socket of [...clients, ...accepted]) socket.destroy();
  await proxy.stop();
  server.close();
});

/** Connects a client that records the received bytes and how the connection ended. */
async function dial() {
  const socket = connect(proxy.address);
  clients.push(socket);
  const heard: Buffer[] = [];
  socket.on('data', (chunk) => heard.push(chunk));
  const ended = new Promise<string>((resolve) => {
    socket.on('end', () => resolve('closed'));
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code!));
  });
  await once(socket, 'connect');
  const text = () => Buffer.concat(heard).toString();
  const hears = async (expected: string) => {
    while (text().length < expected.length) await sleep(1);
    expect(text()).toBe(expected);
  };
  return { socket, ended, text, hears, chunks: () => heard.length };
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Opens a connection that works, and then starts the fault. */
async function dialThen(fault: Fault) {
  const client = await dial();
  client.socket.write('a');
  await client.hears('a');
  await proxy.impose(fault);
  return client;
}

describe('the proxy', () => {
  test('passes on all bytes in order, and a normal end as a normal end', async () => {
    const client = await dial();
    const text = 'x'.repeat(3_000_000);
    client.socket.end(text);
    expect(await client.ended).toBe('closed');
    expect(client.text()).toBe(text);
  });

  test('passes a reset of the server on as a reset', async () => {
    const client = await dial();
    client.socket.write('a');
    await client.hears('a');
    accepted[0]!.resetAndDestroy();
    expect(await client.ended).toBe('ECONNRESET');
  });

  test('delays by the latency, keeps the order despite jitter, and passes on the rest when the fault ends', async () => {
    const client = await dialThen({ kind: 'latency', ms: 100, jitterMs: 90 });
    expect(
      await timed(async () => {
        for (const letter of 'bcdefgh') client.socket.write(letter);
        await client.hears('abcdefgh');
      }),
    ).toBeGreaterThan(20);
    await proxy.clear();
    await proxy.impose({ kind: 'latency', ms: 60_000, jitterMs: 0 });
    client.socket.write('i');
    await sleep(20);
    await proxy.clear();
    await client.hears('abcdefghi');
  });

  test('limits the bandwidth', async () => {
    const client = await dialThen({ kind: 'bandwidth', bytesPerSecond: 10_000 });
    const text = 'b'.repeat(2_000);
    const took = await timed(async () => {
      client.socket.write(text);
      await client.hears(`a${text}`);
    });
    expect(took).toBeGreaterThan(150);
  });

  test('splits data into small slices', async () => {
    const client = await dialThen({ kind: 'slicer', bytes: 2, ms: 5 });
    client.socket.write('bcdefghijk');
    await client.hears('abcdefghijk');
    expect(client.chunks()).toBeGreaterThan(3);
  });

  test('delays the close of a connection', async () => {
    const client = await dialThen({ kind: 'slowClose', ms: 150 });
    const took = await timed(async () => {
      client.socket.end();
      await client.ended;
    });
    expect(took).toBeGreaterThan(140);
  });

  test('holds all data during a black hole, and delivers it afterwards', async () => {
    const client = await dialThen({ kind: 'blackHole' });
    client.socket.write('b');
    const late = await dial();
    late.socket.write('z');
    await sleep(50);
    expect([client.text(), late.text()]).toEqual(['a', '']);
    await proxy.clear();
    await client.hears('ab');
    await late.hears('z');
  });

  test('resets existing and new connections during a reset fault, but not afterwards', async () => {
    const client = await dialThen({ kind: 'reset', ms: 30 });
    expect(await client.ended).toBe('ECONNRESET');
    expect(await (await dial()).ended).toBe('ECONNRESET');
    await proxy.clear();
    const next = await dial();
    next.socket.write('b');
    await next.hears('b');
  });

  test('closes a connection after the limit of data', async () => {
    const client = await dialThen({ kind: 'limitData', bytes: 5 });
    client.socket.write('bcd');
    expect(await client.ended).toBe('closed');
    expect(client.text()).toBe('abc');
  });

  test('refuses connections while it is down, and accepts them again at the same address', async () => {
    const client = await dialThen({ kind: 'down' });
    expect(await client.ended).toBe('ECONNRESET');
    const refused = connect(proxy.address);
    const [error] = await once(refused, 'error');
    expect(error.code).toBe('ECONNREFUSED');
    await proxy.clear();
    const next = await dial();
    next.socket.write('b');
    await next.hears('b');
  });

  test('closes the connection to a server without closing that of the client until the fault ends', async () => {
    const client = await dialThen({ kind: 'halfOpen', gone: 'server' });
    await closed(accepted[0]!);
    client.socket.write('b');
    await sleep(30);
    expect(client.socket.destroyed).toBe(false);
    const whole = await dial();
    whole.socket.write('c');
    await whole.hears('c');
    await proxy.clear();
    expect(await client.ended).toBe('ECONNRESET');
    whole.socket.write('d');
    await whole.hears('cd');
  });

  test('resets a half-open connection after the fault only when the client sends data', async () => {
    const client = await dialThen({ kind: 'halfOpen', gone: 'server' });
    await proxy.clear();
    await sleep(20);
    expect(client.socket.destroyed).toBe(false);
    client.socket.write('b');
    expect(await client.ended).toBe('ECONNRESET');
  });

  test('resets the connection of a client without closing that to the server until the fault ends', async () => {
    const client = await dialThen({ kind: 'halfOpen', gone: 'client' });
    expect(await client.ended).toBe('ECONNRESET');
    await sleep(20);
    expect(accepted[0]!.destroyed).toBe(false);
    const gone = closed(accepted[0]!);
    await proxy.clear();
    await gone;
  });

  test('resets only some connections if the fault applies to a share of 0.5', async () => {
    const several = await Promise.all(Array.from({ length: 40 }, dial));
    for (const { socket } of several) socket.write('a');
    for (const { hears } of several) await hears('a');
    await proxy.impose({ kind: 'reset', ms: 0 }, 0.5);
    await sleep(50);
    const left = several.filter(({ socket }) => !socket.destroyed);
    expect(left.length).toBeGreaterThan(5);
    expect(left.length).toBeLessThan(35);
  });

  test('connects only new connections to a new target', async () => {
    const other = createServer((socket) => socket.end('other')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const before = await dial();
    proxy.target = { host: '127.0.0.1', port };
    await (await dial()).hears('other');
    before.socket.write('a');
    await before.hears('a');
    other.close();
  });
});
