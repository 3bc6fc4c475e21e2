/** An agent that follows the changes at the exchange, and polls where it cannot. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { AgentOptions } from '../../src/provider/index.ts';
import { type AgentWorld, startAgentWorld } from './agentWorld.ts';

/** Longer than any test. */
const NEVER_MS = 1e10;

let world: AgentWorld;
let lists = 0;
let areChangesBroken = false;
/** Counts lists of requisitions, and breaks the changes. */
const between: typeof fetch = async (input, init) => {
  const url = String(input);
  if (url.includes('/requisitions?')) lists++;
  if (areChangesBroken && url.includes('/changes')) return new Response('nginx', { status: 404 });
  return fetch(input, init);
};

beforeAll(async () => {
  world = await startAgentWorld();
});
beforeEach(() => {
  lists = 0;
  areChangesBroken = false;
  world.begin();
});
afterEach(() => expect(world.end()).toEqual([]));
afterAll(async () => expect(await world.stop()).toEqual([]));

/** Time that passes 10,000 times as fast. */
const BEGAN = Date.now();
const fast: AgentOptions['clock'] = {
  now: () => BEGAN + (Date.now() - BEGAN) * 10_000,
  sleep: (ms, signal) => sleep(ms / 10_000, undefined, signal && { signal }),
};

async function whileRunning(changes: Partial<AgentOptions>, work: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const client = world.client({ fetch: between });
  const running = world.agent({ client, ...changes }).run(stop.signal);
  try {
    await work();
  } finally {
    stop.abort();
    await running;
  }
}
const until = (isTrue: () => boolean | Promise<boolean>) => vi.waitUntil(isTrue, { timeout: 20_000 });
const isFulfilled = (measurement: Parameters<AgentWorld['stateOf']>[0]) =>
  until(async () => (await world.stateOf(measurement)) === 'FULFILLED');

it('answers a requisition as soon as it is there, without a poll', async () => {
  await whileRunning({ pollMs: NEVER_MS }, async () => {
    // It polls at the start, and when it begins to follow.
    await until(() => lists === 2);
    const measurement = await world.ask();
    await isFulfilled(measurement);
    expect(lists).toBe(2);
  });
  expect(world.types()).toEqual(['received', 'fulfilled']);
});

it('polls where changes cannot be followed, says so once, and once that they are followed again', async () => {
  areChangesBroken = true;
  const said = () => world.types().filter((type) => type === 'polling' || type === 'following');
  await whileRunning({ pollMs: 400 }, async () => {
    await until(() => lists > 3);
    await isFulfilled(await world.ask());
    expect(said()).toEqual(['polling']);
    areChangesBroken = false;
    await until(() => said().length > 1);
    expect(said()).toEqual(['polling', 'following']);
  });
});

it('looks at a deferred requisition again when it said it would', async () => {
  const day = (days: number) =>
    `${new Date(Date.now() + days * 24 * 3600_000).toISOString().slice(0, 10)}T00:00:00.000000Z`;
  const { streamly, acme, eventGroup } = world;
  const record = (days: number) =>
    streamly.client.updateEventGroup({
      name: eventGroup,
      body: {
        measurementConsumer: acme.name,
        eventGroupReferenceId: 'spring',
        dataAvailabilityInterval: { startTime: day(-60), endTime: day(days) },
      },
    });
  await record(-2);
  const interval = { start: new Date(day(-2)), end: new Date(day(1)) };
  const dataProviders = [{ name: streamly.name, eventGroups: [{ name: eventGroup, interval }] }];
  await whileRunning({ pollMs: NEVER_MS, clock: fast }, async () => {
    await until(() => lists === 2);
    const measurement = await world.ask({ dataProviders } as never);
    await until(() => world.types().includes('deferred'));
    await record(2);
    await isFulfilled(measurement);
  });
});
