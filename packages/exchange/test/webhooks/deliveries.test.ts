/**
 * Tests deliveries to a receiver that uses the Standard Webhooks library. The receiver is slow, failing, unreachable,
 * or reachable again.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { SECRETS_KEY_BYTES, Secrets } from '@measurement-exchange/server';
import { useExchange } from '@measurement-exchange/testkit/exchange';
import { useReplica } from '@measurement-exchange/testkit/replica';
import { rounds } from '@measurement-exchange/testkit/rounds';
import {
  castOf,
  createMeasurement,
  errorOf,
  fulfill,
  get,
  ok,
  post,
  requisitionOf,
} from '@measurement-exchange/testkit/steps';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ChangeBus } from '../../src/feed/changeBus.ts';
import { Feed } from '../../src/feed/feed.ts';
import { Deliverer } from '../../src/webhooks/deliverer.ts';
import { Destinations } from '../../src/webhooks/destinations.ts';
import {
  addWebhook,
  logChanges,
  passTime,
  type Received,
  type Receiver,
  removeWebhooks,
  startReceiver,
} from './receiver.ts';

const DELIVERIES = rounds(10_000, 100);
const VERSIONS = 5;
/** The timeout of each wait. It is this long only for busy machines. Usually, a wait ends much sooner. */
const PATIENCE_MS = 50_000 + 20 * DELIVERIES;

const UNLIMITED_WEBHOOKS = { deniedNetworks: [], perSecond: 1e6, partyPerSecond: 1e6 };
const exchange = useExchange({ webhooks: UNLIMITED_WEBHOOKS });
const replica = useReplica(exchange);
let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await receiver.leave().catch(() => {});
  await removeWebhooks();
});

const until = (condition: () => void | Promise<void>) =>
  vi.waitFor(condition, { timeout: PATIENCE_MS, interval: 50 });
const keys = (events: Received[]) => events.map(({ name, version }) => `${name} ${version}`);

/**
 * Returns the events that are out of order. The version in an event must be the same as in the previous event of the
 * resource, or one higher.
 */
function disordered(events: Received[]): string[] {
  const last = new Map<string, number>();
  return events.flatMap((event) => {
    const before = last.get(event.name) ?? 0;
    last.set(event.name, event.version);
    return [before, before + 1].includes(event.version) ? [] : [`${event.name} ${before} ${event.version}`];
  });
}

it('every version of a measurement and a requisition is delivered to its party in order', async () => {
  const { acme, streamly } = castOf(exchange);
  const theirs = await startReceiver();
  await addWebhook(exchange, acme, receiver, { filter: { kinds: ['MEASUREMENT'] } });
  await addWebhook(exchange, streamly, theirs, { filter: { kinds: ['REQUISITION'] } });
  const measurement = await createMeasurement(exchange, acme, [streamly]);
  const requisition = await requisitionOf(exchange, streamly, measurement);
  await ok(fulfill(exchange, streamly, requisition, 1n));
  await until(() => {
    expect(keys(receiver.received)).toEqual([1, 2, 3].map((version) => `${measurement.name} ${version}`));
    expect(keys(theirs.received)).toEqual([1, 2].map((version) => `${requisition.name} ${version}`));
  });
  expect(receiver.received[0]!.type).toBe('measurement.changed');
  await theirs.leave();
});

it(
  'deliveries lose nothing and keep the order per resource if the receiver is slow, failing or down',
  async () => {
    const { acme } = castOf(exchange);
    await addWebhook(exchange, acme, receiver);
    let n = 0;
    receiver.respond = async () => {
      n += 1;
      if (n % 7 === 0) return 500;
      if (n % 11 === 0) await sleep(20);
      return 204;
    };
    const resources = DELIVERIES / VERSIONS;
    await logChanges(exchange, acme, 'r', resources, VERSIONS);
    const share = (part: number) => () => expect(receiver.received.length).toBeGreaterThan(part * DELIVERIES);
    const wait = async (condition: () => void) => {
      await until(async () => {
        await passTime(exchange);
        condition();
      });
    };
    await wait(share(0.2));
    await receiver.leave();
    await sleep(100);
    await receiver.comeBack();
    await wait(() => expect(new Set(keys(receiver.received)).size).toBe(DELIVERIES));
    expect(disordered(receiver.received)).toEqual([]);
    expect(receiver.forged).toBe(0);
  },
  3 * PATIENCE_MS,
);

