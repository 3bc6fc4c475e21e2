/**
 * Tests an agent while parts of the exchange or the agent's own data are unavailable, and while other parties change
 * its requisitions.
 */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Measurement } from '@measurement-exchange/contract';
import { eventsCsv, PEOPLE } from '@measurement-exchange/testkit/providerWorld';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AgentEvent, type Events, openEvents } from '../../src/provider/index.ts';
import { type AgentWorld, EXACT, startAgentWorld } from './agentWorld.ts';

let world: AgentWorld;
beforeAll(async () => {
  world = await startAgentWorld();
});
beforeEach(() => world.begin());
afterEach(() => expect(world.end()).toEqual([]));
afterAll(async () => expect(await world.stop()).toEqual([]));

describe('an agent', () => {
  const failing = (part: string, times: number, how: typeof fetch): typeof fetch => {
    let left = times;
    return (input, init) =>
      String(input).includes(part) && left-- > 0 ? how(input, init) : fetch(input, init);
  };
  const noAnswer = () => Promise.reject(new TypeError('fetch failed'));
  const replies = (status: number, retryAfter?: string) => async () =>
    new Response('nginx', { status, headers: retryAfter ? { 'retry-after': retryAfter } : {} });

  type Failure = [title: string, part: string, how: () => Promise<Response>];
  /** In this list, every part of the exchange fails at least once, and every kind of failure occurs. */
  const FAILURES: Failure[] = [
    ['while event groups are unreachable', '/eventGroups/', noAnswer],
    ['while a proxy answers 404 for certificates', '/certificates/', replies(404)],
    ['while event groups are answered with 429', '/eventGroups/', replies(429, '5')],
    ['while the requisition itself is answered with 503', '/requisitions/', replies(503)],
    ['while fulfillments are answered with 401', ':fulfillDirect', replies(401)],
    ['while fulfillments are answered with 403', ':fulfillDirect', replies(403)],
  ];
  const MORE_FAILURES: Failure[] = [
    ['while certificates are answered with 503', '/certificates/', replies(503)],
    ['while certificates are answered with 401', '/certificates/', replies(401)],
    ['while event groups are answered with 403', '/eventGroups/', replies(403)],
    ['while fulfillments are answered with 429', ':fulfillDirect', replies(429, '5')],
    ['while fulfillments are answered with 503', ':fulfillDirect', replies(503)],
    ['while certificates are unreachable', '/certificates/', noAnswer],
    ['while fulfillments are unreachable', ':fulfillDirect', noAnswer],
  ];
  it.each<Failure>([...FAILURES, ...(isStress ? MORE_FAILURES : [])])(
    'retries without a refusal %s',
    async (_what, part, how) => {
      const measurement = await world.ask();
      const client = world.client({ fetch: failing(part, 2, how), maxAttempts: 1 });
      const { state } = await world.runUntilClosed(world.agent({ client }), measurement);
      expect(state).toBe('SUCCEEDED');
      const waits = world.log.flatMap((event) => (event.type === 'retrying' ? [event.inMs] : []));
      // The agent must wait before each retry: at least half a second, or at least as long as the exchange asks.
      expect(waits).toHaveLength(2);
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(_what.includes('429') ? 5_000 : 500);
      expect(world.types()).not.toContain('refused');
      expect(world.spent()).toEqual([0.25, 0.25, 0.25]);
    },
  );

  it('retries while the event file is missing, and uses it when it appears', async () => {
    const files = join(world.directory, 'late.csv');
    let opened: Promise<Events> | undefined;
    const open = () => {
      opened ??= openEvents({ files, threads: 1 }).catch((error) => {
        opened = undefined;
        throw error;
      });
      return opened;
    };
    const measurement = await world.ask({ privacy: EXACT });
    const done = world.runUntilClosed(world.agent({ events: open }), measurement);
    while (!world.types().includes('retrying')) await sleep(10);
    expect(world.log.find(({ type }) => type === 'retrying')).toMatchObject({
      why: expect.stringContaining('late.csv'),
    });
    await writeFile(files, eventsCsv());
    const result = await world.consumer.open(await done);
    expect(result.dataProviders[0]!.reach!.value).toBe(PEOPLE);
    await (await opened)!.close();
  });

  it('retries while an event file that it opened is missing', async () => {
    const files = join(world.directory, 'gone.csv');
    await writeFile(files, eventsCsv());
    const late = await openEvents({ files, threads: 1 });
    await rm(files);
    const measurement = await world.ask();
    const done = world.runUntilClosed(world.agent({ events: late }), measurement);
    while (!world.types().includes('retrying')) await sleep(10);
    await writeFile(files, eventsCsv());
    expect((await done).state).toBe('SUCCEEDED');
    await late.close();
  });

  it('retries while the exchange is unreachable, and logs once each that it is unreachable and reachable again', async () => {
    const measurement = await world.ask();
    const client = world.client({ fetch: failing('/requisitions?', 3, noAnswer), maxAttempts: 1 });
    await world.runUntilClosed(world.agent({ client }), measurement);
    expect(world.types().filter((type) => type === 'unreachable' || type === 'reachable')).toEqual([
      'unreachable',
      'reachable',
    ]);
  });
});

