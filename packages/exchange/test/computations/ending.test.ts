/** How computations end by themselves: deadlines, revoked certificates, retention. */
import { type Timestamp, timestampOf } from '@measurement-exchange/contract';
import { newCertificate } from '@measurement-exchange/testkit/certificates';
import {
  act,
  all,
  computationOf,
  createComputing,
  type Duchy,
  parametersOf,
  readComputation,
  reportFulfilled,
  resultOf,
  setAllParameters,
  useComputations,
} from '@measurement-exchange/testkit/computations';
import { type Reply, UNLIMITED } from '@measurement-exchange/testkit/exchange';
import { asOperator } from '@measurement-exchange/testkit/operator';
import {
  createMeasurement,
  errorOf,
  get,
  ok,
  post,
  requisitionOf,
} from '@measurement-exchange/testkit/steps';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { Database as Sql } from '../../src/database/db.ts';
import { failOverdueComputations } from '../../src/jobs/computationDeadlines.ts';
import { applyRetention } from '../../src/jobs/retention.ts';

type Json = Reply['json'];
const HOUR_MS = 3600_000;
const world = useComputations({ rate: UNLIMITED });
const { exchange } = world;

let db: Sql;
beforeAll(() => {
  db = new Sql({
    connection: { connectionString: exchange.database.url },
    applicationName: 'test',
    maxConnections: 2,
  });
});
afterAll(() => db.close());

/** A replica whose clock is ahead: to it, everything is that much older. */
const ahead = (hours: number) => ({
  db,
  clock: (): Timestamp => timestampOf(Date.now() + hours * HOUR_MS),
});

async function expire(hours: number): Promise<void> {
  const deadlines = loadConfig({}).computations;
  while (await failOverdueComputations(ahead(hours), deadlines));
}

const create = (): Promise<Json> => createMeasurement(exchange, world.acme, [world.streamly, world.chirper]);
const computing = (): Promise<Json> =>
  createComputing(exchange, world.duchies, world.acme, [world.streamly, world.chirper]);
const read = ({ name }: Json) => get(exchange, world.acme, name);

describe('a deadline', () => {
  it('is an hour for the parameters and a day for the result, unless it is set', () => {
    expect(loadConfig({}).computations).toEqual({ parametersWithinHours: 1, computeWithinHours: 24 });
  });

  it('fails a computation whose parameters do not come, and names who did not set them', async () => {
    const { firstWorker, secondWorker, aggregator } = world.duchies;
    const nobody = await create();
    const some = await create();
    await ok(act(exchange, firstWorker, some, 'setParameters', parametersOf(firstWorker)));
    const ready = await create();
    await setAllParameters(exchange, world.duchies, ready);
    await expire(0.9);
    for (const measurement of [nobody, some]) {
      expect((await read(measurement)).state).toBe('AWAITING_REQUISITION_FULFILLMENT');
    }
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
    // Providers have as long as the retention gives them.
    expect((await read(ready)).state).toBe('AWAITING_REQUISITION_FULFILLMENT');
    const { transitions } = await get(exchange, world.acme, `${nobody.name}:timeline`);
    const end = transitions.find(({ to }: Json) => to === 'FAILED');
    expect(end).toMatchObject({ cause: 'participantFailed', actor: 'deadline' });
  });

  it('fails a computation whose result does not come, and names the aggregator', async () => {
    const late = await computing();
    const done = await computing();
    const { aggregator } = world.duchies;
    await ok(act(exchange, aggregator, done, 'setResult', resultOf(aggregator)));
    await expire(23);
    expect((await read(late)).state).toBe('COMPUTING');
    const before = await readComputation(exchange, aggregator, late);
    await expire(25);
    expect((await read(late)).failure).toEqual({
      reason: 'COMPUTATION_PARTICIPANT_FAILED',
      message: `${aggregator.name} set no result within 24 h of the last fulfillment.`,
    });
    expect((await read(done)).state).toBe('SUCCEEDED');
    const body = { etag: before.etag, ...resultOf(aggregator) };
    expect(errorOf(await act(exchange, aggregator, late, 'setResult', body))).toBe(
      '400 FAILED_PRECONDITION COMPUTATION_STATE_ILLEGAL',
    );
  });
});

