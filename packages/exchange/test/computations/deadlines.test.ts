/**
 * Tests that a computation fails when it waits for too long, and that the failure names the parties that it waited for.
 */
import {
  act,
  computationOf,
  type Duchy,
  ILLEGAL,
  parametersOf,
  readComputation,
  reportFulfilled,
  resultOf,
  setAllParameters,
  useComputations,
} from '@measurement-exchange/testkit/computations';
import { type Reply, UNLIMITED } from '@measurement-exchange/testkit/exchange';
import { useReplica } from '@measurement-exchange/testkit/replica';
import {
  createMeasurement,
  errorOf,
  get,
  ok,
  post,
  requisitionOf,
} from '@measurement-exchange/testkit/steps';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { failOverdueComputations } from '../../src/jobs/computationDeadlines.ts';

type Json = Reply['json'];
const world = useComputations({ rate: UNLIMITED });
const { exchange } = world;
const ahead = useReplica(exchange);
const DAY = 24;

async function expire(hours: number): Promise<void> {
  const deadlines = loadConfig({}).computations;
  while (await failOverdueComputations(ahead(hours), deadlines));
}

/** Moves the creation time of a computation back by this many hours, but not the time of its last change. */
const createdEarlier = ({ name }: Json, hours: number) =>
  exchange.database.query(
    "UPDATE computations SET create_time = create_time - $2 * interval '1 hour' WHERE id = $1",
    [name.split('/').at(-1), hours],
  );

const read = ({ name }: Json) => get(exchange, world.acme, name);
const endOf = async ({ name }: Json) => {
  const { transitions } = await get(exchange, world.acme, `${name}:timeline`);
  const { cause, actor } = transitions.find(({ to }: Json) => to === 'FAILED');
  return `${cause} by ${actor}`;
};

