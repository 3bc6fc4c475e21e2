/**
 * Tests confirmations that compete with each other and with events that end a computation. Each confirmation takes
 * effect once, and only the first event ends the computation.
 */
import {
  act,
  all,
  readComputation,
  reportFulfilled,
  resultOf,
} from '@measurement-exchange/testkit/computations';
import { type Reply, UNLIMITED } from '@measurement-exchange/testkit/exchange';
import { inTurn } from '@measurement-exchange/testkit/inTurn';
import { asOperator } from '@measurement-exchange/testkit/operator';
import { useReplica } from '@measurement-exchange/testkit/replica';
import { setAllKeys, useRing } from '@measurement-exchange/testkit/ring';
import { get, ok, post } from '@measurement-exchange/testkit/steps';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { failOverdueComputations } from '../../src/jobs/computationDeadlines.ts';

type Json = Reply['json'];
const world = useRing({ rate: UNLIMITED });
const { exchange } = world;
const ahead = useReplica(exchange);

/** Returns OK for status 200, and otherwise the reason of the error. */
const outcome = ({ status, json }: Reply) => (status === 200 ? 'OK' : json.error.details[0].reason);
const MISMATCH = 'COMPUTATION_ETAG_MISMATCH';
const ILLEGAL = 'COMPUTATION_STATE_ILLEGAL';

async function expire(hours: number): Promise<string> {
  while (await failOverdueComputations(ahead(hours), loadConfig({}).computations));
  return 'ran';
}

async function confirmedTimes(measurement: Json): Promise<number> {
  const { transitions } = await get(exchange, world.acme, `${measurement.name}:timeline`);
  return transitions.filter(({ cause }: Json) => cause === 'confirmed').length;
}

describe('a deadline', () => {
  it('fails a computation that is not confirmed, and names the duchies that did not confirm', async () => {
    const { firstWorker, secondWorker, aggregator } = world.duchies;
    const measurement = await world.createFulfilled();
    await ok(act(exchange, secondWorker, measurement, 'confirm', {}));
    const computing = await world.createComputing();
    // Move the creation time back, because the deadline for confirmations must not depend on this time.
    await exchange.database.query(
      `UPDATE computations SET create_time = create_time - interval '5 days' WHERE id = $1`,
      [measurement.name.split('/').at(-1)],
    );
    await expire(0.9);
    expect(await world.states(measurement)).toEqual(['COMPUTING', 'PENDING_CONFIRMATION']);
    await expire(1.1);
    expect(await world.states(measurement)).toEqual(['FAILED', 'FAILED']);
    expect(await world.states(computing)).toEqual(['COMPUTING', 'COMPUTING']);
    expect((await get(exchange, world.acme, measurement.name)).failure).toEqual({
      reason: 'COMPUTATION_PARTICIPANT_FAILED',
      message:
        `${aggregator.name}, ${firstWorker.name} did not confirm within 1 h of the last fulfillment or ` +
        'confirmation.',
    });
    await expire(25);
    const { message } = (await get(exchange, world.acme, computing.name)).failure;
    expect(message).toBe(
      `No result came within 24 h of the last confirmation: it waited for ${firstWorker.name}, which reported ` +
        `nothing; ${secondWorker.name}, which reported nothing.`,
    );
  });
});

