/** Tests the limit on a consumer's open measurements. */
import {
  type DevParty,
  measurementRequest,
  UNLIMITED,
  useExchange,
} from '@measurement-exchange/testkit/exchange';
import { castOf, errorOf, ok, post } from '@measurement-exchange/testkit/steps';
import { expect, it, vi } from 'vitest';
import { OpenMeasurements } from '../../src/database/openMeasurements.ts';

const LIMIT = 6;
const exchange = useExchange({ rate: UNLIMITED, maxOpenMeasurements: LIMIT });
const TOO_MANY = '429 RESOURCE_EXHAUSTED TOO_MANY_OPEN_MEASUREMENTS parent';

const create = (consumer: DevParty, query = '', request?: object) => {
  const { streamly } = castOf(exchange);
  return post(
    exchange,
    consumer,
    `${consumer.name}/measurements${query}`,
    request ?? measurementRequest(consumer, [streamly]),
  );
};

it('a consumer at its limit gets 429, but can validate, retry a create, and create after a cancellation', async () => {
  const { acme, streamly } = castOf(exchange);
  const request = measurementRequest(acme, [streamly]);
  const first = await ok(create(acme, '?requestId=first', request));
  const replies = await Promise.all(Array.from({ length: 10 * LIMIT }, () => create(acme)));
  const open = async () => {
    const states = `('AWAITING_REQUISITION_FULFILLMENT', 'COMPUTING')`;
    const query = `SELECT 1 FROM measurements WHERE consumer = $1 AND state IN ${states}`;
    return (await exchange.database.query(query, [acme.name])).length;
  };
  expect(await open()).toBeLessThanOrEqual(LIMIT);
  for (const reply of replies) if (reply.status !== 200) expect(errorOf(reply)).toBe(TOO_MANY);
  // Retry, because the exchange can count a new measurement twice for up to a second: in the database and as a running
  // create.
  const filled = async () => {
    await create(acme);
    expect(await open()).toBe(LIMIT);
  };
  await vi.waitFor(filled, { timeout: 20_000, interval: 100 });
  expect(errorOf(await create(acme))).toBe(TOO_MANY);
  expect((await ok(create(acme, '?requestId=first', request))).name).toBe(first.name);
  await ok(create(acme, '?validateOnly=true'));
  // Another consumer can still create measurements, because each consumer has its own limit.
  await ok(create(exchange.dev.measurementConsumers[1]!));

  await ok(post(exchange, acme, `${first.name}:cancel`));
  expect(await open()).toBe(LIMIT - 1);
  await vi.waitFor(filled, { timeout: 20_000, interval: 100 });
  for (let i = 0; i < 10; i++) expect(errorOf(await create(acme))).toBe(TOO_MANY);
});

it('open measurements are recounted after a hundredth of the limit, after 10 s, and each second at the limit', async () => {
  let [now, open, counts] = [0, 0, 0];
  const db = {
    query: async () => {
      counts += 1;
      return [{ n: open }] as never;
    },
  };
  const measurements = new OpenMeasurements(db, 1_000, () => now);
  const taken = async (times: number) => {
    let count = 0;
    for (let i = 0; i < times; i++) {
      const place = await measurements.take('x');
      if (place === undefined) continue;
      count += 1;
      open += 1;
      place[Symbol.dispose]();
    }
    return count;
  };
  expect([await taken(100), counts]).toEqual([100, 10]);
  now += 10_000;
  expect([await taken(1), counts]).toEqual([1, 11]);
  // Other replicas have created measurements meanwhile. After each count, a replica can create 10 measurements, a
  // hundredth of the limit, before it counts again. This replica has created one since its last count, so it can create
  // nine more.
  open = 995;
  expect([await taken(10_000), counts]).toEqual([9, 12]);
  now += 999;
  expect([await taken(100), counts]).toEqual([0, 12]);
  now += 1;
  expect([await taken(100), counts]).toEqual([0, 13]);
  open = 990;
  now += 1_000;
  expect([await taken(100), open]).toEqual([10, 1_000]);
});

it('creates that run concurrently count towards the limit', async () => {
  const measurements = new OpenMeasurements({ query: async () => [{ n: 0 }] as never }, 5);
  const places = await Promise.all(Array.from({ length: 50 }, () => measurements.take('x')));
  expect(places.filter((place) => place !== undefined)).toHaveLength(5);
});

it('a batch reserves as many places as the limit allows, and releases all of them', async () => {
  let now = 0;
  const measurements = new OpenMeasurements({ query: async () => [{ n: 0 }] as never }, 5, () => now);
  for (const wanted of [0, 3, 7]) {
    using places = await measurements.takeUpTo('x', wanted);
    expect(places.count).toBe(Math.min(wanted, 5));
    now += 10_000;
  }
  using places = await measurements.takeUpTo('x', 5);
  expect(places.count).toBe(5);
});
