/**
 * Tests API keys of measurement consumers: creating, using, and deleting keys over REST, and the party that a key
 * authenticates.
 */
import { useExchange } from '@measurement-exchange/testkit/exchange';
import { asOperator } from '@measurement-exchange/testkit/operator';
import { castOf, ok, post } from '@measurement-exchange/testkit/steps';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKeyVerifier } from '../../src/auth/apiKeys.ts';
import { unacceptable } from '../../src/auth/verified.ts';
import { findApiKey } from '../../src/database/apiKeys.ts';
import { Database } from '../../src/database/db.ts';

const exchange = useExchange();
const DAY_MS = 24 * 3600_000;
let db: Database;

beforeAll(() => {
  db = new Database({ connection: { connectionString: exchange.database.url }, applicationName: 'test' });
});
afterAll(() => db.close());

function verifier(start = Date.now()) {
  const state = { now: start };
  const made = createApiKeyVerifier({ lookup: (keyHash) => findApiKey(db, keyHash), clock: () => state.now });
  const outcome = (key: string) =>
    made.verify(key).then(
      (verified) => verified.claimedPrincipal,
      (error) => error.cause as string,
    );
  return { ...made, outcome, state };
}

async function create(body: object = { displayName: 'Reporting' }) {
  const { acme } = castOf(exchange);
  return ok(post(exchange, acme, `${acme.name}/apiKeys`, body));
}

const remove = (name: string) => {
  const { acme } = castOf(exchange);
  return exchange.call(acme.token, 'DELETE', `/v2alpha/${name}`);
};

describe('an API key', () => {
  it('is shown once, is stored as a hash, and is in no log line', async () => {
    const { acme } = castOf(exchange);
    const created = await create({ displayName: 'Reporting', description: 'The nightly job' });
    expect(created).toMatchObject({ displayName: 'Reporting', description: 'The nightly job' });
    expect(created.name).toMatch(/^measurementConsumers\/acme\/apiKeys\/[a-z][a-z0-9]+$/);
    expect(created.authenticationKey).toMatch(/^mex_[A-Za-z0-9_-]{43}$/);
    const { apiKeys } = await ok(exchange.call(acme.token, 'GET', `/v2alpha/${acme.name}/apiKeys`));
    const { authenticationKey: _, ...shown } = created;
    expect(apiKeys).toContainEqual(shown);
    const [row] = await exchange.database.query('SELECT k::text AS stored FROM api_keys k WHERE id = $1', [
      created.name.split('/').at(-1),
    ]);
    expect(row!.stored).not.toContain(created.authenticationKey.slice(4));
    await verifier().outcome(created.authenticationKey);
    expect((await exchange.logs()).join('\n')).not.toContain(created.authenticationKey.slice(4));
  });

  it('is valid for 90 days by default, and for a year at most', async () => {
    const lifeOf = ({ createTime, expireTime }: { createTime: string; expireTime: string }) =>
      (Date.parse(expireTime) - Date.parse(createTime)) / DAY_MS;
    expect(lifeOf(await create())).toBeCloseTo(90, 3);
    const until = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
    expect(lifeOf(await create({ displayName: 'Long', expireTime: until(365) }))).toBeCloseTo(365, 1);
    const { acme } = castOf(exchange);
    for (const days of [-1, 368]) {
      const body = { displayName: 'Wrong', expireTime: until(days) };
      const { status, json: error } = await post(exchange, acme, `${acme.name}/apiKeys`, body);
      expect(status).toBe(400);
      expect(JSON.stringify(error)).toContain('"field":"expireTime"');
    }
  });

  it('can be created and deleted by the operator, too, and every change is audited', async () => {
    const path = 'measurementConsumers/globex/apiKeys';
    const { name } = await ok(asOperator(exchange, 'POST', path, { displayName: 'For a stock client' }));
    await ok(asOperator(exchange, 'DELETE', name));
    const audited = async () => {
      const { auditEntries } = await ok(asOperator(exchange, 'GET', 'auditEntries?pageSize=1000'));
      return auditEntries.flatMap((entry: { name: string; operation: string }) =>
        entry.name === name ? entry.operation : [],
      );
    };
    // An entry is listed only after all older transactions have ended, including transactions of other tests.
    await expect.poll(async () => (await audited()).toSorted()).toEqual(['createApiKey', 'deleteApiKey']);
    expect((await asOperator(exchange, 'DELETE', name)).status).toBe(404);
  });

  it('is validated but not created with validateOnly', async () => {
    const { acme } = castOf(exchange);
    const path = `${acme.name}/apiKeys?validateOnly=true`;
    const validated = await ok(post(exchange, acme, path, { displayName: 'Never' }));
    expect(validated).not.toHaveProperty('authenticationKey');
    const { apiKeys } = await ok(exchange.call(acme.token, 'GET', `/v2alpha/${acme.name}/apiKeys`));
    expect(apiKeys.map((key: { displayName: string }) => key.displayName)).not.toContain('Never');
  });

  it('is rejected beyond the limit of 50 per consumer, even if many are created concurrently', async () => {
    const { globex } = castOf(exchange);
    const made = await Promise.all(
      Array.from({ length: 60 }, () =>
        post(exchange, globex, `${globex.name}/apiKeys`, { displayName: 'k' }),
      ),
    );
    const statuses = made.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([...Array(50).fill(200), ...Array(10).fill(400)]);
  });

  it('is rejected as a bearer token', async () => {
    const { authenticationKey } = await create();
    expect((await exchange.call(authenticationKey, 'GET', '/v2alpha/whoami')).status).toBe(401);
  });
});

