/** Tests the requests with which a duchy reports the arrival of data, a result, or a failure. */
import {
  act,
  all,
  ETAG_MISMATCH,
  ILLEGAL,
  INVALID,
  readComputation,
  reportFulfilled,
  resultOf,
  setAllParameters,
  useComputations,
} from '@measurement-exchange/testkit/computations';
import { errorOf, get, ok, post, requisitionOf, stored } from '@measurement-exchange/testkit/steps';
import { describe, expect, it } from 'vitest';

const world = useComputations();
const { exchange } = world;

describe('fulfillRequisition', () => {
  it('is idempotent', async () => {
    const measurement = await world.create(3);
    await setAllParameters(exchange, world.duchies, measurement);
    await ok(reportFulfilled(exchange, world.duchies, measurement, 0));
    const before = await stored(exchange);
    const again = await ok(reportFulfilled(exchange, world.duchies, measurement, 0));
    expect(again.requisitions[0]).toMatchObject({ state: 'FULFILLED', nonce: 1 });
    expect(await stored(exchange)).toEqual(before);
  });

  it('is accepted only from the duchy that receives the data, after the parameters, with the right nonce', async () => {
    const measurement = await world.create(3);
    const other = await world.create(3);
    const { requisitions } = await readComputation(exchange, world.duchies.aggregator, measurement);
    const [{ name: requisition, fulfillingDuchy }] = requisitions;
    const mine = all(world.duchies).find(({ name }) => name === fulfillingDuchy)!;
    const report = async (duchy: typeof mine, changes: object = {}) =>
      errorOf(
        await act(exchange, duchy, measurement, 'fulfillRequisition', { requisition, nonce: 1n, ...changes }),
      );
    expect(await report(mine)).toBe(ILLEGAL);
    await setAllParameters(exchange, world.duchies, measurement);
    const before = await stored(exchange);
    for (const duchy of all(world.duchies)) {
      if (duchy !== mine) expect(await report(duchy)).toBe(ILLEGAL);
    }
    expect(await report(mine, { nonce: 2n })).toBe('400 INVALID_ARGUMENT NONCE_MISMATCH nonce');
    expect(await report(mine, { etag: 'old' })).toBe(ETAG_MISMATCH);
    const foreign = (await readComputation(exchange, mine, other)).requisitions[0].name;
    expect(await report(mine, { requisition: foreign })).toBe('404 NOT_FOUND REQUISITION_NOT_FOUND');
    expect(await stored(exchange)).toEqual(before);
    await ok(reportFulfilled(exchange, world.duchies, measurement, 0));
    expect(await report(mine, { nonce: 2n })).toBe('400 FAILED_PRECONDITION REQUISITION_STATE_ILLEGAL');
  });

  it('stores the fulfillment context of the duchy', async () => {
    const measurement = await world.create(2);
    await setAllParameters(exchange, world.duchies, measurement);
    const { requisitions } = await readComputation(exchange, world.duchies.aggregator, measurement);
    const duchy = all(world.duchies).find(({ name }) => name === requisitions[0].fulfillingDuchy)!;
    const fulfillmentContext = { buildLabel: 'duchy 1', warnings: ['slow'] };
    const body = { requisition: requisitions[0].name, nonce: 1n, fulfillmentContext };
    await ok(act(exchange, duchy, measurement, 'fulfillRequisition', body));
    expect(await requisitionOf(exchange, world.streamly, measurement)).toMatchObject({
      state: 'FULFILLED',
      nonce: 1,
      fulfillmentContext,
    });
  });
});

describe('setResult', () => {
  it('is accepted only from the aggregator of a running computation, and is idempotent', async () => {
    const { aggregator, firstWorker } = world.duchies;
    const open = await world.create(3);
    const early = await act(exchange, aggregator, open, 'setResult', resultOf(aggregator));
    expect(errorOf(early)).toBe(ILLEGAL);

    const measurement = await world.createComputing();
    const wrong = await act(exchange, firstWorker, measurement, 'setResult', resultOf(firstWorker));
    expect(errorOf(wrong)).toBe(ILLEGAL);
    const foreign = { ...resultOf(aggregator), certificate: firstWorker.certificate };
    expect(errorOf(await act(exchange, aggregator, measurement, 'setResult', foreign))).toBe(
      `${INVALID} certificate`,
    );
    const { etag } = await readComputation(exchange, aggregator, measurement);
    const result = { ...resultOf(aggregator), etag };
    await ok(act(exchange, aggregator, measurement, 'setResult', result));
    const before = await stored(exchange);
    for (const _ of 'twice') {
      expect((await ok(act(exchange, aggregator, measurement, 'setResult', result))).state).toBe('SUCCEEDED');
    }
    // A different result is rejected, regardless of its etag, because the measurement already has a result.
    const late = { ...resultOf(aggregator), etag };
    expect(errorOf(await act(exchange, aggregator, measurement, 'setResult', late))).toBe(ILLEGAL);
    expect(errorOf(await act(exchange, aggregator, measurement, 'setResult', resultOf(aggregator)))).toBe(
      ILLEGAL,
    );
    expect(await stored(exchange)).toEqual(before);
  });

  it('is rejected once the measurement was cancelled', async () => {
    const { aggregator } = world.duchies;
    const measurement = await world.createComputing();
    const { etag } = await readComputation(exchange, aggregator, measurement);
    await ok(post(exchange, world.acme, `${measurement.name}:cancel`));
    const late = { ...resultOf(aggregator), etag };
    expect(errorOf(await act(exchange, aggregator, measurement, 'setResult', late))).toBe(ILLEGAL);
    expect(await get(exchange, world.acme, measurement.name)).not.toHaveProperty('results');
  });
});

