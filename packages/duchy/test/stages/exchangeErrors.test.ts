/**
 * Tests that errors of the exchange, such as overload, rejected credentials or a 404 from a proxy, neither end a
 * computation nor make a duchy lose its secrets. Only COMPUTATION_NOT_FOUND ends the computation.
 */

import { ExchangeError, type Measurement } from '@measurement-exchange/contract';
import { UnexpectedResponse, Unreachable } from '@measurement-exchange/sdk';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readSecrets } from '../../src/database/index.ts';
import { Herald } from '../../src/herald/herald.ts';
import { AUDIENCES, truth } from './audiences.ts';
import { mapClient } from './mapClient.ts';
import { openResult, reachOf } from './results.ts';
import { makeUpload, uploadAll } from './uploads.ts';
import { type DuchyWorld, startDuchyWorld, type TestDuchy } from './world.ts';

const status = (reason: string, code: ExchangeError['code']) => () =>
  new ExchangeError(reason, 'no', { code });
const ANSWERS: Record<string, () => Error> = {
  '503': status('UNAVAILABLE', 'UNAVAILABLE'),
  '429': status('RATE_LIMITED', 'RESOURCE_EXHAUSTED'),
  '401': status('CREDENTIALS_INVALID', 'UNAUTHENTICATED'),
  '403': status('ACCESS_DENIED', 'PERMISSION_DENIED'),
  '504': status('DEADLINE', 'DEADLINE_EXCEEDED'),
  'no response': () => new Unreachable('The exchange does not respond.'),
  'a timeout': () => new DOMException('The operation timed out.', 'TimeoutError'),
  '404 of a proxy': status('ROUTE_NOT_FOUND', 'NOT_FOUND'),
};

let world: DuchyWorld;
let honest: Map<TestDuchy, TestDuchy['duchy']['client']>;
beforeAll(async () => {
  world = await startDuchyWorld();
  honest = new Map(world.duchies.map((each) => [each, { ...each.duchy.client }]));
});
afterEach(heal);
afterAll(async () => {
  expect(await world.stop()).toEqual([]);
});

/** Makes the exchange answer these operations with this error, for all duchies. */
function answer(operations: string[], error: () => Error): void {
  for (const each of world.duchies) {
    const client = mapClient(honest.get(each)!, (call, operation) => (args) => {
      if (!operations.includes(operation)) return call(args);
      return operation.startsWith('list') ? failing(error()) : Promise.reject(error());
    });
    Object.assign(each.duchy.client, client);
  }
}

function heal(): void {
  for (const each of world.duchies) Object.assign(each.duchy.client, honest.get(each));
}

async function* nothing(): AsyncGenerator<never> {}

async function* failing(error: Error): AsyncGenerator<never> {
  yield await Promise.reject(error);
}

/**
 * Lets heralds and mills work, and ignores errors of heralds. Uses new heralds, because a herald that failed before
 * would wait before it retries.
 */
async function turn(): Promise<void> {
  for (const { duchy, mill } of world.duchies) {
    await new Herald(duchy).once().catch(() => {});
    await mill.once();
  }
}

const idOf = ({ name }: Measurement) => name!.split('/').at(-1)!;

async function expectPending(measurement: Measurement): Promise<void> {
  const id = idOf(measurement);
  const { state } = await world.acme.client.getMeasurement({ name: measurement.name! });
  expect(['AWAITING_REQUISITION_FULFILLMENT', 'COMPUTING']).toContain(state);
  for (const { duchy, query } of world.duchies) {
    const rows = await query('SELECT outcome FROM computations WHERE id = $1', [id]);
    // Skip a duchy that has not accepted the computation yet, because it has no row.
    if (rows.length === 0) continue;
    expect(rows).toEqual([{ outcome: null }]);
    expect(Object.keys(await readSecrets(duchy.db, id))).toContain('noiseSeed');
  }
}

const CALLS = [
  ['listComputations', 'getComputation'],
  ['getCertificate'],
  ['getPopulation'],
  ['setComputationParameters', 'getParty', 'logComputation'],
  ['setComputationResult'],
];

/**
 * Returns the errors to try for these operations. Stress runs try every error. Other runs spread the errors over the
 * calls, but always try the 404 from a proxy.
 */
function answersTo(operations: string[]): (() => Error)[] {
  const place = CALLS.findIndex((each) => each.join() === operations.join());
  return Object.entries(ANSWERS).flatMap(([what, error], i) =>
    isStress || what === '404 of a proxy' || i % CALLS.length === place ? [error] : [],
  );
}

