/**
 * Tests that an agent still serves other consumers if one consumer floods it with requisitions, or if a duchy is slow.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Refusal, Requisition } from '@measurement-exchange/contract';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { ExchangeClient } from '../../src/index.ts';
import { PROVIDER } from './requisitions.ts';
import { type Scripted, type ShareWorld, startShareWorld } from './shareWorld.ts';

let world: ShareWorld;
let exchange: Scripted;
beforeAll(async () => {
  world = await startShareWorld();
});
beforeEach(async () => {
  world.begin();
  exchange = await world.scripted();
});
afterEach(async () => expect(await world.end()).toEqual([]));
afterAll(() => world.stop());

const WAIT = { timeout: 90_000 };

/** A requisition that the agent refuses immediately, without reading the events. */
const quick = (consumer: string, n: number): Requisition => ({
  name: `${PROVIDER}/requisitions/${consumer}${n}`,
  measurement: `measurementConsumers/${consumer}/measurements/m${n}`,
  state: 'UNFULFILLED',
  protocolConfig: { direct: {} },
  etag: 'e',
});
const many = (consumer: string, count: number) => Array.from({ length: count }, (_, n) => quick(consumer, n));
/** A copy of the test requisition. To answer it, the agent uploads a share to the duchy. */
const computed = (n: number): Requisition => ({
  ...exchange.requisition,
  name: `${PROVIDER}/requisitions/computed${n}`,
});

/** An exchange with these requisitions. Records the order in which they are refused. */
function listing(requisitions: Requisition[], onListed?: () => void) {
  const refused: string[] = [];
  const client = {
    ...exchange.client,
    async *listRequisitions() {
      for (const requisition of requisitions)
        if (requisition.state === 'UNFULFILLED') yield { ...requisition };
      onListed?.();
    },
    getRequisition: async ({ name }: { name: string }) => requisitions.find((each) => each.name === name),
    async refuseRequisition({ name }: { name: string; body: { refusal: Refusal } }) {
      const requisition = requisitions.find((each) => each.name === name)!;
      requisition.state = 'REFUSED';
      refused.push(name.split('/').at(-1)!);
      return requisition;
    },
  } as unknown as ExchangeClient;
  return { client, refused };
}

it('a second consumer is answered at the next turn, even if the first consumer has 160 open requisitions', async () => {
  // Delay every refusal until the agent has read the whole list.
  let read = () => {};
  const isRead = new Promise<void>((resolve) => {
    read = resolve;
  });
  const { client, refused } = listing([...many('acme', 160), quick('globex', 0)], () => read());
  const refuse = client.refuseRequisition;
  const slow = { ...client, refuseRequisition: async (args: never) => isRead.then(() => refuse(args)) };
  const agent = exchange.agent({ client: slow as never, concurrency: 1 });
  expect(await agent.once()).toEqual({ handled: 161, failed: 0 });
  expect(refused.indexOf('globex0')).toBe(1);
  expect(new Set(refused)).toHaveLength(161);
});

it('a running agent answers the requisitions that did not fit in memory when there is room', async () => {
  const { client, refused } = listing([...many('acme', 160), ...many('globex', 3)]);
  const stop = new AbortController();
  const clock = {
    now: Date.now,
    sleep: (ms: number, signal?: AbortSignal) => sleep(ms, undefined, signal && { signal }),
  };
  const running = exchange.agent({ client, concurrency: 2, clock, pollMs: 1e9 }).run(stop.signal);
  await vi.waitUntil(() => refused.length === 163, { timeout: 90_000 });
  stop.abort();
  await running;
  expect(world.types()).not.toContain('retrying');
});

it('a duchy that accepts no upload delays no direct result, and at most eight shares are made for it', async () => {
  const uploads = Array.from({ length: 80 }, (_, n) => computed(n));
  const [, consumer] = exchange.requisition.measurement!.split('/');
  const { client, refused } = listing([...uploads, ...many(consumer!, 20)]);
  let taken = 0;
  let most = 0;
  const answers: (() => void)[] = [];
  world.duchy.next = uploads.map(() => async (request, response) => {
    most = Math.max(most, ++taken);
    await new Promise<void>((resolve) => answers.push(resolve));
    taken--;
    uploads.find(({ name }) => request.url!.includes(`${name}:`))!.state = 'FULFILLED';
    for await (const _ of request);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  const shareShuffle = { ...exchange.shareShuffle, uploadTimeoutSeconds: 600 };
  const done = exchange.agent({ client, shareShuffle, concurrency: 1 }).once();
  await vi.waitUntil(() => refused.length === 20 && answers.length === 2, WAIT);
  await vi.waitUntil(async () => (await world.shares()).length === 8, WAIT);
  expect(world.types().filter((type) => type === 'received')).toHaveLength(28);
  // Withdraw the requisitions for which the agent has not made a share. Then let the duchy respond, so that the agent
  // can deliver all shares.
  for (const withdrawn of uploads.slice(8)) withdrawn.state = 'WITHDRAWN';
  const answering = setInterval(() => answers.shift()?.(), 1);
  expect(await done).toEqual({ handled: 28, failed: 0 });
  clearInterval(answering);
  expect(most).toBe(2);
  expect(await world.shares()).toEqual([]);
});
