/**
 * Tests requests of duchies, providers, and the consumer that compete with each other and with deadlines. Exactly one
 * request or deadline decides the outcome.
 */

import {
  act,
  all,
  parametersOf,
  readComputation,
  reportFulfilled,
  resultOf,
  setAllParameters,
  useComputations,
} from '@measurement-exchange/testkit/computations';
import { type Reply, UNLIMITED } from '@measurement-exchange/testkit/exchange';
import { inTurn as attemptInTurn } from '@measurement-exchange/testkit/inTurn';
import { useReplica } from '@measurement-exchange/testkit/replica';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { get, ok, post, refuse, requisitionOf } from '@measurement-exchange/testkit/steps';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { failOverdueComputations } from '../../src/jobs/computationDeadlines.ts';

type Json = Reply['json'];
const world = useComputations({ rate: UNLIMITED });
const { exchange } = world;
const ahead = useReplica(exchange);
const ROUNDS = rounds(20);

/** Returns OK for status 200, and otherwise the reason of the error. */
const outcome = ({ status, json }: Reply) => (status === 200 ? 'OK' : json.error.details[0].reason);
const MISMATCH = 'COMPUTATION_ETAG_MISMATCH';
const ILLEGAL = 'COMPUTATION_STATE_ILLEGAL';

const inTurn = (measurement: Json, attempts: (() => Promise<string>)[]) =>
  attemptInTurn(exchange, measurement, attempts);

/**
 * Creates a measurement that waits for data. Assigns one provider to each worker, because two requests of one duchy
 * would wait for each other before they reach the lock of the measurement.
 */
async function createReady(): Promise<Json> {
  const measurement = await world.create();
  const { firstWorker, secondWorker } = world.duchies;
  await exchange.database.query(
    'UPDATE requisitions SET fulfilling_duchy = CASE ordinal WHEN 0 THEN $2 ELSE $3 END WHERE measurement = $1',
    [measurement.name.split('/').at(-1), firstWorker.name, secondWorker.name],
  );
  await setAllParameters(exchange, world.duchies, measurement);
  return measurement;
}

/** Returns all rotations of a list, so that each element is first once and last once. */
const rotations = <T>(list: T[]): T[][] => list.map((_, i) => [...list.slice(i), ...list.slice(0, i)]);

async function expire(hours: number): Promise<string> {
  const deadlines = loadConfig({}).computations;
  while (await failOverdueComputations(ahead(hours), deadlines));
  return 'ran';
}

const requisitionStates = async (measurement: Json): Promise<string[]> =>
  (await readComputation(exchange, world.duchies.aggregator, measurement)).requisitions.map(
    ({ state }: Json) => state,
  );

