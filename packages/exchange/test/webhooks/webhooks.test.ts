import { UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import { castOf, errorOf, get, ok, post, stored } from '@measurement-exchange/testkit/steps';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { addWebhook, logChanges, type Receiver, removeWebhooks, startReceiver } from './receiver.ts';

const exchange = useExchange({ rate: UNLIMITED });
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;
const input = {
  url: 'http://127.0.0.1:9/mex',
  filter: { kinds: ['MEASUREMENT'] },
  description: 'ours',
};

afterEach(removeWebhooks);

const acme = () => castOf(exchange).acme;
const call = (method: string, name: string, body?: unknown) =>
  exchange.call(acme().token, method, `/v2alpha/${name}`, body);
/** Creates a paused webhook, so that nothing is sent to its URL. */
async function paused(): Promise<{ name: string; secret: string }> {
  const webhook = await addWebhook(exchange, acme(), { ...input, secrets: [] } as unknown as Receiver, input);
  await ok(call('PATCH', webhook.name, { state: 'PAUSED' }));
  return webhook;
}

describe('a webhook', () => {
  it('is created, read, listed, updated and deleted', async () => {
    const { secret, ...created } = await ok(post(exchange, acme(), `${acme().name}/webhooks`, input));
    expect(secret).toMatch(SECRET);
    const [createTime, updateTime] = [created.createTime, created.updateTime];
    expect(created).toEqual({ name: created.name, ...input, state: 'ACTIVE', createTime, updateTime });
    expect(await get(exchange, acme(), created.name)).toEqual(created);
    expect(await get(exchange, acme(), `${acme().name}/webhooks`)).toEqual({ webhooks: [created] });
    const updated = await ok(call('PATCH', created.name, { description: 'theirs', state: 'PAUSED' }));
    expect(updated).toMatchObject({ ...input, description: 'theirs', state: 'PAUSED' });
    expect(updated.pauseReason).toBe('The owner paused it.');
    expect(await ok(call('DELETE', created.name))).toEqual(updated);
    expect(errorOf(await call('GET', created.name))).toBe('404 NOT_FOUND WEBHOOK_NOT_FOUND');
  });

  it.each([
    ['http://10.0.0.1/', 'url'],
    ['http://169.254.169.254/latest/meta-data', 'url'],
    ['ftp://example.com/', 'url'],
    ['https://user:password@example.com/', 'url'],
  ])('is rejected with the URL %s', async (url, field) => {
    const violation = `400 INVALID_ARGUMENT INVALID_FIELD_VALUE ${field}`;
    expect(errorOf(await post(exchange, acme(), `${acme().name}/webhooks`, { ...input, url }))).toBe(
      violation,
    );
    const { name } = await paused();
    expect(errorOf(await call('PATCH', name, { url }))).toBe(violation);
  });

  it('is limited to 10 per party, even if 12 are created concurrently', async () => {
    const { globex } = castOf(exchange);
    const create = () => post(exchange, globex, `${globex.name}/webhooks`, input);
    const replies = await Promise.all(Array.from({ length: 12 }, create));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(10);
    const rejected = replies.filter(({ status }) => status !== 200).map(errorOf);
    expect(rejected).toEqual(Array(2).fill('400 FAILED_PRECONDITION TOO_MANY_WEBHOOKS'));
  });

  it('returns its secret only when it is created or rotated, and never stores or logs it in plain text', async () => {
    const { name, secret } = await paused();
    const rotated = await ok(post(exchange, acme(), `${name}:rotateSecret`));
    expect(rotated.secret).toMatch(SECRET);
    expect(rotated.secret).not.toBe(secret);
    const shown = await Promise.all([
      get(exchange, acme(), name),
      get(exchange, acme(), `${acme().name}/webhooks`),
      ok(call('PATCH', name, { description: 'x' })),
      ok(post(exchange, acme(), `${name}:redeliver`, { from: '2026-01-01T00:00:00Z' })),
      ok(call('POST', `${name}:rotateSecret?validateOnly=true`)),
    ]);
    const everything = JSON.stringify([shown, await stored(exchange), await exchange.logs()]);
    for (const text of [secret, rotated.secret]) {
      const bytes = Buffer.from(text.slice('whsec_'.length), 'base64');
      expect(everything).not.toContain(text);
      expect(everything).not.toContain(bytes.toString('hex'));
    }
  });
});

describe('deliveries', () => {
  it('are signed with both secrets for 24 hours after a rotation, and then only with the new one', async () => {
    const receiver = await startReceiver();
    const { name, secret, createTime } = await addWebhook(exchange, acme(), receiver);
    const rotated = await ok(post(exchange, acme(), `${name}:rotateSecret`));
    const arrives = async (prefix: string) => {
      await logChanges(exchange, acme(), prefix, 1, 1);
      await vi.waitFor(
        () => expect(receiver.received.some((e) => e.name.endsWith(`/${prefix}1`))).toBe(true),
        30_000,
      );
    };
    const [{ hours }] = (await exchange.database.query(
      `SELECT extract(epoch FROM old_secret_expiry - now())::float8 / 3600 AS hours FROM webhooks WHERE old_secret IS NOT NULL`,
    )) as [{ hours: number }];
    expect(hours).toBeGreaterThan(23.9);
    expect(hours).toBeLessThanOrEqual(24);
    const { updateTime } = await get(exchange, acme(), name);
    expect([updateTime, updateTime > createTime]).toEqual([rotated.updateTime, true]);
    receiver.secrets = [secret];
    await arrives('old');
    receiver.secrets = [rotated.secret];
    await arrives('new');
    expect(receiver.forged).toBe(0);
    await exchange.database.query(
      'UPDATE webhooks SET old_secret_expiry = now() WHERE old_secret IS NOT NULL',
    );
    receiver.secrets = [secret];
    await logChanges(exchange, acme(), 'expired', 1, 1);
    await vi.waitFor(() => expect(receiver.forged).toBeGreaterThan(0), 30_000);
    await receiver.leave();
  });

  it('of a test are sent even to a paused webhook, are attempted only once, and are listed in pages', async () => {
    const receiver = await startReceiver();
    const { name } = await addWebhook(exchange, acme(), receiver);
    await ok(call('PATCH', name, { state: 'PAUSED' }));
    // While the webhook is paused, changes do not become deliveries.
    await logChanges(exchange, acme(), 'meanwhile', 1, 1);
    receiver.respond = () => 500;
    expect(await ok(post(exchange, acme(), `${name}:test`))).toMatchObject({
      kind: 'TEST',
      state: 'PENDING',
    });
    const states = async (query = '') => {
      const page = await get(exchange, acme(), `${name}/deliveries${query}`);
      return { states: page.deliveries.map((d: { state: string }) => d.state), next: page.nextPageToken };
    };
    await vi.waitFor(async () => expect((await states()).states).toEqual(['FAILED']), 30_000);
    receiver.respond = () => 200;
    await ok(post(exchange, acme(), `${name}:test`));
    await vi.waitFor(async () => expect((await states()).states).toEqual(['DELIVERED', 'FAILED']), 30_000);
    expect(receiver.received).toEqual([expect.objectContaining({ type: 'webhook.test', name })]);
    const first = await states('?pageSize=1');
    expect(first.states).toEqual(['DELIVERED']);
    expect(await states(`?pageSize=1&pageToken=${first.next}`)).toEqual({
      states: ['FAILED'],
      next: undefined,
    });
    await receiver.leave();
  });

  it('set skippedTime of the webhook if the log no longer contains all changes', async () => {
    const receiver = await startReceiver();
    const { name } = await addWebhook(exchange, acme(), receiver);
    await exchange.database.query(`UPDATE webhooks SET cursor_xid = '1', cursor_seq = 1`);
    await logChanges(exchange, acme(), 'kept', 1, 1);
    await vi.waitFor(
      () => expect(receiver.received.some((e) => e.name.endsWith('/kept1'))).toBe(true),
      30_000,
    );
    expect((await get(exchange, acme(), name)).skippedTime).toEqual(expect.any(String));
    await receiver.leave();
  });
});
