/** Tests computations that end without a result because of a revoked certificate or retention. */
import { newCertificate } from '@measurement-exchange/testkit/certificates';
import {
  act,
  all,
  computationOf,
  type Duchy,
  readComputation,
  reportFulfilled,
  resultOf,
  setAllParameters,
  useComputations,
} from '@measurement-exchange/testkit/computations';
import { type Reply, UNLIMITED } from '@measurement-exchange/testkit/exchange';
import { asOperator } from '@measurement-exchange/testkit/operator';
import { useReplica } from '@measurement-exchange/testkit/replica';
import { errorOf, get, ok, post } from '@measurement-exchange/testkit/steps';
import { describe, expect, it } from 'vitest';
import { applyRetention } from '../../src/jobs/retention.ts';

type Json = Reply['json'];
const world = useComputations({ rate: UNLIMITED });
const { exchange } = world;

const ahead = useReplica(exchange);

const read = ({ name }: Json) => get(exchange, world.acme, name);

describe('a revoked certificate of a duchy', () => {
  /** Returns the aggregator with a new certificate, whose private key is discarded. */
  async function renewedAggregator(): Promise<Duchy> {
    const { aggregator } = world.duchies;
    const { x509Der } = await newCertificate();
    const { name } = await ok(asOperator(exchange, 'POST', `${aggregator.name}/certificates`, { x509Der }));
    return { ...aggregator, certificate: name };
  }

  it.each(['REVOKED', 'HOLD'])('that is %s fails only open measurements that depend on it', async (state) => {
    const aggregator = await renewedAggregator();
    const duchies = { ...world.duchies, aggregator };
    const [pending, running, done, other] = [
      await world.create(),
      await world.create(),
      await world.create(),
      await world.createComputing(),
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
    // The exchange also rejects a new result that names the revoked certificate.
    const late = await act(exchange, aggregator, other, 'setResult', resultOf(aggregator));
    expect(errorOf(late)).toBe('400 FAILED_PRECONDITION CERTIFICATE_IS_INVALID');
  });

  it('rejects data and results even before the measurement has failed', async () => {
    const aggregator = await renewedAggregator();
    const duchies = { ...world.duchies, aggregator };
    const open = await world.create();
    await setAllParameters(exchange, duchies, open);
    const running = await world.create();
    await setAllParameters(exchange, duchies, running);
    for (const i of [0, 1]) await ok(reportFulfilled(exchange, duchies, running, i));
    // Put the certificate on hold without starting the cascade. This is the state before the cascade reaches the
    // measurement.
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
  it('removes the computation and the reports of its duchies', async () => {
    const { aggregator, firstWorker } = world.duchies;
    const measurement = await world.createComputing();
    const report = { stage: 'S', attempt: 1, code: 'RUNNING' };
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

  it('cancels a computation that has been pending for too long', async () => {
    const measurement = await world.create();
    await setAllParameters(exchange, world.duchies, measurement);
    while (await applyRetention(ahead(31 * 24), { cancelPendingAfterDays: 30 }));
    expect((await readComputation(exchange, world.duchies.firstWorker, measurement)).state).toBe('CANCELLED');
  });
});
