/**
 * Sends random hostile descriptor sets to every operation that reads them. Every response must stay within its size
 * limit, and the event loop must never be blocked for long. Internal errors must not occur. `MEX_FUZZ_SEED` selects
 * other sets.
 */

import { Dice, randomMessage, randomSet } from '@measurement-exchange/testkit/descriptorFuzz';
import { checkedErrorOf } from '@measurement-exchange/testkit/errorModel';
import {
  createDatabase,
  type Database,
  type DevParty,
  type Reply,
} from '@measurement-exchange/testkit/exchange';
import { base64, manyFields, setOf } from '@measurement-exchange/testkit/hostileDescriptors';
import { type ExchangeProcess, startExchangeProcess } from '@measurement-exchange/testkit/process';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { doctor } from '../../src/database/doctor.ts';
import { printDescriptorSet } from '../../src/protobuf/descriptor/descriptorSet.ts';
import { BUSY_LOOP, busiest } from './busyLoop.ts';

const RUNS = rounds(100);
const SEED = Number(process.env.MEX_FUZZ_SEED ?? 1);
const PAGE = 8 * 1024 * 1024;
/** The maximum processor time between two turns of the event loop. */
const MAX_BUSY_MS = 100;

let database: Database;
let exchange: ExchangeProcess;
let consumer: DevParty;
let provider: DevParty;

beforeAll(async () => {
  database = await createDatabase();
  exchange = await startExchangeProcess({
    databaseUrl: database.url,
    env: BUSY_LOOP,
    config: { rate: { perSecond: 1e6, burst: 1e6 } },
  });
  consumer = exchange.dev.measurementConsumers[0]!;
  provider = exchange.dev.dataProviders[0]!;
});
afterAll(async () => {
  expect(await exchange.kill()).toBe(0);
  expect(exchange.output()).not.toMatch(/"level":[56]0/);
  const found = await doctor({ connection: { connectionString: database.url } });
  expect(found.filter(({ severity }) => severity === 'error')).toEqual([]);
  await exchange.remove();
  await database.drop();
});

/**
 * Totals of the whole run: the requests, the accepted sets, the size of the largest response in bytes, and the count of
 * each outcome.
 */
const seen = {
  requests: 0,
  accepted: 0,
  largest: 0,
  statuses: new Map<string, number>(),
};

async function call(party: DevParty, method: string, path: string, body?: unknown): Promise<Reply> {
  const reply = await exchange.call(party.token, method, `/v2alpha/${path}`, body);
  const bytes = Buffer.byteLength(reply.text);
  const what = reply.status === 200 ? '200' : checkedErrorOf(reply);
  seen.requests++;
  seen.largest = Math.max(seen.largest, bytes);
  seen.statuses.set(what, (seen.statuses.get(what) ?? 0) + 1);
  expect(reply.status, `${method} ${path} ${reply.text.slice(0, 500)}`).toBeLessThan(500);
  expect(bytes, `${method} ${path}`).toBeLessThanOrEqual(PAGE);
  return reply;
}

/**
 * Returns the set in the form to send. One set in four is sent as JSON, unless the set or its JSON is too large. All
 * other sets are sent as base64. If a body were too large, the exchange would close the connection during the upload.
 */
function formOf(dice: Dice, set: Uint8Array): unknown {
  const json = dice.isOne(4) && set.length < 300_000 ? printDescriptorSet(set) : undefined;
  return json === undefined || json.length > 3_000_000 ? base64(set) : JSON.parse(json);
}

/**
 * Uses two random sets in every operation that reads sets: create, get, list, diff, update, decode, and operations on
 * event groups that refer to a set.
 */
async function run(dice: Dice, stable: { name: string; group: string }, lists: boolean): Promise<void> {
  const [first, second] = [randomSet(dice), randomSet(dice)];
  const descriptors = `${provider.name}/eventGroupMetadataDescriptors`;
  const created = await call(provider, 'POST', descriptors, { descriptorSet: formOf(dice, first.set) });
  await call(consumer, 'POST', `${stable.name}:diff`, { descriptorSet: base64(second.set) });
  // Event groups refer to this descriptor, so every accepted update changes how they are printed.
  const updated = await call(provider, 'PUT', stable.name, { descriptorSet: base64(first.set) });
  if (updated.status === 200) {
    await call(consumer, 'GET', `${consumer.name}/eventGroups?pageSize=${lists ? 1000 : 5}`);
    await call(consumer, 'GET', `${consumer.name}/eventGroups/${stable.group}:decode`);
  }
  if (created.status !== 200) return;
  seen.accepted++;
  const { name } = created.json;
  await call(consumer, 'GET', name);
  if (lists) await call(consumer, 'GET', 'dataProviders/-/eventGroupMetadataDescriptors?pageSize=1000');
  await call(consumer, 'POST', `${name}:diff`, { descriptorSet: base64(second.set) });
  const message = base64(randomMessage(dice));
  const typeUrl = `type.googleapis.com/${dice.of(['fuzz.M', 'fuzz.M0', 'fuzz.M1', 'fuzz.R'])}`;
  await call(consumer, 'POST', `${name}:decode`, { typeUrl, value: message });
  await call(provider, 'POST', `${provider.name}/eventGroups`, {
    measurementConsumer: consumer.name,
    encryptedMetadata: {
      metadata: { eventGroupMetadataDescriptor: name, metadata: { typeUrl, value: message } },
    },
  });
  await call(provider, 'PATCH', name, { descriptorSet: base64(second.set) });
}

it(`${RUNS} hostile descriptor sets cause no 5xx, no huge response and no blocked event loop, seed ${SEED}`, {
  timeout: 60_000 + RUNS * 5_000,
}, async () => {
  const plain = setOf({ name: 'fuzz.proto', package: 'fuzz', messageType: [{ name: 'M' }] });
  const descriptors = `${provider.name}/eventGroupMetadataDescriptors`;
  const { name } = (await call(provider, 'POST', descriptors, { descriptorSet: base64(plain) })).json;
  const metadata = {
    eventGroupMetadataDescriptor: name,
    metadata: { '@type': 'type.googleapis.com/fuzz.M' },
  };
  const group = await call(provider, 'POST', `${provider.name}/eventGroups`, {
    measurementConsumer: consumer.name,
    encryptedMetadata: { metadata },
  });
  const stable = { name, group: group.json.name.split('/').at(-1) };
  // Send one set before the processor time is measured. This request starts the compute thread, which takes time.
  await call(provider, 'POST', descriptors, { descriptorSet: base64(manyFields(20_000)) });
  const from = exchange.output().length;
  for (let i = 0; i < RUNS; i++) {
    try {
      await run(new Dice(SEED + i), stable, i % 5 === 0);
    } catch (error) {
      throw new Error(`the first set of MEX_FUZZ_SEED=${SEED + i}`, { cause: error });
    }
    if (i % 250 === 249)
      console.log(`${i + 1} of ${RUNS}`, {
        ...seen,
        busyMs: busiest(exchange.output().slice(from)),
        statuses: Object.fromEntries(seen.statuses),
      });
  }
  const busyMs = busiest(exchange.output().slice(from));
  if (RUNS >= 1_000) console.log({ ...seen, busyMs, statuses: Object.fromEntries(seen.statuses) });
  expect(busyMs).toBeLessThan(MAX_BUSY_MS);
});
