/** Tests an agent with requisitions whose events are not recorded yet. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type AgentOptions, openEvents } from '../../src/provider/index.ts';
import { type AgentWorld, startAgentWorld } from './agentWorld.ts';

const HOUR = 3600_000;
const DAY = 24 * HOUR;

let world: AgentWorld;
/** The offset of the agent's clock, in milliseconds. */
let ahead = 0;
const clock: AgentOptions['clock'] = { now: () => Date.now() + ahead, sleep: async () => {} };

beforeAll(async () => {
  world = await startAgentWorld();
});
beforeEach(() => {
  ahead = 0;
  world.begin();
});
afterEach(() => expect(world.end()).toEqual([]));
afterAll(async () => expect(await world.stop()).toEqual([]));

const time = (ms: number) => `${new Date(ms).toISOString().slice(0, 10)}T00:00:00.000000Z`;
/** Declares that an event group's events are recorded until the start of the day that is `days` days from now. */
async function record(days: number, eventGroup = world.eventGroup): Promise<void> {
  const { streamly, acme } = world;
  const startTime = time(Date.now() - 60 * DAY);
  await streamly.client.updateEventGroup({
    name: eventGroup,
    body: {
      measurementConsumer: acme.name,
      eventGroupReferenceId: 'spring',
      dataAvailabilityInterval: { startTime, endTime: time(Date.now() + days * DAY) },
    },
  });
}
/**
 * Requests a measurement over three whole UTC days. The interval ends at the start of the day that is `days` days from
 * now.
 */
function askUntil(days: number, filter?: string) {
  const interval = {
    start: new Date(time(Date.now() + (days - 3) * DAY)),
    end: new Date(time(Date.now() + days * DAY)),
  };
  const eventGroups = [{ name: world.eventGroup, interval, ...(filter && { filter }) }];
  return world.ask({ dataProviders: [{ name: world.streamly.name, eventGroups }] } as never);
}

it('an agent defers without naming the selected events, charges nothing, and retries at the announced time', async () => {
  await record(-3);
  const measurement = await askUntil(-1);
  const agent = world.agent({ clock });
  expect(await agent.once()).toEqual({ handled: 0, failed: 0 });
  const { state, deferral, etag } = await world.requisitionOf(measurement);
  expect(state).toBe('UNFULFILLED');
  expect(deferral!.reason).toBe('Not all of the events that it asks for are recorded yet.');
  const inMs = Date.parse(deferral!.until) - Date.now();
  expect(inMs).toBeGreaterThan(HOUR / 2);
  expect(inMs).toBeLessThanOrEqual(HOUR);
  expect(world.ledger.spending()).toEqual([]);
  expect(world.types()).toEqual(['received', 'deferred']);
  expect(world.log.at(-1)).toMatchObject({ why: expect.stringContaining('spring') });

  // The exchange already knows this deferral, so another agent does not update the requisition.
  await world.agent({ clock }).once();
  expect((await world.requisitionOf(measurement)).etag).toBe(etag);

  ahead = 1.1 * HOUR;
  await agent.once();
  const again = await world.requisitionOf(measurement);
  const againMs = Date.parse(again.deferral!.until) - Date.now() - ahead;
  expect(againMs).toBeGreaterThan(1.5 * HOUR);
  expect(againMs).toBeLessThanOrEqual(2 * HOUR);

  await record(2);
  ahead = 3.2 * HOUR;
  expect(await agent.once()).toEqual({ handled: 1, failed: 0 });
  expect(await world.stateOf(measurement)).toBe('FULFILLED');
});

it('an agent does not process a deferred requisition again before its deferral ends', async () => {
  await record(-2);
  const measurement = await askUntil(1);
  const stop = new AbortController();
  let polls = 0;
  const sleep = async () => {
    await wait(10);
    if (world.types().includes('deferred') && ++polls === 3) stop.abort();
  };
  await world.agent({ clock: { now: clock.now, sleep } }).run(stop.signal);
  expect(world.types()).toEqual(['received', 'deferred']);
  await world.acme.client.cancelMeasurement({ name: measurement.name! });
});

