/** Tests that an agent follows changes at the exchange, and polls if it cannot follow them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AgentOptions } from '../../src/provider/index.ts';
import { type AgentWorld, startAgentWorld } from './agentWorld.ts';

/** A poll interval longer than any test. */
const NEVER_MS = 1e10;

let world: AgentWorld;
let lists = 0;
let areChangesBroken = false;
/** A fetch function that counts how often requisitions are listed, and that can break the change stream. */
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
  ahead = 0;
  world.begin();
});
afterEach(() => expect(world.end()).toEqual([]));
afterAll(async () => expect(await world.stop()).toEqual([]));

/** The offset of the agent's clock, in milliseconds. */
let ahead = 0;
const clock: AgentOptions['clock'] = {
  now: () => Date.now() + ahead,
  sleep: (ms, signal) => sleep(Math.min(ms, 20), undefined, signal && { signal }),
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
const until = (isTrue: () => boolean | Promise<boolean>) => vi.waitUntil(isTrue, { timeout: 90_000 });
const isFulfilled = (measurement: Parameters<AgentWorld['stateOf']>[0]) =>
  until(async () => (await world.stateOf(measurement)) === 'FULFILLED');

it('an agent answers a new requisition without a poll', async () => {
  await whileRunning({ pollMs: NEVER_MS }, async () => {
    // Wait for the first two polls: one when the agent starts, and one when it begins to follow changes.
    await until(() => lists === 2);
    const measurement = await world.ask();
    await isFulfilled(measurement);
    expect(lists).toBe(2);
  });
  expect(world.types()).toEqual(['received', 'fulfilled']);
});

it('an agent polls if it cannot follow changes, and logs the start and the end of the polling once each', async () => {
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

describe('a deferred requisition', () => {
  const day = (days: number) =>
    `${new Date(Date.now() + days * 24 * 3600_000).toISOString().slice(0, 10)}T00:00:00.000000Z`;
  /** Declares that the events are recorded until the start of the day that is `days` days from now. */
  const record = (days: number) =>
    world.streamly.client.updateEventGroup({
      name: world.eventGroup,
      body: {
        measurementConsumer: world.acme.name,
        eventGroupReferenceId: 'spring',
        dataAvailabilityInterval: { startTime: day(-60), endTime: day(days) },
      },
    });
  /** Requests a measurement whose interval ends tomorrow. */
  const askUntilTomorrow = () => {
    const interval = { start: new Date(day(-2)), end: new Date(day(1)) };
    const eventGroups = [{ name: world.eventGroup, interval }];
    return world.ask({ dataProviders: [{ name: world.streamly.name, eventGroups }] } as never);
  };
  const isDeferred = (times = 1) =>
    until(() => world.types().filter((type) => type === 'deferred').length === times);

  it('is checked again when its deferral ends', async () => {
    await record(-2);
    await whileRunning({ pollMs: NEVER_MS, clock }, async () => {
      await until(() => lists === 2);
      const measurement = await askUntilTomorrow();
      await isDeferred();
      // Move the agent's clock past the end of the interval. The agent must then look at the requisition again.
      ahead = 25 * 3600_000;
      await isDeferred(2);
      await world.acme.client.cancelMeasurement({ name: measurement.name! });
    });
  });

  it('is fulfilled as soon as its event group has the events, and not before', async () => {
    await record(-2);
    await whileRunning({ pollMs: NEVER_MS, clock }, async () => {
      await until(() => lists === 2);
      const measurement = await askUntilTomorrow();
      await isDeferred();
      await record(-1);
      await record(2);
      await isFulfilled(measurement);
      // The change of the event group usually causes a third poll. If the change of the deferred requisition arrives
      // after the change of the event group, the agent reads only this requisition, and there is no third poll.
      expect(lists).toBeLessThanOrEqual(3);
    });
    expect(world.types()).toEqual(['received', 'deferred', 'received', 'fulfilled']);
  });

  it('is fulfilled once its event group has the events, even if the agent cannot follow changes', async () => {
    areChangesBroken = true;
    await record(-2);
    await whileRunning({ pollMs: 400, clock }, async () => {
      const measurement = await askUntilTomorrow();
      await isDeferred();
      await record(2);
      // Advance the clock by two minutes. Cached event groups have then expired, but the deferral has not, because it
      // lasts at least an hour.
      ahead = 120_000;
      await isFulfilled(measurement);
    });
  });

  it('uses the current event group, whose changes cause no poll if nothing is deferred', async () => {
    await record(2);
    await whileRunning({ pollMs: NEVER_MS, clock }, async () => {
      await until(() => lists === 2);
      await isFulfilled(await askUntilTomorrow());
      await record(-2);
      const measurement = await askUntilTomorrow();
      await isDeferred();
      expect(lists).toBe(2);
      await world.acme.client.cancelMeasurement({ name: measurement.name! });
    });
  });
});
