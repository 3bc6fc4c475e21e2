import { EventEmitter } from 'node:events';
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ExchangeError } from '@measurement-exchange/contract';
import { afterEach, expect, it, vi } from 'vitest';
import type { Watch } from '../serving/index.ts';
import { Streams } from '../serving/streams.ts';
import { EventStreams } from './eventStream.ts';

const NEVER = { commentMs: 1e6, checkMs: 1e6, maxAgeMs: 1e6, slowMs: 1e6 };
const CHANGE = {
  name: 'dataProviders/x',
  kind: 'PARTY',
  version: 1,
  time: '2026-01-01T00:00:00.000000Z',
} as const;

let server: Server;
afterEach(() => server.close());

/** Serves one watch over real HTTP. `over` in the result resolves when the stream ends, and `text` returns its text. */
async function serve(
  watch: Partial<Watch>,
  times: Partial<typeof NEVER> | undefined,
  { isRead = true, isAuthorized = async () => true } = {},
) {
  const all = times && { ...NEVER, ...times };
  const [opened, streams] = [new Streams(all), new EventStreams(all)];
  const ended = new EventEmitter();
  const closed = Promise.withResolvers<undefined>();
  let isClosed = false;
  const failures: ExchangeError[] = [];
  const whole: Watch = {
    token: 'start',
    next: () => closed.promise,
    close: () => {
      isClosed = true;
      closed.resolve(undefined);
    },
    ...watch,
  };
  server = createServer((_request, response: ServerResponse) => {
    void streams
      .serve(response, {}, opened.open(whole, isAuthorized), (error) => failures.push(error))
      .then(() => ended.emit('ended'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const over = new Promise((resolve) => ended.once('ended', resolve));
  const response = await new Promise<IncomingMessage>((resolve) => {
    get(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, resolve);
  });
  let text = '';
  response.on('error', () => {});
  if (isRead) response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  return { over, response, text: () => text, isClosed: () => isClosed, failures };
}

it('ends a stream at its maximum age with a retry time of 100 to 299 ms', async () => {
  const { over, text, isClosed } = await serve({}, { maxAgeMs: 20 });
  await over;
  // A stream that ends because of its age tells its client to reconnect after 100 to 299 ms. Such a short delay does
  // not overload the exchange, because streams of different clients end at different times.
  await expect.poll(text).toMatch(/^id: start\n\nretry: [12]\d\d\n\n$/);
  expect(isClosed()).toBe(true);
});

it('ends a stream with a retry time of 500 to 1,999 ms when the exchange stops', async () => {
  const { over, text } = await serve({ next: async () => undefined }, {});
  await over;
  await expect.poll(text).toMatch(/^id: start\n\nretry: ([5-9]\d\d|1\d\d\d)\n\n$/);
});

it('sends a comment every 15 s, and ends streams after 4 to 5 minutes, not all at the same time', async () => {
  const timers = vi.spyOn(globalThis, 'setTimeout');
  const intervals = vi.spyOn(globalThis, 'setInterval');
  for (let i = 0; i < 8; i++) {
    const { over, response } = await serve({}, undefined);
    response.destroy();
    await over;
    server.close();
  }
  const ages = timers.mock.calls.map(([, ms]) => ms!).filter((ms) => ms > 60_000);
  expect(ages).toHaveLength(8);
  expect(new Set(ages).size).toBeGreaterThan(1);
  for (const ms of ages) expect(ms).toSatisfy((age: number) => age >= 240_000 && age <= 300_000);
  // Expect two timers for each of the 8 streams: one sends comments, and the other checks whether the reader is still
  // authorized.
  expect(intervals.mock.calls.map(([, ms]) => ms).filter((ms) => ms === 15_000)).toHaveLength(16);
  vi.restoreAllMocks();
});

it('sends comments while there are no changes', async () => {
  const { text, response } = await serve({}, { commentMs: 5 });
  await expect.poll(text).toMatch(/^id: start\n\n:\n\n:\n\n/);
  response.destroy();
});

it('ends a stream when the reader hangs up', async () => {
  const { over, response, isClosed } = await serve({}, {});
  response.destroy();
  await over;
  expect(isClosed()).toBe(true);
});

it('ends a stream with a retry time of 100 to 299 ms when the reader is no longer authorized', async () => {
  let asked = 0;
  const isAuthorized = async () => ++asked < 3;
  const { over, text, isClosed } = await serve({}, { checkMs: 5 }, { isAuthorized });
  await over;
  await expect.poll(text).toMatch(/^id: start\n\nretry: [12]\d\d\n\n$/);
  expect(isClosed()).toBe(true);
});

it('disconnects a reader that does not read, and stops generating pages for it', async () => {
  let made = 0;
  const events = Array.from({ length: 100 }, (_, i) => ({ token: `t${i}`, change: CHANGE }));
  const next = async () => {
    made++;
    return { events, token: 't99' };
  };
  const { over, isClosed } = await serve({ next }, { slowMs: 50 }, { isRead: false });
  await over;
  expect(isClosed()).toBe(true);
  // The exchange must stop reading pages when the socket buffers of both sides are full.
  expect(made).toBeLessThan(5_000);
});

it('sends an error event if reading changes fails after the stream has begun', async () => {
  const next = () => Promise.reject(new ExchangeError('CHANGE_TOKEN_EXPIRED', 'The token is too old.'));
  const { over, text, failures } = await serve({ next }, {});
  await over;
  expect(failures).toMatchObject([{ reason: 'CHANGE_TOKEN_EXPIRED' }]);
  await expect.poll(text).toContain('event: error\ndata: {"error":');
  expect(text()).toContain('CHANGE_TOKEN_EXPIRED');
});