describe('competing requests in a fixed order', () => {
  it('let only the first of three setParameters requests with the same etag succeed', async () => {
    const measurement = await world.create();
    const { etag } = await readComputation(exchange, world.duchies.aggregator, measurement);
    const set = (tag: object) =>
      all(world.duchies).map((duchy) => async () => {
        const body = { ...tag, ...parametersOf(duchy) };
        return outcome(await act(exchange, duchy, measurement, 'setParameters', body));
      });
    expect(await inTurn(measurement, set({ etag }))).toEqual(['OK', MISMATCH, MISMATCH]);
    const [, second, third] = set({});
    expect([await second!(), await third!()]).toEqual(['OK', 'OK']);
    expect(await world.states(measurement)).toEqual([
      'AWAITING_REQUISITION_FULFILLMENT',
      'PENDING_FULFILLMENT',
    ]);
  });

  it('let a fulfillment before a cancellation stay fulfilled, and reject a fulfillment after it', async () => {
    for (const [order, outcomes, states] of [
      ['fulfill fulfill cancel', ['OK', MISMATCH, 'OK'], ['FULFILLED', 'WITHDRAWN']],
      ['fulfill cancel fulfill', ['OK', 'OK', ILLEGAL], ['FULFILLED', 'WITHDRAWN']],
      ['cancel fulfill fulfill', ['OK', ILLEGAL, ILLEGAL], ['WITHDRAWN', 'WITHDRAWN']],
    ] as const) {
      const measurement = await createReady();
      let requisition = 0;
      const attempts = order.split(' ').map((verb) => {
        const i = verb === 'fulfill' ? requisition++ : 0;
        return async () =>
          outcome(
            verb === 'cancel'
              ? await post(exchange, world.acme, `${measurement.name}:cancel`)
              : await reportFulfilled(exchange, world.duchies, measurement, i),
          );
      });
      expect(await inTurn(measurement, attempts), order).toEqual(outcomes);
      expect(await world.states(measurement)).toEqual(['CANCELLED', 'CANCELLED']);
      expect(await requisitionStates(measurement)).toEqual(states);
    }
  });

  it('let the first of the last data and its deadline take effect', async () => {
    for (const dataFirst of [true, false]) {
      const measurement = await createReady();
      await ok(reportFulfilled(exchange, world.duchies, measurement, 0));
      const fulfill = async () => outcome(await reportFulfilled(exchange, world.duchies, measurement, 1));
      // Use a time at which the deadline for the result has passed as well.
      const deadline = () => expire(14 * 24 + 1);
      const outcomes = await inTurn(measurement, dataFirst ? [fulfill, deadline] : [deadline, fulfill]);
      expect(outcomes).toEqual(dataFirst ? ['OK', 'ran'] : ['ran', ILLEGAL]);
      expect(await requisitionStates(measurement)).toEqual([
        'FULFILLED',
        dataFirst ? 'FULFILLED' : 'WITHDRAWN',
      ]);
      const { failure } = await get(exchange, world.acme, measurement.name);
      expect(failure.message).toContain(dataFirst ? 'No result came' : 'No data came');
    }
  });

  it('let the first of result, failure, cancellation and deadline end the measurement', async () => {
    const { aggregator, firstWorker } = world.duchies;
    const ends = ['SUCCEEDED', 'gave up', 'CANCELLED', 'No result came'];
    for (const order of rotations([0, 1, 2, 3])) {
      const measurement = await world.createComputing();
      const { etag } = await readComputation(exchange, aggregator, measurement);
      const contenders = [
        () => act(exchange, aggregator, measurement, 'setResult', { etag, ...resultOf(aggregator) }),
        () => act(exchange, firstWorker, measurement, 'fail', { etag, code: 'STAGE_FAILED' }),
        () => post(exchange, world.acme, `${measurement.name}:cancel`),
      ].map((attempt) => async () => outcome(await attempt()));
      contenders.push(() => expire(25));
      const outcomes = await inTurn(
        measurement,
        order.map((i) => contenders[i]!),
      );
      const late = [ILLEGAL, ILLEGAL, 'MEASUREMENT_STATE_ILLEGAL', 'ran'];
      const won = order[0] === 3 ? 'ran' : 'OK';
      expect(outcomes).toEqual(order.map((i, turn) => (turn === 0 ? won : late[i])));
      const { state, results, failure } = await get(exchange, world.acme, measurement.name);
      expect(`${state} ${failure?.message}`).toContain(ends[order[0]!]);
      expect(results?.length).toBe(order[0] === 0 ? 1 : undefined);
    }
  });

  it('let one of refusal, failure and cancellation end the measurement, and leave no requisition unfulfilled', async () => {
    // If the data comes first, it makes the etag of the failure request stale. In this case, the failure request is
    // retried only after the cancellation, so the measurement ends as cancelled.
    const ends = ['refused', 'CANCELLED', 'gave up', 'CANCELLED'];
    for (const order of rotations([0, 1, 2, 3])) {
      const measurement = await createReady();
      const requisition = await requisitionOf(exchange, world.streamly, measurement);
      const { secondWorker } = world.duchies;
      const contenders = [
        () => refuse(exchange, world.streamly, requisition),
        () => reportFulfilled(exchange, world.duchies, measurement, 0),
        () => untilCurrent(() => act(exchange, secondWorker, measurement, 'fail', { code: 'STAGE_FAILED' })),
        () => post(exchange, world.acme, `${measurement.name}:cancel`),
      ].map((attempt) => async () => outcome(await attempt()));
      await inTurn(
        measurement,
        order.map((i) => contenders[i]!),
      );
      const { state, failure } = await get(exchange, world.acme, measurement.name);
      expect(`${state} ${failure?.message}`).toContain(ends[order[0]!]);
      expect(await world.states(measurement)).toEqual([state, state]);
      expect(await requisitionStates(measurement)).not.toContain('UNFULFILLED');
    }
  });
});

/** Repeats a request as long as the exchange rejects its etag as outdated. */
async function untilCurrent(attempt: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await attempt();
    if (outcome(reply) !== MISMATCH) return reply;
  }
}

describe('concurrent requests', () => {
  it('of all participants succeed, and each step is recorded once', async () => {
    const round = async () => {
      const measurement = await world.create();
      const bodies = all(world.duchies).map((duchy) => ({ duchy, body: parametersOf(duchy) }));
      await Promise.all(
        bodies.map(({ duchy, body }) =>
          untilCurrent(() => act(exchange, duchy, measurement, 'setParameters', body)).then(ok),
        ),
      );
      await Promise.all(
        [0, 1].map((i) =>
          untilCurrent(() => reportFulfilled(exchange, world.duchies, measurement, i)).then(ok),
        ),
      );
      const { aggregator } = world.duchies;
      const { etag } = await readComputation(exchange, aggregator, measurement);
      const result = resultOf(aggregator);
      const replies = await Promise.all(
        [1, 2, 3].map(() => act(exchange, aggregator, measurement, 'setResult', { etag, ...result })),
      );
      expect(replies.map(outcome)).toEqual(['OK', 'OK', 'OK']);
      expect((await get(exchange, world.acme, measurement.name)).results).toEqual([result]);
      const { transitions } = await get(exchange, world.acme, `${measurement.name}:timeline`);
      const times = (wanted: string) => transitions.filter(({ cause }: Json) => cause === wanted).length;
      // Setting the parameters adds five steps: one for each of three participants and two requisitions.
      expect(['parametersSet', 'fulfilled', 'allFulfilled', 'computed'].map(times)).toEqual([5, 2, 1, 1]);
    };
    // Run four rounds at the same time, so that they also disturb each other.
    for (let i = 0; i < ROUNDS; i++) await Promise.all([round(), round(), round(), round()]);
  });
});
