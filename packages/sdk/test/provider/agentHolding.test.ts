/** Tests an agent with requisitions for references that its operator has not confirmed. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Measurement } from '@measurement-exchange/contract';
import { eventsCsv } from '@measurement-exchange/testkit/providerWorld';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import {
  type AgentOptions,
  confirmReferences,
  type Events,
  openEvents,
  type References,
  readLedger,
} from '../../src/provider/index.ts';
import { type AgentWorld, startAgentWorld } from './agentWorld.ts';

let world: AgentWorld;
beforeAll(async () => {
  world = await startAgentWorld();
});
beforeEach(() => world.begin());
afterEach(() => expect(world.end()).toEqual([]));
afterAll(async () => expect(await world.stop()).toEqual([]));

const REASON = 'The provider has to confirm its set-up first.';
const listed = (access = {}): References => ({
  spring: { measurementConsumers: [world.acme.name], ...access },
});
const cancel = ({ name }: Measurement) => world.acme.client.cancelMeasurement({ name: name! });
const status = () => {
  const reader = readLedger(world.ledgerPath());
  try {
    return reader.heldQuestions();
  } finally {
    reader.close();
  }
};

it('an agent holds a requisition for an unconfirmed reference without a charge, and answers it once confirmed', async () => {
  const measurement = await world.ask();
  const { name } = await world.requisitionOf(measurement);
  const agent = world.agent({ references: listed() });
  expect(await agent.once()).toEqual({ handled: 0, failed: 0 });
  const { state, deferral } = await world.requisitionOf(measurement);
  expect([state, deferral!.reason]).toEqual(['UNFULFILLED', REASON]);
  expect(world.types()).toEqual(['received', 'held']);
  expect(world.log.at(-1)).toMatchObject({
    references: ['spring'],
    why: expect.stringMatching(/"spring".*mex provider check/),
  });
  expect(world.ledger.spending()).toEqual([]);
  const held = { requisition: name, measurementConsumer: world.acme.name, references: ['spring'] };
  expect(status()).toEqual([{ ...held, since: expect.any(String) }]);

  // Confirming the reference with different capitalization, or confirming another reference, must have no effect.
  confirmReferences(world.ledgerPath(), ['Spring', 'summer']);
  await agent.once();
  expect(status()).toHaveLength(1);

  // Confirm the reference while the agent has the ledger open. The agent must notice the confirmation without a
  // restart.
  confirmReferences(world.ledgerPath(), ['spring']);
  expect(await agent.once()).toEqual({ handled: 1, failed: 0 });
  expect(await world.stateOf(measurement)).toBe('FULFILLED');
  expect(status()).toEqual([]);
  expect(world.spent()).toEqual([0.25, 0.25, 0.25]);
});

it('a running agent answers a held requisition after the operator confirms its reference', async () => {
  const measurement = await world.ask();
  const agent = world.agent({ references: 'unchecked' });
  const done = world.runUntilClosed(agent, measurement);
  await vi.waitUntil(() => world.types().includes('held'), { timeout: 90_000 });
  confirmReferences(world.ledgerPath(), ['spring']);
  expect((await done).state).toBe('SUCCEEDED');
  expect(world.types()).toEqual(['received', 'held', 'received', 'fulfilled']);
});

it('an agent holds a requisition if one reference is unconfirmed, but refuses a reference of another consumer', async () => {
  const { streamly, acme } = world;
  const create = async (eventGroupReferenceId: string) =>
    (
      await streamly.client.createEventGroup({
        parent: streamly.name,
        body: { measurementConsumer: acme.name, eventGroupReferenceId },
      })
    ).name!;
  const interval = { start: '2026-07-01T00:00:00Z', end: '2026-07-04T00:00:00Z' };
  const askAbout = (...names: string[]) =>
    world.ask({
      dataProviders: [{ name: streamly.name, eventGroups: names.map((name) => ({ name, interval })) }],
    });
  const [summer, winter] = [await create('summer'), await create('winter')];
  const held = await askAbout(world.eventGroup, summer);
  const refused = await askAbout(world.eventGroup, winter);
  const references = {
    ...listed({ served: true }),
    summer: { measurementConsumers: [acme.name], served: false },
    winter: { measurementConsumers: ['measurementConsumers/globex'] },
  };
  expect(await world.agent({ references }).once()).toEqual({ handled: 1, failed: 0 });
  expect(await world.stateOf(held)).toBe('UNFULFILLED');
  expect(await world.stateOf(refused)).toBe('REFUSED');
  expect(status().map((question) => question.references)).toEqual([['summer']]);
  expect(world.ledger.spending()).toEqual([]);
  // When the consumer cancels its measurement, the held requisition must disappear from the list.
  await cancel(held);
  await world.agent({ references }).once();
  expect(status()).toEqual([]);
});

/**
 * Lets an agent with these events handle a new requisition. Returns what the consumer and the exchange can observe, the
 * types of the logged events, and the charges.
 */
async function observed(events: Events, changes: Partial<AgentOptions>) {
  const measurement = await world.ask();
  const requests: string[] = [];
  const watching: typeof fetch = async (input, init) => {
    const { pathname } = new URL(String(input));
    const { reason } = JSON.parse(String(init?.body ?? '{}'));
    // Replace IDs with a placeholder, because they differ in every run.
    requests.push([init?.method, pathname.replace(/\/[\w-]{11,}/g, '/…'), reason].join(' '));
    return fetch(input, init);
  };
  const client = world.client({ fetch: watching });
  const counts = await world.agent({ client, events, ...changes }).once();
  const { state, deferral, refusal } = await world.requisitionOf(measurement);
  const seen = { counts, requests, state, reason: deferral?.reason, refusal, types: world.types() };
  const spending = world.ledger.spending();
  if (state === 'UNFULFILLED') await cancel(measurement);
  return { ...seen, spending };
}

it('an agent shows no difference between references with no row, one row and many rows, held or answered', async () => {
  const [header, ...rows] = eventsCsv().split('\n');
  const others = rows.map((row) => row.replace(',spring,', ',other,'));
  const worlds: [string, string[]][] = [
    ['none.csv', others],
    ['one.csv', [...others, rows[0]!]],
    ['many.csv', [...others, ...rows]],
  ];
  for (const confirmed of [[], ['spring']]) {
    const seen = [];
    for (const [file, lines] of worlds) {
      const files = join(world.directory, file);
      await writeFile(files, `${[header, ...lines].filter(Boolean).join('\n')}\n`);
      const events = await openEvents({ files, threads: 1 });
      world.end();
      world.begin();
      confirmReferences(world.ledgerPath(), confirmed);
      seen.push(await observed(events, { references: listed() }));
      await events.close();
    }
    const [none, one, many] = seen;
    expect(none!.state).toBe(confirmed.length > 0 ? 'FULFILLED' : 'UNFULFILLED');
    expect(none!.spending).toHaveLength(confirmed.length > 0 ? 3 : 0);
    expect(one).toEqual(none);
    expect(many).toEqual(none);
  }
});