describe('competing requests in a fixed order', () => {
  it('let only the first of two confirmations with the same etag succeed, until the second is retried', async () => {
    const { firstWorker, secondWorker, aggregator } = world.duchies;
    const measurement = await world.createFulfilled();
    await ok(act(exchange, aggregator, measurement, 'confirm', {}));
    const { etag } = await readComputation(exchange, firstWorker, measurement);
    const outcomes = await inTurn(
      exchange,
      measurement,
      [firstWorker, secondWorker].map(
        (duchy) => async () => outcome(await act(exchange, duchy, measurement, 'confirm', { etag })),
      ),
    );
    expect(outcomes).toEqual(['OK', MISMATCH]);
    await ok(act(exchange, secondWorker, measurement, 'confirm', {}));
    expect(await world.states(measurement)).toEqual(['COMPUTING', 'COMPUTING']);
    expect(await confirmedTimes(measurement)).toBe(3);
  });

  it('let the first of the last confirmation, a failure, a cancellation and the deadline take effect', async () => {
    const { firstWorker, secondWorker, aggregator } = world.duchies;
    const ends = ['COMPUTING', 'gave up', 'CANCELLED', 'did not confirm'];
    for (const first of [0, 1, 2, 3]) {
      const measurement = await world.createFulfilled();
      for (const duchy of [aggregator, secondWorker])
        await ok(act(exchange, duchy, measurement, 'confirm', {}));
      const { etag } = await readComputation(exchange, firstWorker, measurement);
      const contenders = [
        async () => outcome(await act(exchange, firstWorker, measurement, 'confirm', { etag })),
        async () =>
          outcome(await act(exchange, secondWorker, measurement, 'fail', { etag, code: 'STAGE_FAILED' })),
        async () => outcome(await post(exchange, world.acme, `${measurement.name}:cancel`)),
        () => expire(1.1),
      ];
      // Choose a second contender that the first one affects. The second contender must see the change of the first
      // one.
      const second = first === 0 ? 1 : 0;
      const outcomes = await inTurn(exchange, measurement, [contenders[first]!, contenders[second]!]);
      const won = first === 3 ? 'ran' : 'OK';
      expect(outcomes).toEqual([won, first === 0 ? MISMATCH : ILLEGAL]);
      const { state, failure } = await get(exchange, world.acme, measurement.name);
      expect(`${state} ${failure?.message}`).toContain(ends[first]);
      expect(await world.states(measurement)).toEqual([state, state]);
      expect(await confirmedTimes(measurement)).toBe(first === 0 ? 3 : 2);
    }
  });

  it('reject a confirmation before the last data has arrived', async () => {
    const { aggregator } = world.duchies;
    for (const dataFirst of [true, false]) {
      const measurement = await world.create();
      await setAllKeys(exchange, world.duchies, measurement);
      await ok(reportFulfilled(exchange, world.duchies, measurement, 0));
      // Read the etag and the requisition in advance. If many callers are active, the aggregator has only one slot, so
      // it cannot send a read while its confirmation waits for the lock.
      const { etag, requisitions } = await readComputation(exchange, aggregator, measurement);
      const { name: requisition, fulfillingDuchy } = requisitions[1];
      const worker = all(world.duchies).find(({ name }) => name === fulfillingDuchy)!;
      const data = { requisition, nonce: 2n };
      const fulfill = async () =>
        outcome(await act(exchange, worker, measurement, 'fulfillRequisition', data));
      const confirm = async () => outcome(await act(exchange, aggregator, measurement, 'confirm', { etag }));
      const outcomes = await inTurn(
        exchange,
        measurement,
        dataFirst ? [fulfill, confirm] : [confirm, fulfill],
      );
      expect(outcomes).toEqual(dataFirst ? ['OK', MISMATCH] : [ILLEGAL, 'OK']);
      expect(await world.states(measurement)).toEqual(['COMPUTING', 'PENDING_CONFIRMATION']);
    }
  });

  it('let a revocation fail a computation with a confirmation, and reject later confirmations', async () => {
    const { firstWorker, secondWorker } = world.duchies;
    const measurement = await world.createFulfilled();
    const { etag } = await readComputation(exchange, firstWorker, measurement);
    const [confirmed] = await inTurn(exchange, measurement, [
      async () => outcome(await act(exchange, firstWorker, measurement, 'confirm', { etag })),
    ]);
    expect(confirmed).toBe('OK');
    await ok(asOperator(exchange, 'POST', `${secondWorker.certificate}:revoke`, { revocationState: 'HOLD' }));
    await expect.poll(() => world.states(measurement)).toEqual(['FAILED', 'FAILED']);
    const late = await act(exchange, secondWorker, measurement, 'confirm', { etag });
    expect(outcome(late)).toBe(ILLEGAL);
    const release = () => asOperator(exchange, 'POST', `${secondWorker.certificate}:releaseHold`);
    await expect.poll(async () => (await release()).status).toBe(200);
  });
});

describe('concurrent requests', () => {
  it('let all duchies confirm once, and start the computation', async () => {
    const round = async () => {
      const measurement = await world.createFulfilled();
      await Promise.all(
        all(world.duchies).map(async (duchy) => {
          for (;;) {
            const reply = await act(exchange, duchy, measurement, 'confirm', {});
            if (outcome(reply) !== MISMATCH) return ok(reply);
          }
        }),
      );
      expect(await world.states(measurement)).toEqual(['COMPUTING', 'COMPUTING']);
      expect(await confirmedTimes(measurement)).toBe(3);
      const { aggregator } = world.duchies;
      await ok(act(exchange, aggregator, measurement, 'setResult', resultOf(aggregator)));
    };
    await Promise.all([round(), round()]);
  });
});
