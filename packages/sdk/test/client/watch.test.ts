/** Tests `watch` on a running exchange, through proxies that cut, buffer, delay and reject streams. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Change, ExchangeError } from '@measurement-exchange/contract';
import { describe, expect, it, vi } from 'vitest';
import { type ClientOptions, createClient, type WatchArguments } from '../../src/index.ts';
import {
  buffer,
  bufferBody,
  crumble,
  cut,
  cutAfter,
  endAfter,
  reply,
  type StreamProxy,
  startProxy,
  type Treatment,
} from './proxy.ts';
import { cast, clientOf, exchange, useExchange } from './world.ts';

useExchange();

/** A clock whose sleeps last at most 2 ms, so that backoffs take almost no time. */
const clock = {
  now: Date.now,
  sleep: async (ms: number, signal?: AbortSignal) => {
    await sleep(Math.min(ms, 2));
    signal?.throwIfAborted();
  },
};

/** Creates a client of streamly, and collects the warnings that the client logs. */
function following(proxy: Pick<StreamProxy, 'url'> = exchange, options: Partial<ClientOptions> = {}) {
  const warnings: string[] = [];
  const onWarning = (message: string) => warnings.push(message);
  const { token } = cast.streamly;
  const client = createClient({ baseUrl: proxy.url, token, clock, onWarning, ...options });
  const args = (more: Partial<WatchArguments> = {}): WatchArguments => ({
    parent: cast.streamly.name,
    'filter.kinds': ['EVENT_GROUP'],
    ...more,
  });
  return { client, args, warnings };
}

const describeChange = ({ name, version }: { name?: string; version: number }) => `${name} ${version}`;

/** Returns the first `count` changes as text. Adds each change to `taken` as soon as it arrives. */
async function take(changes: AsyncIterable<Change>, count: number, taken: string[] = []): Promise<string[]> {
  for await (const change of changes) {
    taken.push(describeChange(change));
    if (taken.length === count) break;
  }
  return taken;
}

async function createOne(): Promise<string> {
  const body = { measurementConsumer: cast.acme.name };
  const { name } = await clientOf(cast.streamly).createEventGroup({ parent: cast.streamly.name, body });
  return describeChange({ name: name!, version: 1 });
}

const WAIT = { timeout: 90_000 };

/**
 * Creates resources one by one after the watch has begun. Creates the next resource only when the watch has shown the
 * previous one. Returns the created resources and the changes that the watch showed.
 */
async function follow({ client, args }: ReturnType<typeof following>, count: number) {
  const { promise: beginning, resolve: onToken } = Promise.withResolvers<string>();
  const taken: string[] = [];
  const all = take(client.watch(args({ onToken })), count, taken);
  await Promise.race([beginning, all]);
  const made: string[] = [];
  for (let i = 1; i <= count; i++) {
    made.push(await createOne());
    await vi.waitUntil(() => taken.length >= i, WAIT);
  }
  return { taken: await all, made };
}

describe('a watch', () => {
  it('yields each change once and in order over one stream', async () => {
    const proxy = await startProxy(exchange.url);
    const watching = following(proxy);
    const { taken, made } = await follow(watching, 4);
    expect(taken).toEqual(made);
    expect(proxy).toMatchObject({ streams: 1, pages: 0 });
    expect(watching.warnings).toEqual([]);
  });

  it('resumes after the last complete event of a stream that was cut', async () => {
    const proxy = await startProxy(exchange.url, (n) => (n <= 2 ? cutAfter(2) : undefined));
    const watching = following(proxy);
    const { taken, made } = await follow(watching, 5);
    expect(taken).toEqual(made);
    expect(proxy.streams).toBeGreaterThan(1);
    expect(watching.warnings).toEqual([]);
  });

  it('reconnects to an exchange that ends its streams', async () => {
    const proxy = await startProxy(exchange.url, (n) => (n <= 4 ? endAfter(2) : undefined));
    const watching = following(proxy);
    const { taken, made } = await follow(watching, 6);
    expect(taken).toEqual(made);
    expect(proxy.streams).toBeGreaterThan(2);
    expect(proxy.pages).toBe(0);
  });

  it('parses events that arrive in small chunks', async () => {
    const watching = following(await startProxy(exchange.url, () => crumble));
    const { taken, made } = await follow(watching, 3);
    expect(taken).toEqual(made);
    expect(watching.warnings).toEqual([]);
  });

  it('resumes from a token with every change after it and none before it', async () => {
    const stop = new AbortController();
    const tokens: string[] = [];
    const onToken = (token: string) => tokens.push(token);
    const { client, args } = following();
    const watched = client.watch(args({ onToken, signal: stop.signal }));
    const first = watched.next();
    await vi.waitUntil(() => tokens.length > 0, WAIT);
    const made = [await createOne()];
    expect(describeChange((await first).value!)).toBe(made[0]);
    expect(tokens).toHaveLength(1);
    const second = watched.next();
    await vi.waitUntil(() => tokens.length > 1, WAIT);
    stop.abort();
    await expect(second).rejects.toThrow('aborted');
    made.push(await createOne(), await createOne());
    const [started, later] = tokens as [string, string];
    expect(await take(client.watch(args({ pageToken: later })), 2)).toEqual(made.slice(1));
    expect(await take(client.watch(args({ pageToken: started })), 3)).toEqual(made);
  });

  it('closes its connection after an abort, after return(), and after a break out of its loop', async () => {
    const proxy = await startProxy(exchange.url);
    const { client, args } = following(proxy);
    const begin = async (signal?: AbortSignal) => {
      const { promise, resolve: onToken } = Promise.withResolvers<string>();
      const watched = client.watch(args({ onToken, ...(signal && { signal }) }));
      const next = watched.next();
      await promise;
      expect(proxy.open).toBe(1);
      return { watched, next };
    };
    const closed = () => expect.poll(() => proxy.open).toBe(0);

    const stop = new AbortController();
    const aborted = await begin(stop.signal);
    stop.abort(new Error('enough'));
    await expect(aborted.next).rejects.toThrow('enough');
    await closed();

    const returned = await begin();
    expect(await returned.watched.return()).toEqual({ done: true, value: undefined });
    expect(await returned.next).toEqual({ done: true, value: undefined });
    await closed();

    const left = await begin();
    await createOne();
    await left.next;
    await createOne();
    for await (const _ of left.watched) break;
    await closed();
  });
});

