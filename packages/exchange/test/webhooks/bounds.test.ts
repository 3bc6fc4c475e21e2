/**
 * Tests the limits on the deliveries that a party can cause. The limits protect other servers, because a party does not
 * have to prove that it owns the endpoint.
 */
import { type DevParty, useExchange } from '@measurement-exchange/testkit/exchange';
import { castOf, errorOf, get, ok, post } from '@measurement-exchange/testkit/steps';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { addWebhook, logChanges, type Receiver, removeWebhooks, startReceiver } from './receiver.ts';

const PARTY_PER_SECOND = 1;
/** The maximum number of deliveries at once: as many as the rate of a party allows in ten seconds. */
const BURST = 10 * PARTY_PER_SECOND;
const exchange = useExchange({
  rate: { perSecond: 1e6, burst: 1e6 },
  webhooks: { deniedNetworks: [], perSecond: 1e6, partyPerSecond: PARTY_PER_SECOND },
});
let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await receiver.leave();
  await removeWebhooks();
});

const LIMIT = '429 RESOURCE_EXHAUSTED TOO_MANY_DELIVERIES';
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
const redeliver = (party: DevParty, webhook: { name: string }, from = minutesAgo(1), query = '') =>
  post(exchange, party, `${webhook.name}:redeliver${query}`, { from });
const pause = (party: DevParty, webhook: { name: string }) =>
  ok(exchange.call(party.token, 'PATCH', `/v2alpha/${webhook.name}`, { state: 'PAUSED' }));
/**
 * Waits until the first page has at least `atLeast` changes, and returns their number. Transactions of other tests on
 * this server can delay changes.
 */
async function shown(party: DevParty, atLeast: number): Promise<number> {
  const read = async (): Promise<number> =>
    (await get(exchange, party, `${party.name}/changes?from=OLDEST&pageSize=1000`)).changes.length;
  await expect.poll(read).toBeGreaterThanOrEqual(atLeast);
  return read();
}

it('a redelivery of more than 1,000 changes is rejected, and nothing is sent', async () => {
  const { streamly } = castOf(exchange);
  await logChanges(exchange, streamly, 'many', 10_000, 1);
  await shown(streamly, 1000);
  const webhook = await addWebhook(exchange, streamly, receiver);
  for (let i = 0; i < 10; i++) {
    expect(errorOf(await redeliver(streamly, webhook))).toBe(`${LIMIT} from`);
  }
  // A redelivery with a filter is accepted, because the exchange neither counts nor delivers changes that the filter
  // excludes.
  const filtered = await addWebhook(exchange, streamly, receiver, { filter: { kinds: ['CERTIFICATE'] } });
  await ok(redeliver(streamly, filtered));
  expect(receiver.received).toEqual([]);
});

it('a party is limited to 1,000 redelivered changes per hour across all its requests and webhooks', async () => {
  const { acme } = castOf(exchange);
  await logChanges(exchange, acme, 'hour', 250, 1);
  // Pause the webhooks, so that no delivery moves their cursors in the log. A redelivery counts the changes up to the
  // cursor, so `rewound` sets each cursor to the end of the log.
  const webhooks = [await addWebhook(exchange, acme, receiver), await addWebhook(exchange, acme, receiver)];
  for (const webhook of webhooks) await pause(acme, webhook);
  const rewound = () =>
    exchange.database.query(`UPDATE webhooks w SET (cursor_xid, cursor_seq) =
      (SELECT xid, seq FROM changes c WHERE c.party = w.party ORDER BY xid DESC, seq DESC LIMIT 1)`);
  await rewound();
  const count = Math.floor(1000 / (await shown(acme, 250)));
  const accepted: number[] = [];
  for (let i = 0; i < 40; i++) {
    const reply = await redeliver(acme, webhooks[i % 2]!, minutesAgo(30));
    accepted.push(reply.status);
    await rewound();
    if (reply.status === 200) continue;
    expect(errorOf(reply)).toBe(`${LIMIT} from`);
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(3000);
  }
  expect(accepted).toEqual(Array.from({ length: 40 }, (_, i) => (i < count ? 200 : 429)));
  expect((await redeliver(acme, webhooks[0]!, minutesAgo(30), '?validateOnly=true')).status).toBe(429);

  await exchange.database.query(`UPDATE webhook_redeliveries SET since = since - interval '59 minutes'`);
  expect((await redeliver(acme, webhooks[0]!, minutesAgo(90))).status).toBe(429);
  await exchange.database.query(`UPDATE webhook_redeliveries SET since = since - interval '1 minute'`);
  await ok(redeliver(acme, webhooks[0]!, minutesAgo(90)));
});

it('a redelivery of a single delivery is rejected after 1,000 redeliveries within an hour', async () => {
  const { globex } = castOf(exchange);
  const webhook = await addWebhook(exchange, globex, receiver);
  const { webhookId } = await ok(post(exchange, globex, `${webhook.name}:test`, {}));
  const resendAfter = async (count: number) => {
    await exchange.database.query(
      `INSERT INTO webhook_redeliveries VALUES ($1, now(), $2) ON CONFLICT (party) DO UPDATE SET count = $2, since = now()`,
      [globex.name, count],
    );
    return (await post(exchange, globex, `${webhook.name}:redeliver`, { webhookId })).status;
  };
  expect([await resendAfter(999), await resendAfter(1000)]).toEqual([200, 429]);
});

it('deliveries beyond the rate limit wait, and are not counted as failed', async () => {
  const { chirper } = castOf(exchange);
  await addWebhook(exchange, chirper, receiver);
  const begun = performance.now();
  await logChanges(exchange, chirper, 'flood', 1_000, 1);
  await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(BURST + 3), {
    timeout: 50_000,
    interval: 20,
  });
  expect(receiver.received.length).toBeLessThanOrEqual(
    BURST + (PARTY_PER_SECOND * (performance.now() - begun)) / 1000,
  );
  const failed = await exchange.database.query(
    `SELECT 1 FROM webhook_deliveries WHERE first_failure_time IS NOT NULL OR attempts > 1`,
  );
  expect(failed).toEqual([]);
});

it('a webhook accepts 10 pending tests, and rejects further ones', async () => {
  const { streamly } = castOf(exchange);
  const held = Promise.withResolvers<number>();
  receiver.respond = () => held.promise;
  const { name } = await addWebhook(exchange, streamly, receiver);
  const replies: string[] = [];
  for (let i = 0; i < 100; i++) {
    const reply = await post(exchange, streamly, `${name}:test`);
    replies.push(reply.status === 200 ? 'ok' : errorOf(reply));
  }
  expect(replies).toEqual(Array.from({ length: 100 }, (_, i) => (i < 10 ? 'ok' : LIMIT)));
  held.resolve(204);
  await vi.waitFor(async () => ok(post(exchange, streamly, `${name}:test`)), {
    timeout: 50_000,
    interval: 200,
  });
});