describe('a deadline', () => {
  it('is by default 1 h for parameters and confirmations, 14 days for the data, and 1 day for the result', () => {
    expect(loadConfig({}).computations).toEqual({
      parametersWithinHours: 1,
      fulfillWithinHours: 14 * DAY,
      confirmWithinHours: 1,
      computeWithinHours: DAY,
    });
  });

  it('fails a computation whose parameters are not set, and names the duchies that did not set them', async () => {
    const { firstWorker, secondWorker, aggregator } = world.duchies;
    const nobody = await world.create();
    const some = await world.create();
    await ok(act(exchange, firstWorker, some, 'setParameters', parametersOf(firstWorker)));
    const ready = await world.create();
    await setAllParameters(exchange, world.duchies, ready);
    await expire(0.9);
    for (const measurement of [nobody, some]) {
      expect((await read(measurement)).state).toBe('AWAITING_REQUISITION_FULFILLMENT');
    }
    // The deadline counts from the creation, even if some duchies have set their parameters later.
    await createdEarlier(some, 0.5);
    await expire(0.6);
    expect([(await read(nobody)).state, (await read(some)).state]).toEqual([
      'AWAITING_REQUISITION_FULFILLMENT',
      'FAILED',
    ]);
    await expire(1.1);
    const failed = async (measurement: Json, late: Duchy[]) => {
      const message = `${late.map(({ name }) => name).join(', ')} set no parameters within 1 h of the creation.`;
      const failure = { reason: 'COMPUTATION_PARTICIPANT_FAILED', message };
      expect(await read(measurement)).toMatchObject({ state: 'FAILED', failure });
      expect(await readComputation(exchange, firstWorker, measurement)).toMatchObject({
        state: 'FAILED',
        failure,
      });
      expect((await requisitionOf(exchange, world.streamly, measurement)).state).toBe('WITHDRAWN');
    };
    await failed(nobody, [aggregator, firstWorker, secondWorker]);
    await failed(some, [aggregator, secondWorker]);
    expect(await endOf(nobody)).toBe('overdue by deadline');
    expect((await read(ready)).state).toBe('AWAITING_REQUISITION_FULFILLMENT');
  });

  it('fails a computation whose data does not arrive, names the provider, and withdraws open requisitions', async () => {
    const waiting = await world.create();
    await setAllParameters(exchange, world.duchies, waiting);
    await ok(reportFulfilled(exchange, world.duchies, waiting, 0));
    await expire(14 * DAY - 1);
    expect((await read(waiting)).state).toBe('AWAITING_REQUISITION_FULFILLMENT');
    // The deadline counts from the creation, regardless of the data of other providers.
    await createdEarlier(waiting, 2 * DAY);
    await expire(12 * DAY + 1);
    const { fulfillingDuchy } = await requisitionOf(exchange, world.chirper, waiting);
    const message = `No data came from ${world.chirper.name} (to ${fulfillingDuchy}) within 14 days of the creation.`;
    expect(await read(waiting)).toMatchObject({
      state: 'FAILED',
      failure: { reason: 'COMPUTATION_PARTICIPANT_FAILED', message },
    });
    const { state, failure, requisitions } = await readComputation(
      exchange,
      world.duchies.firstWorker,
      waiting,
    );
    expect([state, failure.message]).toEqual(['FAILED', message]);
    expect(requisitions.map((r: Json) => r.state)).toEqual(['FULFILLED', 'WITHDRAWN']);
    expect(await endOf(waiting)).toBe('overdue by deadline');
    expect(errorOf(await reportFulfilled(exchange, world.duchies, waiting, 1))).toBe(ILLEGAL);
  });

  it('does not fail a direct measurement', async () => {
    const direct = await createMeasurement(exchange, world.acme, [world.streamly]);
    await expire(1000 * DAY);
    expect((await read(direct)).state).toBe('AWAITING_REQUISITION_FULFILLMENT');
  });

  it('fails a computation whose result does not arrive, and names the duchy that is behind', async () => {
    const { firstWorker, secondWorker, aggregator } = world.duchies;
    const [silent, stuck, done] = [
      await world.createComputing(),
      await world.createComputing(),
      await world.createComputing(),
    ];
    const log = (duchy: Duchy, stage: string, progress?: number) =>
      ok(
        post(exchange, duchy as never, `${computationOf(duchy, stuck)}:log`, {
          ...{ stage, attempt: 1, code: 'RUNNING' },
          ...(progress && { progress }),
        }),
      );
    for (const stage of ['SETUP_PHASE', 'SHUFFLE_PHASE']) await log(firstWorker, stage, 1);
    await log(secondWorker, 'SETUP_PHASE', 1);
    await log(secondWorker, 'SHUFFLE_PHASE');
    await ok(act(exchange, aggregator, done, 'setResult', resultOf(aggregator)));
    // The deadline counts from the last fulfillment, regardless of the time that the providers took.
    await createdEarlier(stuck, 10 * DAY);
    await expire(DAY - 1);
    expect((await read(stuck)).state).toBe('COMPUTING');
    const before = await readComputation(exchange, aggregator, stuck);
    await expire(DAY + 1);
    const waitedFor = async (measurement: Json) => {
      const { reason, message } = (await read(measurement)).failure;
      expect(reason).toBe('COMPUTATION_PARTICIPANT_FAILED');
      return message.replace('No result came within 24 h of the last fulfillment: it waited for ', '');
    };
    expect(await waitedFor(stuck)).toBe(
      `${secondWorker.name}, whose last report is SHUFFLE_PHASE, attempt 1, not done.`,
    );
    expect(await waitedFor(silent)).toBe(`${firstWorker.name}, which reported nothing.`);
    expect((await read(done)).state).toBe('SUCCEEDED');
    const body = { etag: before.etag, ...resultOf(aggregator) };
    expect(errorOf(await act(exchange, aggregator, stuck, 'setResult', body))).toBe(ILLEGAL);
  });
});
