/** Tests the client against a running exchange, with real HTTP and a real PostgreSQL server. */
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MAX_UINT64 } from '@measurement-exchange/contract';
import { startExchange } from '@measurement-exchange/testkit/exchange';
import { describe, expect, it } from 'vitest';
import { createClient, retryOnAborted } from '../../src/index.ts';
import {
  cast,
  clientOf,
  create,
  exchange,
  newFulfillment,
  newMeasurement,
  requisitionOf,
  useExchange,
} from './world.ts';

useExchange();

describe('a list', () => {
  it('returns each item exactly once, with any page size', async () => {
    const parent = cast.dailynews.name;
    const client = clientOf(cast.dailynews);
    const requests = Array.from({ length: 23 }, () => ({
      eventGroup: { measurementConsumer: cast.globex.name },
    }));
    const { eventGroups } = await client.batchCreateEventGroups({ parent, body: { requests } });
    const names = eventGroups.map((g) => g.name).sort();
    for (const pageSize of [1, 7, 23, 24, undefined]) {
      const listed = await Array.fromAsync(client.listEventGroups({ parent, pageSize }));
      expect(listed.map((g) => g.name).sort()).toEqual(names);
    }
  });
});

describe('a nonce', () => {
  it.each([MAX_UINT64, MAX_UINT64 - 1n, 2n ** 53n + 1n, 0n])(
    'of %d is stored exactly, and a nonce with another last bit is rejected',
    async (nonce) => {
      const measurement = await create([cast.streamly], [nonce]);
      const { name, etag } = await requisitionOf(cast.streamly, measurement);
      const client = clientOf(cast.streamly);
      await client.fulfillDirectRequisition({
        name: name!,
        body: newFulfillment(cast.streamly, etag!, nonce),
      });
      expect((await client.getRequisition({ name: name! })).nonce).toBe(nonce);
      const wrong = { ...newFulfillment(cast.streamly, etag!), nonce: nonce ^ 1n };
      const other = await requisitionOf(cast.streamly, await create([cast.streamly], [nonce]));
      await expect(
        client.fulfillDirectRequisition({ name: other.name!, body: { ...wrong, etag: other.etag! } }),
      ).rejects.toMatchObject({ reason: 'NONCE_MISMATCH', code: 'INVALID_ARGUMENT' });
    },
  );
});

