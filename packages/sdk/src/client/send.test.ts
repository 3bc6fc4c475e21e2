import { ExchangeError } from '@measurement-exchange/contract';
import { describe, expect, it } from 'vitest';
import {
  BASE,
  cancel,
  json,
  limited,
  me,
  NOW,
  page,
  party,
  refused,
  reset,
  scripted,
  unavailable,
} from '../../test/client/scripted.ts';
import { isTransient, UnexpectedResponse, Unreachable } from './errors.ts';

describe('a transient failure', () => {
  it.each([
    ['UNAVAILABLE', unavailable],
    ['DEADLINE_EXCEEDED', () => refused(new ExchangeError('DEADLINE_EXCEEDED', 'Slow.'))],
    ['a lost connection', reset],
    ['an HTML page of a proxy', () => page('<h1>Bad gateway</h1>', 502)],
    ['truncated JSON', () => json('{"principal":"oper')],
    ['too many requests at a proxy', () => page('Slow down', 429)],
    ['an interrupted body', () => new Response(new ReadableStream({ start: (c) => c.error(reset()) }))],
  ])('of a read is retried with a growing backoff: %s', async (_title, failure) => {
    const { client, slept } = scripted([failure(), failure(), failure(), failure(), json(me)]);
    expect(await client.whoAmI()).toEqual(me);
    expect(slept).toHaveLength(4);
    for (const [i, ms] of slept.entries()) {
      expect(ms).toBeGreaterThanOrEqual(100 * 2 ** i);
      expect(ms).toBeLessThanOrEqual(200 * 2 ** i);
    }
  });

  it('has a backoff with jitter', async () => {
    const { client, slept } = scripted(
      Array.from({ length: 21 }, (_, i) => (i < 20 ? unavailable() : json(me))),
      { maxAttempts: 21 },
    );
    await client.whoAmI();
    expect(new Set(slept.slice(6)).size).toBeGreaterThan(10);
    expect(Math.max(...slept)).toBeLessThanOrEqual(10_000);
  });

  it('is thrown unchanged after the last attempt', async () => {
    const { client, sent } = scripted([unavailable(), unavailable(), unavailable()], { maxAttempts: 3 });
    const error = await client.whoAmI().catch((e) => e);
    expect(error).toBeInstanceOf(ExchangeError);
    expect(error).toMatchObject({ code: 'UNAVAILABLE', reason: 'UNAVAILABLE', requestId: 'r1' });
    expect(sent).toHaveLength(3);
  });

  it.each([
    ['seconds', { 'retry-after': '7' }, 7_000],
    ['a date', { 'retry-after': 'Sun, 15 Nov 2026 08:00:30 GMT' }, 30_000],
    ['a date in the past', { 'retry-after': 'Sun, 15 Nov 2026 07:00:00 GMT' }, 0],
    ['an invalid value', { 'retry-after': 'soon' }, 0],
  ])('is retried after the time in Retry-After: %s', async (_title, headers, least) => {
    for (const response of [limited(headers), page('Slow down', 429, headers)]) {
      const { client, slept } = scripted([response, json(me)]);
      await client.whoAmI();
      expect(slept[0]).toBeGreaterThanOrEqual(least);
      expect(slept[0]).toBeLessThanOrEqual(least + 200);
    }
  });

  it('is retried after the time in RetryInfo', async () => {
    const response = refused(new ExchangeError('UNAVAILABLE', 'Later.', { retryAfterSeconds: 4 }));
    const { client, slept } = scripted([response, json(me)]);
    await client.whoAmI();
    expect(slept[0]).toBeGreaterThanOrEqual(4_000);
  });

  it('with a Retry-After above a minute is not retried, and its error contains the time', async () => {
    const { client, sent } = scripted([limited({ 'retry-after': '61' })]);
    await expect(client.whoAmI()).rejects.toMatchObject({ reason: 'RATE_LIMITED', retryAfterSeconds: 61 });
    expect(sent).toHaveLength(1);
  });

  it.each([
    ['INTERNAL', new ExchangeError('INTERNAL', 'No.')],
    ['RESPONSE_TOO_LARGE', new ExchangeError('RESPONSE_TOO_LARGE', 'No.')],
    ['PERMISSION_DENIED', new ExchangeError('PERMISSION_DENIED', 'No.')],
    ['ABORTED', new ExchangeError('REQUISITION_ETAG_MISMATCH', 'No.')],
  ])('does not include these errors, which are not retried: %s', async (_title, error) => {
    const { client, sent } = scripted([refused(error)]);
    await expect(client.whoAmI()).rejects.toMatchObject({ reason: error.reason });
    expect(sent).toHaveLength(1);
  });
});