describe('a computation during errors of the exchange', () => {
  let measurement: Measurement;
  beforeAll(async () => {
    measurement = await world.ask();
  });

  test.each(CALLS)('stays pending if %s fails before the providers upload', async (...operations) => {
    for (const error of answersTo(operations)) {
      answer(operations, error);
      await turn();
      await expectPending(measurement);
    }
  });

  describe('after the providers have uploaded', () => {
    let isUploaded = false;
    const upload = async () => {
      if (isUploaded) return;
      await expect
        .poll(async () => {
          await world.turn();
          return uploadable(measurement);
        })
        .toBe(true);
      await uploadAll(world, measurement, AUDIENCES);
      isUploaded = true;
    };

    // Test the calls in the order in which a computation needs them. The result call always fails, so that the
    // computation does not end.
    test.each([0, 3, 1, 2, 4].map((i) => CALLS[i]!))('stays pending if %s fails', async (...operations) => {
      await upload();
      for (const error of answersTo(operations)) {
        answer([...operations, 'setComputationResult'], error);
        await turn();
        await turn();
        await expectPending(measurement);
      }
    });

    test('has the exact result', async () => {
      await upload();
      expect((await world.finish(measurement)).state).toBe('SUCCEEDED');
      expect(reachOf(await openResult(world, measurement))).toBe(truth(1).size);
    });
  });
});

/** Returns whether the measurement is ready for the providers' uploads. */
async function uploadable(measurement: Measurement): Promise<boolean> {
  const { client, name } = world.providers[0]!;
  const requisitions = await Array.fromAsync(client.listRequisitions({ parent: name }));
  return requisitions.some((r) => r.measurement === measurement.name && r.duchies !== undefined);
}

test('the report of an upload is repeated until the exchange accepts it', async () => {
  const measurement = await world.ask();
  await world.turn();
  const upload = await makeUpload(world.providers[0]!, measurement, AUDIENCES[0]!);
  const taker = world.duchies.find(({ duchy }) => duchy.name === upload.fulfillment.duchy)!;
  const herald = new Herald(taker.duchy, { reportAfterMs: 0 });
  const unreported = () =>
    taker.query('SELECT 1 FROM uploads WHERE reported_time IS NULL AND computation = $1', [
      idOf(measurement),
    ]);
  for (const [what, error] of Object.entries(ANSWERS)) {
    answer(['fulfillComputationRequisition'], error);
    const { status } = await upload.send();
    // The status must be one after which the provider retries.
    expect(status >= 500 || status === 429, `${what} became ${status}`).toBe(true);
    await herald.once();
    expect(await unreported()).toHaveLength(1);
    await expectPending(measurement);
  }
  heal();
  await herald.once();
  expect(await unreported()).toHaveLength(0);
  for (const i of [1, 2]) await (await makeUpload(world.providers[i]!, measurement, AUDIENCES[i]!)).send();
  expect((await world.finish(measurement)).state).toBe('SUCCEEDED');
});

describe('a computation that the exchange does not list', () => {
  let measurement: Measurement;
  beforeAll(async () => {
    measurement = await world.ask();
    await world.turn();
  });
  afterAll(async () => {
    await world.acme.client.cancelMeasurement({ name: measurement.name! });
    await world.turn();
  });

  test.each(Object.keys(ANSWERS))('stays pending if getComputation fails with %s', async (what) => {
    const { duchy } = world.of('FIRST_WORKER');
    const client = {
      ...duchy.client,
      listComputations: nothing,
      getComputation: () => Promise.reject(ANSWERS[what]!()),
    };
    await new Herald({ ...duchy, client: client as never }).once().catch(() => {});
    await expectPending(measurement);
  });

  test('is cancelled on COMPUTATION_NOT_FOUND, even if the response for another computation is invalid', async () => {
    const [broken, gone] = [await world.ask(), await world.ask()];
    await world.turn();
    const { duchy, query } = world.of('FIRST_WORKER');
    const client = {
      ...duchy.client,
      listComputations: nothing,
      getComputation: ({ name }: { name: string }) =>
        name.endsWith(idOf(gone))
          ? Promise.reject(new ExchangeError('COMPUTATION_NOT_FOUND', 'no'))
          : Promise.reject(
              new UnexpectedResponse('It is no computation.', { status: 200, transient: false }),
            ),
    };
    await new Herald({ ...duchy, client: client as never }).once();
    const outcomes = async (measurement: Measurement) =>
      (await query('SELECT outcome FROM computations WHERE id = $1', [idOf(measurement)]))[0]!.outcome;
    expect(await outcomes(gone)).toBe('CANCELLED');
    expect(await readSecrets(duchy.db, idOf(gone))).toEqual({});
    await expectPending(broken);
    for (const { name } of [broken, gone]) await world.acme.client.cancelMeasurement({ name: name! });
    await world.turn();
  });
});
