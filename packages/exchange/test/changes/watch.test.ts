/**
 * Tests changes as Server-Sent Events: each change arrives once and in order, even if the reader disconnects and
 * resumes.
 */
import { type DevParty, startExchange, UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import {
  castOf,
  createMeasurement,
  errorOf,
  fulfill,
  ok,
  requisitionOf,
} from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';
import { page, tokenNow } from './follow.ts';
import { type Stream, seen, useStreams } from './stream.ts';

const exchange = useExchange({ rate: UNLIMITED });
let acme: DevParty;
let globex: DevParty;
let streamly: DevParty;
beforeAll(() => {
  ({ acme, globex, streamly } = castOf(exchange));
});

const watch = useStreams(exchange);

describe('a watch', () => {
  it('sends each new change as it happens', async () => {
    await tokenNow(exchange, acme);
    const stream = await watch(acme);
    expect(stream.response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String),
    });
    const measurement = await createMeasurement(exchange, acme, [streamly]);
    await seen(stream, 2);
    const requisition = await requisitionOf(exchange, streamly, measurement);
    await ok(fulfill(exchange, streamly, requisition, 1n));
    await seen(stream, 5);
    const { name } = measurement;
    const own = `${name}/requisitions/${requisition.name.split('/').at(-1)}`;
    expect(stream.lines).toEqual([`${name} 1`, `${own} 1`, `${own} 2`, `${name} 2`, `${name} 3`]);
  });

  it('resumes after the last event of another watch, or after a page token', async () => {
    const token = await tokenNow(exchange, acme);
    const query = `filter.kinds=MEASUREMENT&pageToken=${token}`;
    const first = await watch(acme, query);
    const one = await createMeasurement(exchange, acme, [streamly]);
    await seen(first, 1);
    first.response.destroy();
    const two = await createMeasurement(exchange, acme, [streamly]);
    // A browser reconnects with the original URL and the last ID that it received.
    const second = await watch(acme, query, { 'last-event-id': first.lastId });
    await seen(second, 1);
    expect([first.lines, second.lines]).toEqual([[`${one.name} 1`], [`${two.name} 1`]]);
    const { changes } = await page(exchange, acme, `filter.kinds=MEASUREMENT&pageToken=${first.lastId}`);
    expect(changes).toMatchObject([{ name: two.name }]);
  });

  it('sends its position at the start, and after changes that the filter removed', async () => {
    const token = await tokenNow(exchange, acme);
    const stream = await watch(acme, 'filter.kinds=PARTY');
    await expect.poll(() => stream.text).toBe(`id: ${token}\n\n`);
    await createMeasurement(exchange, acme, [streamly]);
    await expect.poll(() => stream.blocks.length, { timeout: 20_000 }).toBe(2);
    expect(stream.lines).toEqual([]);
    expect((await page(exchange, acme, `pageToken=${stream.lastId}`)).changes).toEqual([]);
  });

  it('contains no changes of another party, and is denied to another party', async () => {
    await tokenNow(exchange, globex);
    const stream = await watch(globex);
    const own = await watch(acme);
    await createMeasurement(exchange, acme, [streamly]);
    await seen(own, 1);
    expect(stream.lines).toEqual([]);
    const denied = await exchange.call(globex.token, 'GET', `/v2alpha/${acme.name}/changes:watch`);
    expect(errorOf(denied)).toBe('403 PERMISSION_DENIED PERMISSION_DENIED');
  });

  it('is rejected with INVALID_PAGE_TOKEN if its page token or last event ID is invalid', async () => {
    const bad = await exchange.call(acme.token, 'GET', `/v2alpha/${acme.name}/changes:watch?pageToken=abc`);
    expect(errorOf(bad)).toBe('400 INVALID_ARGUMENT INVALID_PAGE_TOKEN pageToken');
    const header = { 'last-event-id': 'abc' };
    const path = `/v2alpha/${acme.name}/changes:watch`;
    const worse = await exchange.call(acme.token, 'GET', path, undefined, header);
    expect(errorOf(worse)).toBe('400 INVALID_ARGUMENT INVALID_PAGE_TOKEN pageToken');
  });

  it('is logged only once it has ended', async () => {
    const stream = await watch(acme);
    const requestId = stream.response.headers['x-request-id'] as string;
    const line = async () => {
      const lines = (await exchange.logs()).map((text) => JSON.parse(text));
      return lines.find((one) => one.requestId === requestId);
    };
    expect(await line()).toBeUndefined();
    stream.response.destroy();
    await expect.poll(line).toMatchObject({ operation: 'watchChanges', principal: acme.name, status: 200 });
  });

  it('sends the same changes to 100 readers of a party', async () => {
    const token = await tokenNow(exchange, acme);
    const query = `filter.kinds=MEASUREMENT&pageToken=${token}`;
    const streams = await Promise.all(Array.from({ length: 100 }, () => watch(acme, query)));
    const names: string[] = [];
    for (let i = 0; i < 5; i++) names.push((await createMeasurement(exchange, acme, [streamly])).name);
    for (const stream of streams) {
      await seen(stream, 5);
      expect(stream.lines).toEqual(names.map((name) => `${name} 1`));
    }
  });

  it('is limited to 500 per party, independently of other parties, and is accepted again when one has ended', async () => {
    const path = `/v2alpha/${globex.name}/changes`;
    const streams: Stream[] = [];
    for (let i = 0; i < 10; i++) {
      streams.push(...(await Promise.all(Array.from({ length: 50 }, () => watch(globex)))));
    }
    for (const more of [`${path}:watch`, `${path}?waitSeconds=1`]) {
      const rejected = await exchange.call(globex.token, 'GET', more);
      expect(errorOf(rejected)).toBe('429 RESOURCE_EXHAUSTED RATE_LIMITED');
      expect(rejected.headers.get('retry-after')).toBe('5');
    }
    await watch(acme);
    await ok(exchange.call(globex.token, 'GET', path));
    streams[0]!.response.destroy();
    const next = () => exchange.call(globex.token, 'GET', `${path}:watch`);
    await expect.poll(async () => (await next()).status).toBe(200);
  });
});

it('ends a watch with a retry time when the exchange stops, and does not prevent the stop', async () => {
  const stopping = await startExchange({ rate: UNLIMITED });
  const [party] = stopping.dev.measurementConsumers as [DevParty];
  const stream = await watch(party, '', {}, stopping.url);
  expect(await stopping.stop()).toEqual([]);
  await expect.poll(() => stream.isOver).toBe(true);
  expect(stream.text).toMatch(/\nretry: \d+\n\n$/);
});