describe('a request without a response', () => {
  /**
   * Starts a proxy that drops the exchange's responses to the first `replies` requests. The exchange executes these
   * requests, but the client gets no response.
   */
  async function swallowing(replies: number) {
    const seen: string[] = [];
    const server: Server = createServer(async (incoming: IncomingMessage, outgoing) => {
      const body = Buffer.concat(await Array.fromAsync(incoming));
      seen.push(`${incoming.method} ${incoming.url} ${body}`);
      const { method, url, headers } = incoming;
      const forwarded = request(`${exchange.url}${url}`, { method, headers }, async (reply) => {
        const text = Buffer.concat(await Array.fromAsync(reply));
        if (seen.length <= replies) return outgoing.destroy();
        outgoing.writeHead(reply.statusCode!, reply.headers).end(text);
      });
      forwarded.end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      seen,
      close: () => server.close(),
    };
  }
  const instantly = { now: Date.now, sleep: async () => {} };

  it('that creates a measurement is retried with the same bytes, and creates it once', async () => {
    const proxy = await swallowing(2);
    const client = clientOf(cast.globex, { baseUrl: proxy.url, clock: instantly });
    const list = () => Array.fromAsync(clientOf(cast.globex).listMeasurements({ parent: cast.globex.name }));
    const before = await list();
    const measurement = await client.createMeasurement({
      parent: cast.globex.name,
      body: newMeasurement(cast.globex, [cast.streamly, cast.chirper]),
    });
    proxy.close();
    expect(proxy.seen).toHaveLength(3);
    expect(new Set(proxy.seen).size).toBe(1);
    const after = await list();
    expect(after).toHaveLength(before.length + 1);
    expect(after.map((m) => m.name)).toContain(measurement.name);
  });

  it('that fulfills a requisition is ABORTED in the retry, and retryOnAborted finds it fulfilled', async () => {
    const proxy = await swallowing(1);
    const { name, etag } = await requisitionOf(cast.streamly, await create([cast.streamly]));
    const client = clientOf(cast.streamly, { baseUrl: proxy.url, clock: instantly });
    const body = newFulfillment(cast.streamly, etag!);
    await expect(client.fulfillDirectRequisition({ name: name!, body })).rejects.toMatchObject({
      code: 'ABORTED',
      reason: 'REQUISITION_ETAG_MISMATCH',
    });
    expect(proxy.seen).toHaveLength(2);
    const done = await retryOnAborted(
      () => client.getRequisition({ name: name! }),
      async (fresh) =>
        fresh.state === 'UNFULFILLED' ? client.fulfillDirectRequisition({ name: name!, body }) : fresh,
    );
    proxy.close();
    expect(done.state).toBe('FULFILLED');
  });
});

describe('a concurrent fulfillment', () => {
  it('succeeds once, and the others are ABORTED, read again and find the requisition fulfilled', async () => {
    const { name } = await requisitionOf(cast.chirper, await create([cast.chirper]));
    const client = clientOf(cast.chirper);
    const read = () => client.getRequisition({ name: name! });
    // Let all callers read the resource before any of them changes it. All callers except one then use an outdated
    // etag.
    const atTheStart = await Promise.all(Array.from({ length: 8 }, read));
    const told: string[] = [];
    const racers = atTheStart.map((first) => {
      const reads = [async () => first];
      return retryOnAborted(
        () => (reads.shift() ?? read)(),
        async (fresh) => {
          if (fresh.state === 'FULFILLED') return 'lost';
          const body = newFulfillment(cast.chirper, fresh.etag!);
          await client.fulfillDirectRequisition({ name: name!, body }).catch((error) => {
            told.push(error.code);
            throw error;
          });
          return 'won';
        },
      );
    });
    expect((await Promise.all(racers)).sort()).toEqual([...Array(7).fill('lost'), 'won']);
    expect(told).toEqual(Array(7).fill('ABORTED'));
  });
});

describe('an error response', () => {
  it('contains the invalid fields, the reason and the request ID in the log', async () => {
    const body = { ...newMeasurement(cast.acme, [cast.streamly]), measurementConsumerCertificate: 'x' };
    const error = await clientOf(cast.acme)
      .createMeasurement({ parent: cast.acme.name, body })
      .catch((e) => e);
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', reason: 'INVALID_FIELD_VALUE' });
    expect(error.violations.map((v: { field: string }) => v.field)).toEqual([
      'measurementConsumerCertificate',
    ]);
    expect(
      (await exchange.logs()).some(
        (line) => line.includes(error.requestId) && line.includes('createMeasurement'),
      ),
    ).toBe(true);
  });

  it('for an exceeded rate limit makes the client wait before it retries', async () => {
    const slow = await startExchange({ rate: { perSecond: 0.5, burst: 1 } });
    const slept: number[] = [];
    let moved = 0;
    const client = createClient({
      baseUrl: slow.url,
      token: slow.dev.operator.token,
      clock: {
        now: () => Date.now() + moved,
        sleep: async (ms) => {
          slept.push(ms);
          moved += ms;
        },
      },
      maxAttempts: 2,
    });
    await client.whoAmI();
    await expect(client.whoAmI()).rejects.toMatchObject({
      reason: 'RATE_LIMITED',
      code: 'RESOURCE_EXHAUSTED',
    });
    // The rate limiter allows one request every 2 s, so the client must wait about that long.
    expect(slept).toEqual([expect.toSatisfy((ms: number) => ms >= 1_000 && ms <= 2_200)]);
    expect(await slow.stop()).toEqual([]);
  });

  it('for an expired token makes the client request a new token', async () => {
    const tokens = ['expired', cast.acme.token];
    const client = createClient({ baseUrl: exchange.url, token: () => tokens.shift()! });
    expect((await client.whoAmI()).principal).toBe(cast.acme.name);
    expect(tokens).toEqual([]);
  });
});
