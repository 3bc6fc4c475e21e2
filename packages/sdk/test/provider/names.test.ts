/**
 * Tests that a budget belongs to events, not to names. Even if the exchange renames event groups, no consumer gets a
 * budget twice or the budget of other events.
 */
import { join } from 'node:path';
import type { EventGroup, Measurement } from '@measurement-exchange/contract';
import { DAYS, type ProviderWorld, startProviderWorld } from '@measurement-exchange/testkit/providerWorld';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  type AgentOptions,
  createAgent,
  type Events,
  type Ledger,
  openEvents,
  openLedger,
} from '../../src/provider/index.ts';

let world: ProviderWorld;
let events: Events;
beforeAll(async () => {
  world = await startProviderWorld();
  events = await openEvents({ files: world.events, threads: 1 });
});
afterAll(async () => {
  await events.close();
  expect(await world.stop()).toEqual([]);
});

let ledger: Ledger;
let runs = 0;
beforeEach(() => {
  ledger = openLedger(join(world.directory, `names-${++runs}.sqlite`), { epsilon: 1e5, delta: 0, rho: 0 });
});
afterEach(() => {
  expect(ledger.audit()).toEqual([]);
  ledger.close();
});

const agentOptions = (): AgentOptions => ({
  client: world.client(),
  credentials: world.streamly,
  trust: world.trust,
  events,
  ledger,
  references: { spring: { measurementConsumers: [world.acme.name], served: true } },
});

/** Privacy parameters that use up the whole budget, and whose noise is negligible. */
const ALL = { epsilon: 1e5, delta: 0 };
const interval = { start: `${DAYS[0]}T00:00:00Z`, end: '2026-07-04T00:00:00Z' };

/** Creates a measurement of the number of impressions in these event groups. */
const ask = (...names: string[]) =>
  world.consumer.create({
    type: 'impression',
    maximumFrequencyPerUser: 1000,
    dataProviders: [{ name: world.streamly.name, eventGroups: names.map((name) => ({ name, interval })) }],
    privacy: ALL,
  });

/** Runs the agent, and returns the impressions, or the justification of the refusal. */
async function outcomeOf({ name }: Measurement, changes: Partial<AgentOptions> = {}) {
  expect(await createAgent({ ...agentOptions(), ...changes }).once()).toEqual({ handled: 1, failed: 0 });
  const measurement = await world.acme.client.getMeasurement({ name: name! });
  if (measurement.state !== 'SUCCEEDED')
    return (await world.requisitionOf(measurement)).refusal?.justification;
  return (await world.consumer.open(measurement)).dataProviders[0]!.impressions!.value;
}

/** The number of impressions: 1 + 2 + … + 100. */
const IMPRESSIONS = 5050;
const createSpring = async () => {
  const body = { measurementConsumer: world.acme.name, eventGroupReferenceId: 'spring' };
  return (await world.streamly.client.createEventGroup({ parent: world.streamly.name, body })).name!;
};

/** Creates a client whose exchange returns false descriptions of these event groups. */
function lyingAbout(eventGroups: Record<string, Partial<EventGroup>>) {
  const lie: typeof fetch = async (input, init) => {
    const name = Object.keys(eventGroups).find((name) => String(input).endsWith(name));
    if (name === undefined) return fetch(input, init);
    const told = { name, state: 'ACTIVE', measurementConsumer: world.acme.name, ...eventGroups[name] };
    return Response.json(told);
  };
  return world.client({ fetch: lie });
}
const invented = (id: string) => `${world.streamly.name}/eventGroups/${id}`;

it('an event group that is deleted and created again has no new budget', async () => {
  const first = await createSpring();
  expect(await outcomeOf(await ask(first))).toBe(IMPRESSIONS);
  await world.streamly.client.deleteEventGroup({ name: first });
  expect(await outcomeOf(await ask(await createSpring()))).toBe('INSUFFICIENT_PRIVACY_BUDGET');
});

it('two event groups of one reference share its budget', async () => {
  expect(await outcomeOf(await ask(await createSpring()))).toBe(IMPRESSIONS);
  expect(await outcomeOf(await ask(await createSpring()))).toBe('INSUFFICIENT_PRIVACY_BUDGET');
});

it('two event groups of one reference in one requisition are counted once, and charged once', async () => {
  expect(await outcomeOf(await ask(await createSpring(), await createSpring()))).toBe(IMPRESSIONS);
  expect(ledger.spending().map(({ reference, spent }) => [reference, spent.epsilon])).toEqual(
    DAYS.map(() => ['spring', 1e5]),
  );
});

it('an exchange that invents event groups gets no new budget', async () => {
  const client = lyingAbout({
    [invented('a')]: { eventGroupReferenceId: 'spring' },
    [invented('b')]: { eventGroupReferenceId: 'spring' },
  });
  expect(await outcomeOf(await ask(invented('a')), { client })).toBe(IMPRESSIONS);
  expect(await outcomeOf(await ask(invented('b')), { client })).toBe('INSUFFICIENT_PRIVACY_BUDGET');
});

it('an agent ignores a requisition of another provider, and its ledger stays usable', async () => {
  await ask(world.eventGroup);
  const renaming: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (!String(input).includes('/requisitions?')) return response;
    const text = (await response.text()).replaceAll(`"${world.streamly.name}/req`, '"dataProviders/q/req');
    return new Response(text, { headers: { 'content-type': 'application/json' } });
  };
  const agent = createAgent({ ...agentOptions(), client: world.client({ fetch: renaming }) });
  expect(await agent.once()).toEqual({ handled: 0, failed: 0 });
  expect(await createAgent(agentOptions()).once()).toEqual({ handled: 1, failed: 0 });
});

it('an exchange cannot give an event group another reference than the provider did', async () => {
  const client = lyingAbout({ [invented('c')]: { eventGroupReferenceId: 'summer' } });
  const references = {
    spring: { measurementConsumers: [world.acme.name], eventGroups: [invented('c')], served: true },
    summer: { measurementConsumers: ['measurementConsumers/globex'] },
  };
  expect(await outcomeOf(await ask(invented('c')), { client, references })).toBe(IMPRESSIONS);
});

it('a consumer cannot measure the events of another consumer, even if the exchange offers them to it', async () => {
  const references = { spring: { measurementConsumers: ['measurementConsumers/globex'], served: true } };
  expect(await outcomeOf(await ask(await createSpring()), { references })).toBe('SPEC_INVALID');
  expect(ledger.spending()).toEqual([]);
});

it('a requisition for events that the provider never offered is refused, even if the exchange offers them', async () => {
  const client = lyingAbout({ [invented('d')]: { eventGroupReferenceId: 'spring' } });
  expect(await outcomeOf(await ask(invented('d')), { client, references: {} })).toBe('SPEC_INVALID');
});