it.each<[string, string | undefined, Partial<AgentOptions>, string]>([
  ['has a filter that cannot be computed', 'shoe_size > 5', {}, 'FILTER_ATTRIBUTE'],
  ['asks for noise that is not offered', undefined, { noise: 'DISCRETE_GAUSSIAN' }, 'DELTA_REQUIRED'],
])(
  'an agent refuses a requisition that %s immediately, without waiting for the events',
  async (_what, filter, changes, sent) => {
    await record(-2);
    const measurement = await askUntil(1, filter);
    expect(await world.agent({ clock, ...changes }).once()).toEqual({ handled: 1, failed: 0 });
    expect(await world.stateOf(measurement)).toBe('REFUSED');
    expect(world.types()).toEqual(['received', 'refused']);
    expect(world.log.at(-1)).toMatchObject({ sent: expect.stringContaining(sent) });
  },
);

it('an agent defers a requisition if the event files do not exist yet', async () => {
  await record(-2);
  const measurement = await askUntil(1);
  const events = () => openEvents({ files: join(world.directory, 'tomorrow.csv'), threads: 1 });
  expect(await world.agent({ clock, events }).once()).toEqual({ handled: 0, failed: 0 });
  expect(world.types()).toEqual(['received', 'deferred']);
  await world.acme.client.cancelMeasurement({ name: measurement.name! });
});

it('an agent fulfills with the recorded events a week after the end of the interval', async () => {
  await record(-20);
  const measurement = await askUntil(-8);
  expect(await world.agent({ clock }).once()).toEqual({ handled: 1, failed: 0 });
  expect(await world.stateOf(measurement)).toBe('FULFILLED');
});

it('an agent waits for every selected event group, but not longer than graceHours', async () => {
  const { streamly, acme } = world;
  const body = { measurementConsumer: acme.name, eventGroupReferenceId: 'spring' };
  const other = (await streamly.client.createEventGroup({ parent: streamly.name, body })).name!;
  await record(-2);
  await record(-5, other);
  // The interval ended 23 hours ago, so the grace period of 24 hours ends in an hour.
  const end = new Date(Date.now() - 23 * HOUR);
  const interval = { start: new Date(end.getTime() - DAY), end };
  const selecting = (...names: string[]) =>
    world.ask({
      dataProviders: [{ name: streamly.name, eventGroups: names.map((name) => ({ name, interval })) }],
    } as never);
  await record(0);
  const questions = [await selecting(world.eventGroup, other), await selecting(other, world.eventGroup)];
  const agent = world.agent({ clock, graceHours: 24 });
  expect(await agent.once()).toEqual({ handled: 0, failed: 0 });
  expect(world.ledger.spending()).toEqual([]);
  for (const question of questions) {
    const { deferral } = await world.requisitionOf(question);
    expect(Date.parse(deferral!.until)).toBeLessThanOrEqual(end.getTime() + 24 * HOUR + 1);
  }
  ahead = end.getTime() + 24 * HOUR - Date.now() + 1000;
  expect(await agent.once()).toEqual({ handled: 2, failed: 0 });
});

it('an agent does not answer before the end of an interval if the event group has no data availability', async () => {
  const { streamly, acme } = world;
  const body = { measurementConsumer: acme.name, eventGroupReferenceId: 'spring' };
  const silent = (await streamly.client.createEventGroup({ parent: streamly.name, body })).name!;
  const end = new Date(Date.now() + 2 * HOUR);
  const interval = { start: new Date(end.getTime() - DAY), end };
  const question = await world.ask({
    dataProviders: [{ name: streamly.name, eventGroups: [{ name: silent, interval }] }],
  } as never);
  const agent = world.agent({ clock });
  expect(await agent.once()).toEqual({ handled: 0, failed: 0 });
  const { deferral } = await world.requisitionOf(question);
  expect(Date.parse(deferral!.until)).toBe(end.getTime());
  ahead = 2 * HOUR + 1000;
  expect(await agent.once()).toEqual({ handled: 1, failed: 0 });
});