it('a redelivered change has the same ID as its first delivery', async () => {
  // Use globex, because acme has more changes than can be redelivered.
  const { globex } = castOf(exchange);
  const { name } = await addWebhook(exchange, globex, receiver);
  await logChanges(exchange, globex, 'again', 1, 2);
  await until(() => expect(receiver.received).toHaveLength(2));
  const from = new Date(Date.now() - 60_000).toISOString();
  await ok(post(exchange, globex, `${name}:redeliver`, { from }));
  await until(() => expect(receiver.received.filter((e) => e.name.includes('again'))).toHaveLength(4));
  const ids = receiver.received.filter((e) => e.name.includes('again')).map(({ id }) => id);
  expect(ids.slice(2)).toEqual(ids.slice(0, 2));
});

it('redeliver sends a single delivery again by its webhookId', async () => {
  const { acme, globex } = castOf(exchange);
  const { name } = await addWebhook(exchange, acme, receiver);
  await logChanges(exchange, acme, 'single', 2, 1);
  const ours = () => receiver.received.filter((e) => e.name.includes('single'));
  await until(() => expect(ours()).toHaveLength(2));
  const deliveries = async () => (await get(exchange, acme, `${name}/deliveries`)).deliveries;
  await until(async () =>
    expect((await deliveries()).map((d: { state: string }) => d.state)).not.toContain('PENDING'),
  );
  const { webhookId, type, body, resource } = (await deliveries()).at(-1);
  expect([type, JSON.parse(body)]).toEqual([
    'measurement.changed',
    { type, timestamp: expect.any(String), data: expect.objectContaining({ name: resource }) },
  ]);
  for (const wrong of [{}, { webhookId: 'msg_other' }, { webhookId, from: new Date().toISOString() }]) {
    expect(errorOf(await post(exchange, acme, `${name}:redeliver`, wrong))).toMatch(/^400 INVALID_ARGUMENT/);
  }
  expect((await post(exchange, globex, `${name}:redeliver`, { webhookId })).status).toBe(403);
  await ok(post(exchange, acme, `${name}:redeliver`, { webhookId }));
  await until(() => expect(ours()).toHaveLength(3));
  expect(ours()[2]).toMatchObject({ id: webhookId, name: resource });
});

it('the list of deliveries shows attempts, status and the time of the next attempt', async () => {
  const { acme } = castOf(exchange);
  const { name } = await addWebhook(exchange, acme, receiver);
  receiver.respond = () => 503;
  await logChanges(exchange, acme, 'shown', 1, 2);
  const shown = async () => (await get(exchange, acme, `${name}/deliveries`)).deliveries;
  await until(async () => {
    const deliveries = await shown();
    expect(deliveries).toEqual([
      expect.objectContaining({ version: 2, state: 'PENDING', attempts: 0 }),
      expect.objectContaining({
        ...{ version: 1, state: 'PENDING', status: 503, kind: 'MEASUREMENT' },
        ...{ nextAttemptTime: expect.any(String), milliseconds: expect.any(Number) },
      }),
    ]);
    // The number of attempts may be above 1, because transactions of other tests may delay the second change until
    // after the first retry.
    expect(deliveries[1].attempts).toBeGreaterThan(0);
  });
});

it('a retry waits for the time in Retry-After if it is longer than the backoff', async () => {
  const { acme } = castOf(exchange);
  const { name } = await addWebhook(exchange, acme, receiver);
  receiver.respond = () => 429;
  receiver.retryAfter = '3600';
  await logChanges(exchange, acme, 'asked', 1, 1);
  await until(async () => {
    const [{ attempts, nextAttemptTime }] = (await get(exchange, acme, `${name}/deliveries`)).deliveries;
    expect(attempts).toBe(1);
    expect(Date.parse(nextAttemptTime) - Date.now()).toBeGreaterThan(3_500_000);
  });
  const metrics = await (await fetch(`${exchange.url}/metrics`)).text();
  expect(metrics).toMatch(/mex_webhook_deliveries_total\{outcome="rejected"\} [1-9]/);
  expect(metrics).toMatch(/mex_webhook_deliveries_total\{outcome="delivered"\} [1-9]/);
  expect(metrics).toMatch(/mex_webhook_lag_seconds_count [1-9]/);
});