describe('a revoked certificate of a duchy', () => {
  /** The duchy with another certificate, which has no key that anybody could sign with. */
  async function renewedAggregator(): Promise<Duchy> {
    const { aggregator } = world.duchies;
    const { x509Der } = await newCertificate();
    const { name } = await ok(asOperator(exchange, 'POST', `${aggregator.name}/certificates`, { x509Der }));
    return { ...aggregator, certificate: name };
  }

  it.each(['REVOKED', 'HOLD'])('that is %s fails what rests on it, and nothing else', async (state) => {
    const aggregator = await renewedAggregator();
    const duchies = { ...world.duchies, aggregator };
    const [pending, running, done, other] = [
      await create(),
      await create(),
      await create(),
      await computing(),
    ];
    const { certificate } = aggregator;
    await ok(act(exchange, aggregator, pending, 'setParameters', { certificate }));
    for (const measurement of [running, done]) {
      await setAllParameters(exchange, duchies, measurement);
      for (const i of [0, 1]) await ok(reportFulfilled(exchange, duchies, measurement, i));
    }
    await ok(act(exchange, aggregator, done, 'setResult', resultOf(aggregator)));
    const ended = await read(done);

    await ok(asOperator(exchange, 'POST', `${certificate}:revoke`, { revocationState: state }));
    const message = `${certificate} was ${state === 'HOLD' ? 'put on hold' : 'revoked'}.`;
    for (const measurement of [pending, running]) {
      await expect
        .poll(async () => (await read(measurement)).failure)
        .toEqual({
          reason: 'CERTIFICATE_REVOKED',
          message,
        });
    }
    expect(await read(done)).toEqual(ended);
    expect((await read(other)).state).toBe('COMPUTING');
    // Nor can it be used any more.
    const late = await act(exchange, aggregator, other, 'setResult', resultOf(aggregator));
    expect(errorOf(late)).toBe('400 FAILED_PRECONDITION CERTIFICATE_IS_INVALID');
  });

  it('lets no data and no result through before the measurement is failed', async () => {
    const aggregator = await renewedAggregator();
    const duchies = { ...world.duchies, aggregator };
    const open = await create();
    await setAllParameters(exchange, duchies, open);
    const running = await create();
    await setAllParameters(exchange, duchies, running);
    for (const i of [0, 1]) await ok(reportFulfilled(exchange, duchies, running, i));
    // As it is while the cascade has not come this far.
    await exchange.database.query(
      `UPDATE certificates SET revocation_state = 'HOLD' WHERE party || '/certificates/' || id = $1`,
      [aggregator.certificate],
    );
    const invalid = '400 FAILED_PRECONDITION CERTIFICATE_IS_INVALID';
    expect(errorOf(await reportFulfilled(exchange, duchies, open, 0))).toBe(invalid);
    const result = resultOf(world.duchies.aggregator);
    expect(errorOf(await act(exchange, aggregator, running, 'setResult', result))).toBe(invalid);
    await exchange.database.query(
      `UPDATE certificates SET revocation_state = NULL WHERE party || '/certificates/' || id = $1`,
      [aggregator.certificate],
    );
    await ok(act(exchange, aggregator, running, 'setResult', result));
  });
});

describe('the retention', () => {
  it('removes what the duchies left, with the measurement', async () => {
    const { aggregator, firstWorker } = world.duchies;
    const measurement = await computing();
    const report = { stage: 's', attempt: 1, message: 'm' };
    await ok(post(exchange, firstWorker as never, `${computationOf(firstWorker, measurement)}:log`, report));
    await ok(act(exchange, aggregator, measurement, 'setResult', resultOf(aggregator)));
    while (await applyRetention(ahead(31 * 24), { removeTerminalAfterDays: 30 }));
    expect(await read(measurement)).toMatchObject({ state: 'SUCCEEDED', deleteTime: expect.any(String) });
    for (const duchy of all(world.duchies)) {
      const reply = await exchange.call(duchy.token, 'GET', `/v2alpha/${computationOf(duchy, measurement)}`);
      expect(errorOf(reply)).toBe('404 NOT_FOUND COMPUTATION_NOT_FOUND');
    }
    const id = measurement.name.split('/').at(-1);
    for (const [table, column] of [
      ['computations', 'id'],
      ['computation_log', 'computation'],
    ]) {
      const rows = await exchange.database.query(`SELECT 1 FROM ${table} WHERE ${column} = $1`, [id]);
      expect(rows).toEqual([]);
    }
  });

  it('cancels a computation that is pending for too long', async () => {
    const measurement = await create();
    await setAllParameters(exchange, world.duchies, measurement);
    while (await applyRetention(ahead(31 * 24), { cancelPendingAfterDays: 30 }));
    expect((await readComputation(exchange, world.duchies.firstWorker, measurement)).state).toBe('CANCELLED');
  });
});