describe('fail', () => {
  it('fails the measurement in any state of the computation, and reports which duchy gave up and why', async () => {
    const { secondWorker, aggregator, firstWorker } = world.duchies;
    const pending = await world.create(3);
    const ready = await world.create(3);
    await setAllParameters(exchange, world.duchies, ready);
    const computing = await world.createComputing();
    for (const measurement of [pending, ready, computing]) {
      const { etag } = await readComputation(exchange, secondWorker, measurement);
      const body = { etag, code: 'STAGE_FAILED', position: { stage: 'SETUP_PHASE' } };
      const failed = await ok(act(exchange, secondWorker, measurement, 'fail', body));
      expect(failed.state).toBe('FAILED');
      expect(failed.participants[secondWorker.name].state).toBe('FAILED');
      const failure = {
        reason: 'COMPUTATION_PARTICIPANT_FAILED',
        message: `${secondWorker.name} gave up: STAGE_FAILED at SETUP_PHASE: The stage failed again and again.`,
      };
      expect((await get(exchange, world.acme, measurement.name)).failure).toEqual(failure);
      expect((await readComputation(exchange, aggregator, measurement)).failure).toEqual(failure);
      // A duchy is allowed to report the same failure again, but no other outcome.
      const again = await ok(act(exchange, secondWorker, measurement, 'fail', body));
      expect(again).toEqual(failed);
      for (const [duchy, code] of [
        [secondWorker, 'SPEC_INVALID'],
        [firstWorker, 'STAGE_FAILED'],
      ] as const) {
        expect(errorOf(await act(exchange, duchy, measurement, 'fail', { code }))).toBe(ILLEGAL);
      }
    }
  });

  it('accepts only listed codes and positions of this computation, and no free text', async () => {
    const { secondWorker } = world.duchies;
    const measurement = await world.createComputing();
    const other = await requisitionOf(exchange, world.streamly, await world.create(3));
    const code = 'UPLOAD_INVALID';
    for (const [body, field] of [
      [{ code, message: 'VID 42 was seen 3 times' }, 'message'],
      [{ message: 'VID 42 was seen 3 times' }, 'message'],
      [{ code: 'VID_42' }, 'code'],
      [{}, 'code'],
      [{ code, position: { register: 42 } }, 'position.register'],
      [{ code, position: { field: 'VID 42' } }, 'position.field'],
      [{ code, position: { field: 'x.'.repeat(60) } }, 'position.field'],
      [{ code, position: { stage: 'VID 42' } }, 'position.stage'],
      [{ code, position: { requisition: other.name } }, 'position.requisition'],
      [{ code, position: { dataProvider: 'dataProviders/vid42' } }, 'position.dataProvider'],
      [{ code, position: { duchy: 'duchies/vid42' } }, 'position.duchy'],
    ] as const) {
      const rejected = errorOf(await act(exchange, secondWorker, measurement, 'fail', body));
      expect(rejected).toMatch(/^400 INVALID_ARGUMENT /);
      expect(rejected).toContain(field);
    }
    const { name } = await requisitionOf(exchange, world.streamly, measurement);
    const position = { field: 'nonceHashes[2]', requisition: name, duchy: secondWorker.name };
    await ok(act(exchange, secondWorker, measurement, 'fail', { code, position }));
    const { failure } = await get(exchange, world.acme, measurement.name);
    expect(failure.message).toBe(
      `${secondWorker.name} gave up: UPLOAD_INVALID at nonceHashes[2] of ${name} of ${secondWorker.name}: ` +
        'The upload of the provider is not what the provider signed for this computation.',
    );
  });
});

describe('confirm', () => {
  it('is rejected for share shuffle', async () => {
    const measurement = await world.create(3);
    const { firstWorker } = world.duchies;
    expect(errorOf(await act(exchange, firstWorker, measurement, 'confirm', {}))).toBe(ILLEGAL);
    expect(errorOf(await act(exchange, firstWorker, measurement, 'confirm', { etag: 'old' }))).toBe(
      ETAG_MISMATCH,
    );
  });
});
