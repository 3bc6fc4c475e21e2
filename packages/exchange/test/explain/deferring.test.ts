/**
 * Tests that a provider can say why and until when a requisition waits. Also tests that the exchange stores when
 * parties were last seen.
 */
import { computationOf, setAllParameters, useComputations } from '@measurement-exchange/testkit/computations';
import { type DevParty, type Reply, UNLIMITED } from '@measurement-exchange/testkit/exchange';
import {
  createMeasurement,
  errorOf,
  fulfill,
  get,
  ok,
  post,
  requisitionOf,
} from '@measurement-exchange/testkit/steps';
import { expect, it } from 'vitest';
import { LastSeen } from '../../src/database/lastSeen.ts';

type Json = Reply['json'];
const world = useComputations({ rate: UNLIMITED });
const { exchange } = world;

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().replace('Z', '000Z');
const defer = (requisition: Json, body: object, query = '') =>
  post(exchange, world.streamly, `${requisition.name}:defer${query}`, body);
async function begin(): Promise<Json> {
  const measurement = await createMeasurement(exchange, world.acme, [world.streamly]);
  return requisitionOf(exchange, world.streamly, measurement);
}

it('a deferral changes the etag of the requisition, is visible to both sides, and is a timeline step', async () => {
  const requisition = await begin();
  const deferral = { reason: 'The logs come on Thursday.', until: inDays(3) };
  const deferred = await ok(defer(requisition, deferral));
  expect(deferred).toEqual({
    ...requisition,
    deferral,
    etag: expect.not.stringMatching(requisition.etag),
    updateTime: deferred.updateTime,
  });
  const id = requisition.name.split('/').at(-1);
  const seen = await get(exchange, world.acme, `${requisition.measurement}/requisitions/${id}`);
  expect(seen.deferral).toEqual(deferral);
  const { transitions } = await get(exchange, world.streamly, `${requisition.name}:timeline`);
  expect(transitions.at(-1)).toMatchObject({
    from: 'UNFULFILLED',
    to: 'UNFULFILLED',
    cause: 'deferred',
    actor: world.streamly.name,
  });
  const fulfilled = await ok(fulfill(exchange, world.streamly, deferred, 1n));
  expect(fulfilled).toMatchObject({ state: 'FULFILLED', deferral });
});

it('a repeated deferral, or one with validateOnly, does not change the requisition', async () => {
  const requisition = await begin();
  const body = { reason: 'Later.', until: inDays(1) };
  await ok(defer(requisition, body, '?validateOnly=true'));
  expect(await get(exchange, world.streamly, requisition.name)).toEqual(requisition);
  const deferred = await ok(defer(requisition, body));
  expect(await ok(defer(requisition, body))).toEqual(deferred);
  const again = await ok(defer(requisition, { ...body, until: inDays(2) }));
  expect(again.etag).not.toBe(deferred.etag);
});

it('a deferral requires a reason of 1 to 1000 characters, a time within 30 days, and an open requisition', async () => {
  const requisition = await begin();
  const until = inDays(1);
  expect((await defer(requisition, { reason: 'x'.repeat(1000), until })).status).toBe(200);
  expect((await defer(requisition, { reason: 'Later.', until: inDays(29.9) })).status).toBe(200);
  const INVALID = '400 INVALID_ARGUMENT INVALID_FIELD_VALUE';
  for (const [body, error] of [
    [{ reason: 'x'.repeat(1001), until }, `${INVALID} reason`],
    [{ reason: '', until }, `${INVALID} reason`],
    [{ reason: 'Later.', until: inDays(30.1) }, `${INVALID} until`],
    [{ reason: 'Later.', until: inDays(-0.1) }, `${INVALID} until`],
    [{ reason: 'Later.' }, '400 INVALID_ARGUMENT REQUIRED_FIELD_NOT_SET until'],
  ] as const) {
    expect(errorOf(await defer(requisition, body))).toBe(error);
  }
  const { etag } = await get(exchange, world.streamly, requisition.name);
  await ok(fulfill(exchange, world.streamly, { ...requisition, etag }, 1n));
  expect(errorOf(await defer(requisition, { reason: 'Later.', until }))).toBe(
    '400 FAILED_PRECONDITION REQUISITION_STATE_ILLEGAL',
  );
});

