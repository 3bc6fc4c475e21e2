/**
 * Runs two exchanges over one database while all parties act at the same time. At most one request decides how a
 * measurement ends, and no reader sees a partial change.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import {
  createDatabase,
  type Database,
  type DevParty,
  fulfillment,
  measurementRequest,
  type Reply,
} from '@measurement-exchange/testkit/exchange';
import { type ExchangeProcess, startExchangeProcess } from '@measurement-exchange/testkit/process';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { doctor } from '../../src/database/doctor.ts';
import { tokenNow } from '../changes/follow.ts';
import { seen, useStreams } from '../changes/stream.ts';
import { Watch } from './watch.ts';

const ROUNDS = rounds(100);
const DECISIONS = rounds(200);

let database: Database;
let servers: ExchangeProcess[];
let consumer: DevParty;
let providers: DevParty[];
/** Responses with status 500 or above, which must not occur. */
const failures: string[] = [];

beforeAll(async () => {
  database = await createDatabase();
  const config = { rate: { perSecond: 1e6, burst: 1e6 } };
  const start = () => startExchangeProcess({ databaseUrl: database.url, config });
  servers = await Promise.all([start(), start()]);
  consumer = servers[0]!.dev.measurementConsumers[0]!;
  providers = servers[0]!.dev.dataProviders;
});

afterAll(async () => {
  const codes = await Promise.all(servers.map((server) => server.kill()));
  await Promise.all(servers.map((server) => server.remove()));
  const ailments = await doctor({ connection: { connectionString: database.url } });
  await database.drop();
  expect(codes).toEqual([0, 0]);
  // Ignore UNAVAILABLE. On a busy machine, the exchanges reject requests with this code, and clients repeat them.
  const errors = servers.flatMap((server) => server.output().match(/.*"level":50.*/g) ?? []);
  expect(errors.filter((line) => !line.includes('"code":"UNAVAILABLE"'))).toEqual([]);
  expect(failures).toEqual([]);
  expect(ailments).toEqual([]);
});

/**
 * Sends a request to server `at`, modulo the number of servers. Uses the token that this server issued to the party,
 * because each server has its own issuer.
 */
async function call(at: number, who: DevParty, method: string, path: string, body?: unknown): Promise<Reply> {
  const server = servers[at % servers.length]!;
  const { measurementConsumers, dataProviders } = server.dev;
  const { token } = [...measurementConsumers, ...dataProviders].find((party) => party.name === who.name)!;
  const reply = await server.call(token, method, `/v2alpha/${path}`, body);
  if (reply.status >= 500) failures.push(`${method} ${path}: ${reply.text}`);
  return reply;
}

const anywhere = () => Math.floor(Math.random() * servers.length);
/** Returns OK for status 200, and otherwise the status and the reason of the error. */
const outcome = ({ status, json }: Reply) =>
  status === 200 ? 'OK' : `${status} ${json.error.details[0].reason}`;