describe('a change', () => {
  it.each([
    ['a lost connection', reset, Unreachable],
    ['UNAVAILABLE', unavailable, ExchangeError],
    ['an HTML page of a proxy', () => page('', 502), UnexpectedResponse],
  ])('whose outcome is unknown is not sent again: %s', async (_title, failure, type) => {
    const { client, sent } = scripted([failure()]);
    await expect(client.cancelMeasurement(cancel)).rejects.toBeInstanceOf(type);
    expect(sent).toHaveLength(1);
  });

  it('reports that its outcome is unknown if the connection is lost', async () => {
    const { client } = scripted([reset()]);
    await expect(client.cancelMeasurement(cancel)).rejects.toThrow(
      `${BASE} does not respond (read ECONNRESET). Does the exchange run there? Whether it took effect is not known: read the resource before trying again.`,
    );
  });

  it('that was rate-limited is retried', async () => {
    const { client, sent } = scripted([limited(), page('', 429), json({ state: 'CANCELLED' })]);
    expect(await client.cancelMeasurement(cancel)).toEqual({ state: 'CANCELLED' });
    expect(sent).toHaveLength(3);
  });

  it('that creates a resource is retried with the same requestId and the same bytes', async () => {
    const created = json({ state: 'ACTIVE', measurementConsumer: 'measurementConsumers/a' });
    const { client, sent } = scripted([reset(), unavailable(), created]);
    await client.createEventGroup({
      parent: party.name,
      body: { measurementConsumer: 'measurementConsumers/a' },
    });
    expect(sent[0]!.url).toMatch(/\?requestId=\w{32}$/);
    expect(new Set(sent.map(({ url, body }) => `${url} ${body}`)).size).toBe(1);
  });

  it('with an etag is retried, and the error of the retry is thrown', async () => {
    const aborted = refused(new ExchangeError('REQUISITION_ETAG_MISMATCH', 'It changed.'));
    const { client, sent } = scripted([reset(), aborted]);
    const refuse = client.refuseRequisition({
      name: 'dataProviders/p/requisitions/r',
      body: { refusal: { justification: 'DECLINED' }, etag: 'e' },
    });
    await expect(refuse).rejects.toMatchObject({ code: 'ABORTED' });
    expect(sent[0]!.body).toBe(sent[1]!.body);
  });
});

describe('timeouts and aborts', () => {
  /** Never responds, and rejects when the signal is aborted. */
  const silence = ({ signal }: RequestInit) =>
    new Promise<Response>((_resolve, reject) => {
      if (signal!.aborted) return reject(signal!.reason);
      signal!.addEventListener('abort', () => reject(signal!.reason));
    });
  /** Starts a response and never ends it. */
  const partialResponse = async ({ signal }: RequestInit) =>
    new Response(
      new ReadableStream({
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode('{'));
          signal!.addEventListener('abort', () => controller.error(signal!.reason));
        },
      }),
    );

  it.each([
    ['no response', silence],
    ['a partial response', partialResponse],
  ])('a timeout ends an attempt and starts the next one: %s', async (_title, step) => {
    const { client, sent } = scripted([step, json(me)], { timeoutMs: 20 });
    expect(await client.whoAmI()).toEqual(me);
    expect(sent).toHaveLength(2);
  });

  it('a timeout in every attempt throws Unreachable, which is transient', async () => {
    const { client } = scripted([silence, silence], { timeoutMs: 20, maxAttempts: 2 });
    const error = await client.whoAmI().catch((e) => e);
    expect(error).toBeInstanceOf(Unreachable);
    expect(error.message).toBe(`${BASE} did not respond to whoAmI within 20 ms.`);
    expect(isTransient(error)).toBe(true);
  });

  // Limit this test to 10 s, which is shorter than the timeout of an attempt. If an abort does not end the attempt, the
  // test then fails.
  it('an abort by the caller ends the call at every step with its reason', { timeout: 10_000 }, async () => {
    const reason = new Error('the user left');
    const during = new AbortController();
    const leave = (init: RequestInit) => {
      queueMicrotask(() => during.abort(reason));
      return silence(init);
    };
    await expect(scripted([leave]).client.whoAmI({ signal: during.signal })).rejects.toBe(reason);

    const asking = new AbortController();
    const asked = scripted([], {
      token: () => {
        asking.abort(reason);
        return 't';
      },
    });
    await expect(asked.client.whoAmI({ signal: asking.signal })).rejects.toBe(reason);
    expect(asked.sent).toEqual([]);

    const waiting = new AbortController();
    const { client, sent } = scripted([unavailable()], {
      clock: {
        now: () => NOW,
        sleep: async (_ms, signal) => {
          waiting.abort(reason);
          signal!.throwIfAborted();
        },
      },
    });
    await expect(client.whoAmI({ signal: waiting.signal })).rejects.toBe(reason);
    expect(sent).toHaveLength(1);

    const none = scripted([]);
    await expect(none.client.whoAmI({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(none.sent).toEqual([]);
  });
});