it('a requisition announces at most 10 deferrals, and then replaces the last one at most once a minute', async () => {
  const requisition = await begin();
  const id = requisition.name.split('/').at(-1);
  const seen = () => get(exchange, world.acme, `${requisition.measurement}/requisitions/${id}`);
  const changes = async () =>
    (await get(exchange, world.acme, `${world.acme.name}/changes?from=OLDEST&pageSize=1000`)).changes.filter(
      (change: Json) => change.name.endsWith(`/requisitions/${id}`),
    );
  const until = inDays(1);
  const body = (n: number) => ({ reason: `Reason ${n}.`, until });
  const first = Array.from({ length: 10 }, (_, n) => body(n));
  for (const deferral of first) expect((await ok(defer(requisition, deferral))).deferral).toEqual(deferral);
  const { etag } = await get(exchange, world.streamly, requisition.name);
  for (let n = 10; n < 100; n++) {
    const reply = await defer(requisition, body(n));
    expect(errorOf(reply)).toBe('429 RESOURCE_EXHAUSTED DEFERRED_TOO_OFTEN until');
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(30);
  }
  expect((await seen()).deferral).toEqual(first.at(-1));
  // Repeating the current deferral changes nothing and does not count towards the limit.
  await ok(defer(requisition, first.at(-1)!));

  const ageBy = (seconds: number) =>
    exchange.database.query(
      `UPDATE requisitions SET deferral_time = deferral_time - $2 * interval '1 second' WHERE id = $1`,
      [id, seconds],
    );
  await ageBy(61);
  expect((await ok(defer(requisition, body(100), '?validateOnly=true'))).deferral).toEqual(body(100));
  expect((await seen()).deferral).toEqual(first.at(-1));
  const replaced = await ok(defer(requisition, body(101)));
  expect(replaced).toMatchObject({ deferral: body(101), etag });
  expect((await seen()).deferral).toEqual(body(101));
  await ageBy(30);
  expect((await defer(requisition, body(102))).status).toBe(429);

  // Each timeline and the change feed show only ten deferrals. Webhooks are delivered from the change feed, so they
  // also send only ten.
  for (const [party, name] of [
    [world.streamly, requisition.name],
    [world.acme, requisition.measurement],
  ] as const) {
    const { transitions } = await get(exchange, party, `${name}:timeline`);
    expect(transitions.filter(({ cause }: Json) => cause === 'deferred')).toHaveLength(10);
  }
  await ok(fulfill(exchange, world.streamly, replaced, 1n));
  // Wait for the last change, which is the fulfillment. Open transactions of other tests on this server can delay the
  // changes in the feed.
  await expect.poll(async () => (await changes()).at(-1)?.state).toBe('FULFILLED');
  expect(await changes()).toHaveLength(1 + 10 + 1);
});

it('a deferral changes the etag of the computation, and :explain reports it to all three parties', async () => {
  const measurement = await world.create();
  await setAllParameters(exchange, world.duchies, measurement);
  const requisition = await requisitionOf(exchange, world.streamly, measurement);
  const duchy = world.duchies.aggregator as DevParty;
  const computation = computationOf(duchy, measurement);
  const { etag } = await get(exchange, duchy, computation);
  await ok(defer(requisition, { reason: 'Later.', until: inDays(1) }));
  expect((await get(exchange, duchy, computation)).etag).not.toBe(etag);
  for (const [party, name] of [
    [world.acme, measurement.name],
    [world.streamly, requisition.name],
    [duchy, computation],
  ] as const) {
    const { waitingFor, nextDeadline } = await get(exchange, party, `${name}:explain`);
    expect(waitingFor.find((w: Json) => w.party === world.streamly.name).code).toBe('DEFERRED');
    expect(Date.parse(nextDeadline)).toBe(Date.parse(measurement.createTime) + 14 * 86_400_000);
  }
});

it('LastSeen stores the times of all parties in one statement, and never replaces a later time', async () => {
  const stored = async () =>
    exchange.database.query(`SELECT party, time > now() - interval '1 minute' AS recent FROM last_seen
      WHERE party LIKE '%/lastSeen%' ORDER BY 1`);
  const statements: unknown[] = [];
  const db = {
    query: async (statement: { text: string }, values: unknown[]) => {
      statements.push(statement);
      return (await exchange.database.query(statement.text, values)) as never;
    },
  };
  const [lastSeen, late] = [new LastSeen(), new LastSeen()];
  await lastSeen.store(db);
  expect(statements).toEqual([]);
  for (let i = 0; i < 1000; i++) lastSeen.note(`dataProviders/lastSeen${i % 3}`);
  await lastSeen.store(db);
  await lastSeen.store(db);
  expect(statements).toHaveLength(1);
  expect(await stored()).toEqual(
    [0, 1, 2].map((i) => ({ party: `dataProviders/lastSeen${i}`, recent: true })),
  );
  late.note('dataProviders/lastSeen0');
  await exchange.database.query(`UPDATE last_seen SET time = '2100-01-01' WHERE party LIKE '%/lastSeen0'`);
  await late.store(db);
  expect(await exchange.database.query(`SELECT 1 FROM last_seen WHERE time = '2100-01-01'`)).toHaveLength(1);
});
