/** Tests that the work for a large descriptor set slows down only its sender. The exchange runs in its own process. */
import { setTimeout as sleep } from 'node:timers/promises';
import { checkedErrorOf } from '@measurement-exchange/testkit/errorModel';
import {
  createDatabase,
  type Database,
  type DevParty,
  type Reply,
} from '@measurement-exchange/testkit/exchange';
import { base64, manyFields } from '@measurement-exchange/testkit/hostileDescriptors';
import { type ExchangeProcess, startExchangeProcess } from '@measurement-exchange/testkit/process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stopwatch } from '../../src/compute/stopwatch.ts';
import { readDescriptorSet } from '../../src/protobuf/descriptor/descriptorSet.ts';
import { BUSY_LOOP, busiest } from './busyLoop.ts';

/** A rate limit that refills so slowly that the remaining quota shows what a request was charged. */
const SLOWLY = { perSecond: 0.1, burst: 100_000 };

let database: Database;
let exchange: ExchangeProcess;
let acme: DevParty;
let globex: DevParty;
let streamly: DevParty;
let chirper: DevParty;

beforeAll(async () => {
  database = await createDatabase();
  exchange = await startExchangeProcess({
    databaseUrl: database.url,
    env: BUSY_LOOP,
    config: {
      rate: { perSecond: 1e6, burst: 1e6 },
      rates: {
        'measurementConsumers/globex': SLOWLY,
        'dataProviders/chirper': { perSecond: 1, burst: 20 },
      },
    },
  });
  [acme, globex] = exchange.dev.measurementConsumers as [DevParty, DevParty];
  [streamly, chirper] = exchange.dev.dataProviders as [DevParty, DevParty];
});
afterAll(async () => {
  expect(await exchange.kill()).toBe(0);
  expect(exchange.output()).not.toMatch(/"status":500/);
  await exchange.remove();
  await database.drop();
});

/** Sends a request, and sends it again after 504: on a busy machine, the work may take longer than the deadline. */
async function call(party: DevParty, method: string, name: string, body?: unknown): Promise<Reply> {
  for (let attempt = 1; ; attempt++) {
    const reply = await exchange.call(party.token, method, `/v2alpha/${name}`, body);
    if (reply.status !== 504 || attempt === 5) return reply;
  }
}
const parentOf = (provider: DevParty) => `${provider.name}/eventGroupMetadataDescriptors`;
const wide = (prefix: string) => manyFields(250_000, 'wide', prefix);
const large = (prefix: string) => base64(wide(prefix));

describe('large descriptor sets', () => {
  let name: string;

  it('are read, printed, compared and decoded outside of the event loop', async () => {
    const work: [title: string, run: () => ReturnType<typeof call>][] = [
      ['create', () => call(streamly, 'POST', parentOf(streamly), { descriptorSet: large('a') })],
      ['get', () => call(acme, 'GET', name)],
      ['diff', () => call(acme, 'POST', `${name}:diff`, { descriptorSet: large('b') })],
      ['decode', () => call(acme, 'POST', `${name}:decode`, { typeUrl: 'x/wide.M1', value: 'CAE=' })],
      ['update', () => call(streamly, 'PUT', name, { descriptorSet: large('c') })],
    ];
    // Run one job before measuring, because the first job starts the compute thread and compiles the code.
    const first = await work[0]![1]();
    expect(first.status, first.text.slice(0, 300)).toBe(200);
    ({ name } = first.json);
    const elapsed = stopwatch();
    expect(readDescriptorSet({ bytes: wide('a') })).toHaveProperty('json');
    const alone = elapsed();
    for (const [title, run] of work) {
      const from = exchange.output().length;
      const reply = await run();
      expect(reply.status, `${title} ${reply.text.slice(0, 300)}`).toBe(200);
      // The compute thread reads the set, and the event loop reads only the request. The event loop must therefore be
      // busy for less than half of the time that reading the set takes.
      expect(busiest(exchange.output().slice(from)), `${title}, reading takes ${alone} ms`).toBeLessThan(
        alone / 2,
      );
    }
  });

  it('of one principal wait in a short queue, the excess gets 429, and other parties are not blocked', async () => {
    const diff = (descriptorSet: string) => call(acme, 'POST', `${name}:diff`, { descriptorSet });
    const descriptorSet = large('d');
    const began = performance.now();
    expect((await diff(descriptorSet)).status).toBe(200);
    const alone = performance.now() - began;

    let storming = true;
    const storm = Promise.all(Array.from({ length: 22 }, () => diff(descriptorSet))).finally(() => {
      storming = false;
    });
    const times: number[] = [];
    while (storming) {
      const asked = performance.now();
      expect((await call(streamly, 'GET', `${streamly.name}/requisitions`)).status).toBe(200);
      times.push(performance.now() - asked);
      await sleep(5);
    }
    const replies = await storm;
    const rejected = replies.filter(({ status }) => status !== 200);
    // One request is processed, four wait, and the exchange rejects the others immediately.
    expect(rejected.length).toBeLessThan(replies.length);
    expect(rejected.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(10);
    for (const reply of rejected) {
      // A request that has waited for four seconds gets 503 instead of 429.
      if (reply.status !== 503) expect(checkedErrorOf(reply)).toBe('429 RATE_LIMITED');
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
    const median = times.sort((a, b) => a - b)[Math.floor(times.length / 2)]!;
    expect(median, `of ${times.length}; one diff takes ${Math.round(alone)} ms`).toBeLessThan(alone / 2);
  });

  it('are charged to the rate limit by their processing time', async () => {
    const left = async () => Number((await call(globex, 'GET', name)).headers.get('ratelimit-remaining'));
    await left();
    const before = await left();
    const { status } = await call(globex, 'POST', `${name}:diff`, { descriptorSet: large('d') });
    expect(status).toBe(200);
    const charged = before - (await left());
    // Most of the charge is for the time of the diff, whose set has 250 kB. Receiving and answering the diff request
    // and the GET request after it costs only a little.
    expect(charged).toBeGreaterThan(20);

    // This request costs more than chirper's whole quota. The exchange processes it, and then rejects chirper's
    // requests until its quota is positive again.
    expect((await call(chirper, 'POST', parentOf(chirper), { descriptorSet: large('a') })).status).toBe(200);
    const reply = await call(chirper, 'GET', 'whoami');
    expect(checkedErrorOf(reply)).toBe('429 RATE_LIMITED');
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(5);
  });
});