it('a delivery starts after the commit, without waiting for a run of the job', async () => {
  const { acme, streamly } = castOf(exchange);
  await addWebhook(exchange, acme, receiver);
  await logChanges(exchange, acme, 'known', 1, 1);
  await until(() => expect(receiver.received).toHaveLength(1));
  const run = vi.spyOn(Deliverer.prototype, 'run').mockResolvedValue(false);
  try {
    const { name } = await createMeasurement(exchange, acme, [streamly]);
    await until(() => expect(keys(receiver.received)).toContain(`${name} 1`));
  } finally {
    run.mockRestore();
  }
});

it('a webhook that failed for 3 days is paused, and continues without gaps when its owner resumes it', async () => {
  const { acme } = castOf(exchange);
  const { name } = await addWebhook(exchange, acme, receiver);
  await receiver.leave();
  await logChanges(exchange, acme, 'dead', 2, 2);
  await until(async () => {
    const { deliveries } = await get(exchange, acme, `${name}/deliveries`);
    expect(deliveries.some((d: { error?: string }) => d.error === 'the connection was refused')).toBe(true);
  });
  await exchange.database.query(
    `UPDATE webhook_deliveries SET first_failure_time = now() - interval '73 hours' WHERE attempts > 0`,
  );
  await passTime(exchange);
  await until(async () => expect(await get(exchange, acme, name)).toMatchObject({ state: 'PAUSED' }));
  expect((await get(exchange, acme, name)).pauseReason).toMatch(/failed for 3 days/);

  await receiver.comeBack();
  await logChanges(exchange, acme, 'later', 1, 1);
  await passTime(exchange);
  await sleep(700);
  expect(receiver.received).toEqual([]);
  await ok(exchange.call(acme.token, 'PATCH', `/v2alpha/${name}`, { state: 'ACTIVE' }));
  await until(() => expect(new Set(keys(receiver.received)).size).toBe(5));
  expect(disordered(receiver.received)).toEqual([]);
});

it('a slow endpoint of one party does not delay deliveries to another party', async () => {
  const { acme, globex } = castOf(exchange);
  const slow = await startReceiver();
  const { promise, resolve } = Promise.withResolvers<number>();
  slow.respond = () => promise;
  for (let i = 0; i < 6; i++) await addWebhook(exchange, acme, slow);
  await addWebhook(exchange, globex, receiver);
  await logChanges(exchange, acme, 'slow', 20, 1);
  await logChanges(exchange, globex, 'quick', 20, 1);
  await until(() => expect(receiver.received).toHaveLength(20));
  expect(slow.received).toEqual([]);
  resolve(204);
  await slow.leave();
});

it('another exchange delivers only after the lease has expired, and a late result of the first is ignored', async () => {
  const { acme } = castOf(exchange);
  const { name } = await addWebhook(exchange, acme, receiver);
  const held = Promise.withResolvers<number>();
  const arrived: Received[] = [];
  receiver.respond = (event) => {
    arrived.push(event);
    return arrived.length === 1 ? held.promise : 204;
  };
  await logChanges(exchange, acme, 'leased', 1, 1);
  await until(() => expect(arrived).toHaveLength(1));

  const [key] = await exchange.database.query(`SELECT value FROM settings WHERE key = 'devSecretsKey'`);
  const secret = Buffer.from(key!.value as string, 'base64');
  expect(secret).toHaveLength(SECRETS_KEY_BYTES);
  const shared = replica(0);
  const feed = new Feed(shared.db, new ChangeBus());
  const other = new Deliverer({
    ...shared,
    feed,
    secrets: new Secrets(secret),
    destinations: new Destinations(UNLIMITED_WEBHOOKS, true),
  });
  const holder = () => exchange.database.query('SELECT lease_owner, lease_expiry FROM webhooks ORDER BY id');
  const before = await holder();
  expect(await other.run()).toBe(false);
  expect(await holder()).toEqual(before);
  expect(arrived).toHaveLength(1);

  // Let the lease of the first deliverer expire. This deliverer is still waiting for a response.
  await exchange.database.query(`UPDATE webhooks SET lease_expiry = now() - interval '1 second'`);
  await until(() => expect(arrived).toHaveLength(2));
  await until(async () => {
    await other.run();
    const { deliveries } = await get(exchange, acme, `${name}/deliveries`);
    expect(deliveries).toEqual([expect.objectContaining({ state: 'DELIVERED', attempts: 1 })]);
  });
  held.resolve(500);
  await other.stop();
  feed.stop();
  await sleep(200);
  const { deliveries } = await get(exchange, acme, `${name}/deliveries`);
  expect(deliveries).toEqual([expect.objectContaining({ state: 'DELIVERED', attempts: 1, status: 204 })]);
});
