/** Tests that a wait for a measurement follows the consumer's changes instead of polling. */
import { expect, it, vi } from 'vitest';
import { waitForMeasurement } from '../../src/consumer/wait.ts';
import type { ClientOptions } from '../../src/index.ts';
import { cast, clientOf, create, useExchange } from '../client/world.ts';

useExchange();

const HOUR_MS = 3600_000;
const until = (isTrue: () => boolean) => vi.waitUntil(isTrue, { timeout: 90_000 });
const asked = (url: unknown) => (String(url).includes('/changes') ? 'changes' : 'measurement');
/** Creates a client that sends its requests through this fetch function. */
const consumer = (fetch: ClientOptions['fetch']) => clientOf(cast.acme, { fetch: fetch! });
const cancel = (name: string) => clientOf(cast.acme).cancelMeasurement({ name });
const cancelled = { name: 'MeasurementFailed', reason: 'CANCELLED' };

it('many waits with one client share one watch, and each ends when its measurement ends', async () => {
  const requests: string[] = [];
  const client = consumer((input, init) => {
    requests.push(asked(input));
    return fetch(input, init);
  });
  const count = (kind: string) => requests.filter((each) => each === kind).length;
  const names = await Promise.all(
    Array.from({ length: 20 }, async () => (await create([cast.streamly])).name!),
  );
  const waits = names.map((name) =>
    waitForMeasurement(client, name, { pollMs: HOUR_MS }).catch((error: unknown) => error),
  );
  // Each wait reads its measurement at the start and again when the watch has begun.
  await until(() => count('measurement') >= 40);
  for (const [i, name] of names.entries()) {
    await cancel(name);
    expect(await waits[i]).toMatchObject(cancelled);
  }
  // Allow a second watch, because the client may open one if the first does not connect in time.
  expect(count('changes')).toBeLessThanOrEqual(2);
  // Allow six reads per wait, including the two above. Each wait reads its measurement once more at the end, and again
  // if the watch reports the creation late. A second watch can cause two more reads.
  expect(count('measurement')).toBeLessThanOrEqual(120);
});

it('a wait does not miss a change between its first read and the first token of its watch', {
  timeout: 20_000,
}, async () => {
  const { name } = await create([cast.streamly]);
  const { promise: isChanged, resolve: changed } = Promise.withResolvers<void>();
  const client = consumer(async (input, init) => {
    if (asked(input) === 'changes') await isChanged;
    return fetch(input, init);
  });
  let looks = 0;
  const onChange = () => looks++;
  const wait = waitForMeasurement(client, name!, { pollMs: HOUR_MS, onChange }).catch((error) => error);
  await until(() => looks === 1);
  await cancel(name!);
  changed();
  expect(await wait).toMatchObject(cancelled);
});

it.each<[string, () => Promise<Response>]>([
  ['answered with 404', async () => new Response('nginx', { status: 404 })],
  ['answered with 500', async () => new Response('nginx', { status: 500 })],
  ['cut off', async () => Promise.reject(new TypeError('fetch failed'))],
])('a wait polls if requests for changes are %s, and calls onPolling once', async (_how, broken) => {
  const { name } = await create([cast.streamly]);
  let looks = 0;
  const client = consumer((input, init) => {
    if (asked(input) === 'changes') return broken();
    looks++;
    return fetch(input, init);
  });
  const said: string[] = [];
  const onPolling = (why: string) => said.push(why);
  const wait = waitForMeasurement(client, name!, { pollMs: 10, onPolling }).catch((error) => error);
  await until(() => looks > 3 && said.length > 0);
  await cancel(name!);
  expect(await wait).toMatchObject(cancelled);
  expect(said).toHaveLength(1);
});

it('a running wait survives an outage and reports polling and following once each, but a new wait fails', async () => {
  const { name } = await create([cast.streamly]);
  let [isAway, looks, refused] = [false, 0, 0];
  let cut = new AbortController();
  const client = clientOf(cast.acme, {
    maxAttempts: 1,
    fetch: async (input, init) => {
      if (isAway) {
        refused++;
        throw new TypeError('fetch failed');
      }
      if (asked(input) === 'measurement') return fetch(input, init);
      const signals = [cut.signal, ...(init?.signal ? [init.signal] : [])];
      return fetch(input, { ...init, signal: AbortSignal.any(signals) });
    },
  });
  const said: string[] = [];
  const wait = waitForMeasurement(client, name!, {
    pollMs: 10,
    onChange: () => looks++,
    onPolling: () => said.push('polling'),
    onFollowing: () => said.push('following'),
  }).catch((error) => error);
  await until(() => looks > 0);
  isAway = true;
  cut.abort();
  cut = new AbortController();
  await until(() => refused > 5 && said.length > 0);
  isAway = false;
  await until(() => said.includes('following'));
  await cancel(name!);
  expect(await wait).toMatchObject(cancelled);
  expect(said).toEqual(['polling', 'following']);
  // Unlike a wait that has already begun, a new wait fails immediately while the exchange is unreachable.
  isAway = true;
  await expect(waitForMeasurement(client, name!)).rejects.toThrow('fetch failed');
});