describe('the holder of an API key', () => {
  it('is authenticated as the consumer, with the name of the key as the subject', async () => {
    const { name, authenticationKey, expireTime } = await create();
    const { verify, recall } = verifier();
    const verified = await verify(authenticationKey);
    expect(verified).toEqual({
      issuer: 'api-key',
      subject: name,
      expiresAt: Date.parse(expireTime) / 1000,
      claimedPrincipal: 'measurementConsumers/acme',
    });
    expect(recall(authenticationKey)).toBe(verified);
  });

  it('is rejected with the same error for an unknown, malformed or changed key', async () => {
    const { authenticationKey: key } = await create();
    const last = key.at(-1) === 'A' ? 'E' : 'A';
    for (const wrong of [
      '',
      'mex_',
      `${key} `,
      key.slice(1),
      `${key.slice(0, -1)}${last}`,
      key.toLowerCase(),
      'ä',
    ]) {
      const error = await verifier()
        .verify(wrong)
        .catch((e) => e);
      expect(error.toJSON()).toEqual(unacceptable('').toJSON());
      expect(error.cause).toMatch(/^the API key is (malformed|unknown)$/);
    }
  });

  it('is rejected once the key has expired, even if it was accepted a moment before', async () => {
    const expireTime = new Date(Date.now() + 3600_000).toISOString();
    const { authenticationKey } = await create({ displayName: 'Short', expireTime });
    const { outcome, recall, state } = verifier(Date.parse(expireTime) - 1);
    expect(await outcome(authenticationKey)).toBe('measurementConsumers/acme');
    state.now += 1;
    expect(recall(authenticationKey)).toBeUndefined();
    expect(await outcome(authenticationKey)).toBe('the API key has expired');
  });

  it('is rejected 30 s after the key was deleted through another replica', async () => {
    const { name, authenticationKey } = await create();
    const { outcome, state } = verifier();
    await outcome(authenticationKey);
    await ok(remove(name));
    state.now += 29_999;
    expect(await outcome(authenticationKey)).toBe('measurementConsumers/acme');
    state.now += 1;
    expect(await outcome(authenticationKey)).toBe('the API key is unknown');
  });

  it('is rejected immediately by the replica that deleted the key, even with a lookup in progress', async () => {
    const { name, authenticationKey } = await create();
    const { outcome, verify, recall, invalidate } = verifier();
    const underWay = verify(authenticationKey);
    await underWay;
    const again = verify(authenticationKey);
    await ok(remove(name));
    invalidate();
    await again;
    expect(recall(authenticationKey)).toBeUndefined();
    expect(await outcome(authenticationKey)).toBe('the API key is unknown');
  });
});
