/** Duchies, providers and the consumer at once: exactly one of them decides. */
import {
  act,
  all,
  computationOf,
  createComputing,
  parametersOf,
  readComputation,
  reportFulfilled,
  resultOf,
  setAllParameters,
  useComputations,
} from '@measurement-exchange/testkit/computations';
import { type Reply, UNLIMITED } from '@measurement-exchange/testkit/exchange';
import { createMeasurement, get, ok, post, refuse, requisitionOf } from '@measurement-exchange/testkit/steps';
import { describe, expect, it } from 'vitest';

type Json = Reply['json'];
const world = useComputations({ rate: UNLIMITED });
const { exchange } = world;
const ROUNDS = Number(process.env.MEX_RACES ?? 12);

/** 200, or the reason why not. */
const outcome = ({ status, json }: Reply) => (status === 200 ? 'OK' : json.error.details[0].reason);

async function rounds(work: () => Promise<void>): Promise<void> {
  // Four at a time, so that they also hinder each other.
  for (let done = 0; done < ROUNDS; done += 4) await Promise.all([work(), work(), work(), work()]);
}

function create(): Promise<Json> {
  return createMeasurement(exchange, world.acme, [world.streamly, world.chirper]);
}

/** Reads and tries until the etag was that of the moment. */
async function untilCurrent(attempt: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await attempt();
    if (outcome(reply) !== 'COMPUTATION_ETAG_MISMATCH') return reply;
  }
}

describe('at once', () => {
  it('three duchies set their parameters: the last one makes the requisitions ready, once', async () => {
    await rounds(async () => {
      const measurement = await create();
      const bodies = all(world.duchies).map((duchy) => ({ duchy, body: parametersOf(duchy) }));
      await Promise.all(
        bodies.map(({ duchy, body }) =>
          untilCurrent(() => act(exchange, duchy, measurement, 'setParameters', body)).then(ok),
        ),
      );
      const { state } = await readComputation(exchange, world.duchies.aggregator, measurement);
      expect(state).toBe('PENDING_FULFILLMENT');
      const { transitions } = await get(exchange, world.acme, `${measurement.name}:timeline`);
      const causes = transitions.map(({ cause }: Json) => cause);
      // Of three participants and two requisitions.
      expect(causes.filter((cause: string) => cause === 'parametersSet')).toHaveLength(5);
      expect(await requisitionOf(exchange, world.streamly, measurement)).toHaveProperty('duchies');
    });
  });

  it('the last two requisitions are fulfilled: the computation starts, once', async () => {
    await rounds(async () => {
      const measurement = await create();
      await setAllParameters(exchange, world.duchies, measurement);
      await Promise.all(
        [0, 1].map((i) =>
          untilCurrent(() => reportFulfilled(exchange, world.duchies, measurement, i)).then(ok),
        ),
      );
      expect((await get(exchange, world.acme, measurement.name)).state).toBe('COMPUTING');
    });
  });

  it('with the same etag one of two wins, and the other one is told to read again', async () => {
    await rounds(async () => {
      const measurement = await create();
      const { firstWorker, secondWorker } = world.duchies;
      const { etag } = await readComputation(exchange, firstWorker, measurement);
      const replies = await Promise.all(
        [firstWorker, secondWorker].map((duchy) =>
          act(exchange, duchy, measurement, 'setParameters', { etag, ...parametersOf(duchy) }),
        ),
      );
      expect(replies.map(outcome).sort()).toEqual(['COMPUTATION_ETAG_MISMATCH', 'OK']);
    });
  });

  it('the same result three times is one result', async () => {
    await rounds(async () => {
      const providers = [world.streamly, world.chirper];
      const measurement = await createComputing(exchange, world.duchies, world.acme, providers);
      const { aggregator } = world.duchies;
      const { etag } = await readComputation(exchange, aggregator, measurement);
      const result = resultOf(aggregator);
      const replies = await Promise.all(
        [1, 2, 3].map(() => act(exchange, aggregator, measurement, 'setResult', { etag, ...result })),
      );
      expect(replies.map(outcome)).toEqual(['OK', 'OK', 'OK']);
      expect((await get(exchange, world.acme, measurement.name)).results).toEqual([result]);
    });
  });

  it('result, failure and cancellation: exactly one ends the measurement', async () => {
    const ends = new Set<string>();
    await rounds(async () => {
      const providers = [world.streamly, world.chirper];
      const measurement = await createComputing(exchange, world.duchies, world.acme, providers);
      const { aggregator, firstWorker } = world.duchies;
      const { etag } = await readComputation(exchange, aggregator, measurement);
      const replies = await Promise.all([
        act(exchange, aggregator, measurement, 'setResult', { etag, ...resultOf(aggregator) }),
        act(exchange, firstWorker, measurement, 'fail', { etag, message: 'out of memory' }),
        post(exchange, world.acme, `${measurement.name}:cancel`),
      ]);
      const winner = replies.findIndex(({ status }) => status === 200);
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(
        replies
          .filter(({ status }) => status !== 200)
          .map(outcome)
          .sort(),
      ).toEqual(
        ['COMPUTATION_STATE_ILLEGAL', 'COMPUTATION_STATE_ILLEGAL', 'MEASUREMENT_STATE_ILLEGAL'].toSpliced(
          winner === 2 ? 2 : 1,
          1,
        ),
      );
      const { state, results, failure } = await get(exchange, world.acme, measurement.name);
      expect(state).toBe(['SUCCEEDED', 'FAILED', 'CANCELLED'][winner]);
      expect([results?.length, failure?.reason]).toEqual([
        winner === 0 ? 1 : undefined,
        winner === 1 ? 'COMPUTATION_PARTICIPANT_FAILED' : undefined,
      ]);
      ends.add(state);
    });
    expect(ends.size).toBeGreaterThan(0);
  });

  it('refusal, report of the data, failure and cancellation leave one end and no open requisition', async () => {
    await rounds(async () => {
      const measurement = await create();
      await setAllParameters(exchange, world.duchies, measurement);
      const requisition = await requisitionOf(exchange, world.streamly, measurement);
      const { secondWorker } = world.duchies;
      await Promise.all([
        refuse(exchange, world.streamly, requisition),
        untilCurrent(() => reportFulfilled(exchange, world.duchies, measurement, 0)),
        untilCurrent(() => act(exchange, secondWorker, measurement, 'fail', { message: 'no' })),
        post(exchange, world.acme, `${measurement.name}:cancel`),
      ]);
      const { state } = await get(exchange, world.acme, measurement.name);
      expect(['FAILED', 'CANCELLED']).toContain(state);
      for (const duchy of all(world.duchies)) {
        const seen = await get(exchange, duchy as never, computationOf(duchy, measurement));
        expect(seen.state).toBe(state);
        expect(seen.requisitions.map((r: Json) => r.state)).not.toContain('UNFULFILLED');
      }
    });
  });
});