describe('an agent that handles requisitions', () => {
  /** Creates a client that runs `happens` before its first request to `part` of the exchange. */
  const before = (part: string, happens: () => Promise<unknown>) => {
    let first = true;
    const wrapped: typeof fetch = async (input, init) => {
      if (first && String(input).includes(part)) {
        first = false;
        await happens();
      }
      return fetch(input, init);
    };
    return world.client({ fetch: wrapped });
  };
  const cancel = (measurement: Measurement) => () =>
    world.acme.client.cancelMeasurement({ name: measurement.name! });

  it('charges nothing if the measurement is cancelled before the events are read', async () => {
    const measurement = await world.ask();
    const client = before('/certificates/', cancel(measurement));
    expect(await world.agent({ client }).once()).toEqual({ handled: 1, failed: 0 });
    expect(world.log.at(-1)).toMatchObject({ type: 'closed', state: 'WITHDRAWN', charged: false });
    expect(world.ledger.spending()).toEqual([]);
  });

  it('keeps the charge if the measurement is cancelled before the response is sent', async () => {
    const measurement = await world.ask();
    const client = before(':fulfillDirect', cancel(measurement));
    await world.agent({ client }).once();
    expect(world.log.at(-1)).toMatchObject({ type: 'closed', state: 'WITHDRAWN', charged: true });
    expect(world.spent()).toEqual([0.25, 0.25, 0.25]);
  });

  it('recognizes a fulfillment whose response was lost', async () => {
    const measurement = await world.ask();
    let lost = false;
    const losing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (lost || !String(input).includes(':fulfillDirect')) return response;
      lost = true;
      throw new TypeError('fetch failed');
    };
    expect(await world.agent({ client: world.client({ fetch: losing }) }).once()).toEqual({
      handled: 1,
      failed: 0,
    });
    expect(lost).toBe(true);
    expect(world.log.at(-1)!.type).toBe('fulfilled');
    expect(await world.stateOf(measurement)).toBe('FULFILLED');
    expect(world.spent()).toEqual([0.25, 0.25, 0.25]);
  });

  it('charges a result before it is sent, and sends the same bytes again if they did not arrive', async () => {
    await world.ask();
    const sent: string[] = [];
    const failingOnce: typeof fetch = (input, init) => {
      if (!String(input).includes(':fulfillDirect')) return fetch(input, init);
      sent.push(JSON.stringify(JSON.parse(String(init!.body)).encryptedResult));
      return sent.length === 1 ? Promise.reject(new TypeError('fetch failed')) : fetch(input, init);
    };
    const agent = world.agent({ client: world.client({ fetch: failingOnce, maxAttempts: 1 }) });
    expect(await agent.once()).toEqual({ handled: 0, failed: 1 });
    expect(world.spent()).toEqual([0.25, 0.25, 0.25]);
    expect(await agent.once()).toEqual({ handled: 1, failed: 0 });
    expect(sent).toEqual([sent[0], sent[0]]);
    expect(world.spent()).toEqual([0.25, 0.25, 0.25]);
  });

  it('does not start a requisition in progress again, and stops without finishing it', async () => {
    const measurement = await world.ask();
    const stop = new AbortController();
    const slow: typeof fetch = async (input, init) => {
      if (String(input).includes('/certificates/')) await sleep(300, undefined, { signal: init!.signal! });
      return fetch(input, init);
    };
    const running = world.agent({ client: world.client({ fetch: slow }), concurrency: 5 }).run(stop.signal);
    while (world.types().length === 0) await sleep(10);
    await sleep(150);
    expect(world.types()).toEqual(['received']);
    stop.abort();
    await running;
    expect(await world.stateOf(measurement)).toBe('UNFULFILLED');
    await world.agent().once();
  });

  it('answers more requisitions than fit on a page, up to its concurrency at the same time', async () => {
    const asked = await Promise.all(Array.from({ length: 7 }, () => world.ask()));
    let [now, most] = [0, 0];
    const log = ({ type }: AgentEvent) => {
      if (type === 'received') most = Math.max(most, ++now);
      if (type === 'fulfilled') now--;
    };
    let pages = 0;
    const shortPages: typeof fetch = (input, init) => {
      if (!String(input).includes('/requisitions?')) return fetch(input, init);
      pages++;
      return fetch(`${input}&pageSize=3`, init);
    };
    const client = world.client({ fetch: shortPages });
    expect(await world.agent({ client, log, concurrency: 4 }).once()).toEqual({ handled: 7, failed: 0 });
    expect(pages).toBeGreaterThanOrEqual(3);
    expect(most).toBe(4);
    expect(new Set(await Promise.all(asked.map(world.stateOf)))).toEqual(new Set(['FULFILLED']));
    expect(world.spent()).toEqual([1.75, 1.75, 1.75]);
  });
});