async function inParallel(count: number, atOnce: number, work: (i: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

interface Open {
  name: string;
  /**
   * One requisition for each provider, in the order of the providers: its name in the provider's view, and its etag.
   */
  requisitions: { name: string; etag: string }[];
}

/** Creates a measurement at one server and reads its requisitions at the other. */
async function openMeasurement(at: number, of: DevParty[]): Promise<Open> {
  const created = await call(
    at,
    consumer,
    'POST',
    `${consumer.name}/measurements`,
    measurementRequest(consumer, of),
  );
  expect(created.status, created.text).toBe(200);
  const { name } = created.json;
  const { json } = await call(at + 1, consumer, 'GET', `${name}/requisitions`);
  const requisitions = of.map((provider) => {
    const own = json.requisitions.find((r: { dataProvider: string }) => r.dataProvider === provider.name);
    return { name: `${provider.name}/requisitions/${own.name.split('/').at(-1)}`, etag: own.etag as string };
  });
  return { name, requisitions };
}

function fulfil(at: number, open: Open, i: number): Promise<Reply> {
  const { name, etag } = open.requisitions[i]!;
  const body = fulfillment(providers[i]!, { etag }, BigInt(i + 1));
  return call(at, providers[i]!, 'POST', `${name}:fulfillDirect`, body);
}

function refuse(at: number, open: Open, i: number, etag = open.requisitions[i]!.etag): Promise<Reply> {
  const body = { refusal: { justification: 'DECLINED', message: 'no' }, etag };
  return call(at, providers[i]!, 'POST', `${open.requisitions[i]!.name}:refuse`, body);
}

/** Runs `work` while readers at both servers read the measurements that `work` passes to `watch`. */
async function watched(work: (watch: (open: Open) => void) => Promise<void>): Promise<void> {
  const watch = new Watch((path, names) =>
    names
      ? call(anywhere(), consumer, 'POST', `${consumer.name}/measurements:batchGet`, { names })
      : call(anywhere(), consumer, 'GET', path),
  );
  const looking = watch.start(3);
  try {
    await work(({ name }) => watch.add(name));
  } finally {
    watch.stop();
    await looking;
  }
  expect(watch.illegal).toEqual([]);
  expect(watch.looks).toBeGreaterThan(3);
}

describe('three concurrent fulfillments', () => {
  it(`complete every measurement in ${ROUNDS} rounds, and only the last response shows SUCCEEDED`, async () => {
    await watched((watch) =>
      inParallel(ROUNDS, 16, async (round) => {
        const open = await openMeasurement(round, providers);
        watch(open);
        const replies = await Promise.all(providers.map((_, i) => fulfil(round + i, open, i)));
        const measurement = (await call(anywhere(), consumer, 'GET', open.name)).json;
        expect([measurement.state, measurement.results?.length]).toEqual(['SUCCEEDED', 3]);
        expect(replies.map(outcome)).toEqual(['OK', 'OK', 'OK']);
        // Only the reply to the last fulfillment shows the final state.
        expect(replies.map((reply) => reply.json.measurementState).sort()).toEqual([
          'AWAITING_REQUISITION_FULFILLMENT',
          'AWAITING_REQUISITION_FULFILLMENT',
          'SUCCEEDED',
        ]);
      }),
    );
  }, 120_000);

  it('are visible on the other server after the response of the first', async () => {
    await inParallel(rounds(50), 8, async (round) => {
      const open = await openMeasurement(round, providers);
      await Promise.all(
        providers.map(async (provider, i) => {
          const written = await fulfil(round + i, open, i);
          const read = await call(round + i + 1, provider, 'GET', open.requisitions[i]!.name);
          expect([read.json.state, read.json.etag]).toEqual(['FULFILLED', written.json.etag]);
        }),
      );
    });
  });
});

describe('a concurrent last fulfillment, refusal and cancellation', () => {
  const ABORTED = '409 REQUISITION_ETAG_MISMATCH';
  const OVER = '400 MEASUREMENT_STATE_ILLEGAL';

  it(`have exactly one winner in each of ${DECISIONS} rounds`, async () => {
    const decided = { SUCCEEDED: 0, FAILED: 0, CANCELLED: 0 };
    await watched((watch) =>
      inParallel(Math.max(200, DECISIONS), 8, async (round) => {
        // After the first DECISIONS rounds, continue only until each of the three outcomes has occurred.
        if (round >= DECISIONS && !Object.values(decided).includes(0)) return;
        const open = await openMeasurement(round, providers.slice(0, 2));
        watch(open);
        // The provider that refuses its requisition also tries to fulfill it, with the same etag. Without this attempt,
        // the measurement could never succeed.
        const racers = [
          (at: number) => fulfil(at, open, 0),
          (at: number) => fulfil(at, open, 1),
          (at: number) => refuse(at, open, 1),
          (at: number) => call(at, consumer, 'POST', `${open.name}:cancel`),
        ];
        const replies = await Promise.all(
          racers.map(async (race, i) => {
            await sleep(Math.random() * 6);
            return outcome(await race(round + i));
          }),
        );
        const { state, failure } = (await call(anywhere(), consumer, 'GET', open.name)).json;
        const list = (await call(anywhere(), consumer, 'GET', `${open.name}/requisitions`)).json.requisitions;
        const states = open.requisitions.map(
          ({ name }) => list.find((r: { name: string }) => r.name.endsWith(name.split('/').at(-1)!)).state,
        );
        expect(LEGAL[state as keyof typeof LEGAL]).toContain([...replies, ...states].join(', '));
        if (state === 'FAILED') expect(failure.reason).toBe('REQUISITION_REFUSED');
        decided[state as keyof typeof decided]++;

        // A refusal with the current etag is rejected, too, because the requisition is closed for good.
        const etag = list.find((r: { dataProvider: string }) => r.dataProvider === providers[1]!.name).etag;
        expect(outcome(await refuse(round, open, 1, etag))).toBe('400 REQUISITION_STATE_ILLEGAL');
      }),
    );
    for (const times of Object.values(decided)) expect(times, JSON.stringify(decided)).toBeGreaterThan(0);
  });

  /**
   * The allowed outcomes by final state of the measurement. Each outcome lists the responses to four requests: fulfill
   * requisition 1, fulfill requisition 2, refuse requisition 2, and cancel. The final states of both requisitions
   * follow. Withdrawing, fulfilling, and refusing all change the etag, and the exchange reports a stale etag before a
   * wrong state.
   */
  const LEGAL = {
    SUCCEEDED: [['OK', 'OK', ABORTED, OVER, 'FULFILLED', 'FULFILLED'].join(', ')],
    FAILED: [
      ['OK', ABORTED, 'OK', OVER, 'FULFILLED', 'REFUSED'].join(', '),
      [ABORTED, ABORTED, 'OK', OVER, 'WITHDRAWN', 'REFUSED'].join(', '),
    ],
    CANCELLED: [
      ['OK', ABORTED, ABORTED, 'OK', 'FULFILLED', 'WITHDRAWN'].join(', '),
      [ABORTED, 'OK', ABORTED, 'OK', 'WITHDRAWN', 'FULFILLED'].join(', '),
      [ABORTED, ABORTED, ABORTED, 'OK', 'WITHDRAWN', 'WITHDRAWN'].join(', '),
    ],
  };

  it('have exactly one winner among 64 writers with the same etag', async () => {
    for (let round = 0; round < rounds(5, 2); round++) {
      const open = await openMeasurement(round, providers);
      const writers = Array.from({ length: 64 }, (_, i) =>
        i % 3 === 0 ? refuse(i, open, 0) : fulfil(i, open, 0),
      );
      const replies = (await Promise.all(writers)).map(outcome).sort();
      expect(replies).toEqual([...Array(63).fill(ABORTED), 'OK']);
    }
  });
});

describe('measurements that succeed one after another', () => {
  it('appear in batchGet as SUCCEEDED in order, without gaps, and never fewer than before', async () => {
    const opens: Open[] = [];
    for (let i = 0; i < rounds(50); i++) opens.push(await openMeasurement(i, providers.slice(0, 1)));
    const names = opens.map(({ name }) => name);
    let over = false;
    const read = async (reader: number) => {
      const asked = reader % 2 ? names.toReversed() : names;
      let before = 0;
      for (let at = reader; !over; at++) {
        const { json } = await call(at, consumer, 'POST', `${consumer.name}/measurements:batchGet`, {
          names: asked,
        });
        const states: string[] = json.measurements.map((m: { state: string }) => m.state);
        if (reader % 2) states.reverse();
        const done = states.lastIndexOf('SUCCEEDED') + 1;
        expect(states.slice(0, done)).toEqual(Array(done).fill('SUCCEEDED'));
        expect(done).toBeGreaterThanOrEqual(before);
        before = done;
      }
    };
    const readers = [0, 1, 2, 3].map(read);
    for (const [i, open] of opens.entries()) expect(outcome(await fulfil(i, open, 0))).toBe('OK');
    over = true;
    await Promise.all(readers);
  });
});

describe('a watch at one exchange', () => {
  const watch = useStreams({ url: '' });
  const at = (n: number) => servers[n]!.dev.measurementConsumers.find(({ name }) => name === consumer.name)!;

  it('receives changes that are committed at the other one, and can resume there', async () => {
    const create = async (n: number) => {
      const body = measurementRequest(consumer, providers.slice(0, 1));
      const { json } = await call(n, consumer, 'POST', `${consumer.name}/measurements`, body);
      return `${json.name} 1`;
    };
    const kind = 'filter.kinds=MEASUREMENT';
    const token = await tokenNow({ ...servers[0]!, database }, at(0));
    const first = await watch(at(0), `${kind}&pageToken=${token}`, {}, servers[0]!.url);
    const made: string[] = [];
    for (let i = 1; i <= 4; i++) {
      made.push(await create(1));
      await seen(first, i);
    }
    expect(first.lines).toEqual(made);
    made.push(await create(0), await create(1));
    await seen(first, 6);
    // Resume at the other server, because a page token of one server must be valid at the other.
    const second = await watch(at(1), `${kind}&pageToken=${first.lastId}`, {}, servers[1]!.url);
    first.response.destroy();
    made.push(await create(0), await create(1));
    await seen(second, 2);
    expect([...first.lines.slice(0, 6), ...second.lines]).toEqual(made);
  });
});

describe('concurrent creates with one requestId', () => {
  const descriptorSet = (name: string) => ({
    file: [{ name: 'a.proto', package: 'a', messageType: [{ name }] }],
  });
  const kinds = [
    {
      kind: 'measurements',
      times: 50,
      content: (n: number) => measurementRequest(consumer, providers.slice(0, 1 + (n % 3))),
      by: () => consumer,
    },
    {
      kind: 'eventGroupMetadataDescriptors',
      times: 20,
      content: (n: number) => ({ descriptorSet: descriptorSet(`M${n}`) }),
      by: () => providers[0]!,
    },
  ];

  it.each(kinds)(
    'with the same content create exactly one of the $kind, and all return its name',
    async ({ kind, times, content, by }) => {
      const body = { ...content(0), requestId: 'same' };
      const creates = Array.from({ length: times }, (_, i) =>
        call(i, by(), 'POST', `${by().name}/${kind}`, body),
      );
      const replies = await Promise.all(creates);
      expect(replies.map(outcome)).toEqual(Array(times).fill('OK'));
      expect(new Set(replies.map(({ json }) => json.name)).size).toBe(1);
      expect(await made(kind, 'same')).toEqual([replies[0]!.json.name]);
    },
  );

  it.each(kinds)(
    'with different content create exactly one of the $kind, and the others get 409 with its name',
    async ({ kind, times, content, by }) => {
      const creates = Array.from({ length: times }, (_, i) =>
        call(i, by(), 'POST', `${by().name}/${kind}`, { ...content(i), requestId: 'different' }),
      );
      const replies = await Promise.all(creates);
      const winners = replies.filter(({ status }) => status === 200);
      expect(winners.length).toBe(1);
      const { name } = winners[0]!.json;
      for (const loser of replies.filter(({ status }) => status !== 200)) {
        expect(outcome(loser)).toBe('409 REQUEST_ID_REUSED');
        expect(loser.json.error.status).toBe('ALREADY_EXISTS');
        expect(loser.json.error.details[0].metadata).toEqual({ requestId: 'different', existing: name });
      }
      expect(await made(kind, 'different')).toEqual([name]);
    },
  );

  async function made(kind: string, requestId: string): Promise<unknown[]> {
    const [table, parent] =
      kind === 'measurements' ? [kind, 'consumer'] : ['event_group_metadata_descriptors', 'provider'];
    const text = `SELECT ${parent} || '/${kind}/' || id AS name FROM ${table} WHERE request_id = $1`;
    return (await database.query(text, [requestId])).map((row) => row.name);
  }
});