describe('a watch through a proxy that does not pass streams on', () => {
  const HTML = '<html>blocked</html>';
  const patient = {};
  const impatient = { timeoutMs: 300 };
  it.each<[string, Treatment, string, Partial<ClientOptions>]>([
    ['cuts streams immediately', cut, '', patient],
    ['cuts streams in the first event', cutAfter(0), '', patient],
    ['buffers streams', buffer, 'nothing arrives', impatient],
    ['buffers streams after their headers', bufferBody, 'nothing arrives', impatient],
    ['replies with its own HTML page', reply(200, 'text/html', HTML), 'the response is text/html', patient],
    ['replies with 403', reply(403, 'text/html', HTML), 'watchChanges: the response (403)', patient],
    ['replies with 502', reply(502, 'text/html', HTML), 'watchChanges: the response (502)', patient],
  ])('logs one warning and falls back to pages if the proxy %s', async (_, treatment, why, options) => {
    const proxy = await startProxy(exchange.url, () => treatment);
    const watching = following(proxy, options);
    const { client, args, warnings } = watching;
    const { promise: beginning, resolve: onToken } = Promise.withResolvers<string>();
    const taken = take(client.watch(args({ onToken })), 2);
    await beginning;
    const made = [await createOne()];
    await vi.waitUntil(() => warnings.length > 0, WAIT);
    const tried = proxy.streams;
    made.push(await createOne());
    expect(await taken).toEqual(made);
    // The client remembers that streams do not arrive, so its next watch does not try a stream again.
    const again = await follow(watching, 2);
    expect(again.taken).toEqual(again.made);
    expect(proxy.streams).toBe(tried);
    expect(warnings).toEqual([expect.stringContaining(`do not arrive as a stream (${why}`)]);
  });
});

describe('a watch of an exchange that is temporarily unavailable', () => {
  const json = (error: ExchangeError, headers: Record<string, string> = {}) =>
    reply(error.httpStatus, 'application/json', JSON.stringify(error), headers);
  it.each<[string, Treatment]>([
    ['returns UNAVAILABLE', json(new ExchangeError('UNAVAILABLE', 'Later.'))],
    ['returns RATE_LIMITED', json(new ExchangeError('RATE_LIMITED', 'Later.'), { 'retry-after': '2' })],
    ['cuts the connection', cut],
    ['is behind a gateway that returns 502', reply(502, 'text/html', '')],
  ])('retries while the exchange %s, and does not fall back to pages', async (_, rejection) => {
    const proxy = await startProxy(
      exchange.url,
      (n) => (n === 1 ? cutAfter(1) : undefined),
      (n) => (n > 1 && n < 9 ? rejection : undefined),
    );
    const watching = following(proxy);
    const { taken, made } = await follow(watching, 2);
    expect(taken).toEqual(made);
    expect(watching.warnings).toEqual([]);
  });
});

describe('a watch that cannot continue', () => {
  it('throws PERMISSION_DENIED without access, and CHANGE_TOKEN_EXPIRED for an expired token', async () => {
    const { client, args } = following();
    const others = client.watch({ parent: cast.chirper.name });
    await expect(others.next()).rejects.toThrow(
      expect.objectContaining({ code: 'PERMISSION_DENIED' }) as Error,
    );
    const { promise, resolve: onToken } = Promise.withResolvers<string>();
    const watched = client.watch(args({ onToken, from: 'OLDEST' }));
    await createOne();
    await watched.next();
    void watched.next();
    const pageToken = await promise;
    await watched.return();
    await exchange.database.query('SELECT remove_changes($1, now(), 10000)', [cast.streamly.name]);
    const expired = client.watch(args({ pageToken }));
    await expect(expired.next()).rejects.toThrow(
      expect.objectContaining({ reason: 'CHANGE_TOKEN_EXPIRED' }) as Error,
    );
  });
});
