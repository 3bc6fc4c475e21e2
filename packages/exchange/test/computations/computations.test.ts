/**
 * Tests computations as duchies see them: their contents, states, etags, and lists. Also tests the timeline that the
 * consumer sees, and a suspended duchy.
 */
import { createHash } from 'node:crypto';
import {
  act,
  computationOf,
  ILLEGAL,
  INVALID,
  parametersOf,
  readComputation,
  reportFulfilled,
  resultOf,
  setAllParameters,
  useComputations,
} from '@measurement-exchange/testkit/computations';
import { measurementRequest, type Reply } from '@measurement-exchange/testkit/exchange';
import { asOperator } from '@measurement-exchange/testkit/operator';
import {
  createMeasurement,
  errorOf,
  get,
  ok,
  post,
  requisitionOf,
  TIMESTAMP,
} from '@measurement-exchange/testkit/steps';
import { describe, expect, it } from 'vitest';

type Json = Reply['json'];
const world = useComputations();
const { exchange } = world;

describe('a computation', () => {
  it('shows the measurement to each participant, under the same ID', async () => {
    const request = measurementRequest(world.acme, [world.streamly, world.chirper]);
    const measurement = await ok(post(exchange, world.acme, `${world.acme.name}/measurements`, request));
    const { firstWorker, secondWorker, aggregator } = world.duchies;
    const seen = await readComputation(exchange, secondWorker, measurement);
    expect(seen).toEqual({
      name: computationOf(secondWorker, measurement),
      role: 'SECOND_WORKER',
      state: 'PENDING_PARAMS',
      measurementConsumer: world.acme.name,
      measurementSpec: request.measurementSpec,
      measurementConsumerCertificate: world.acme.certificate,
      protocolConfig: measurement.protocolConfig,
      participants: {
        [firstWorker.name]: { role: 'FIRST_WORKER', state: 'CREATED' },
        [secondWorker.name]: { role: 'SECOND_WORKER', state: 'CREATED' },
        [aggregator.name]: { role: 'AGGREGATOR', state: 'CREATED' },
      },
      requisitions: [world.streamly, world.chirper].map(({ name, certificate }) => {
        const { encryptedRequisitionSpec, nonceHash } = request.dataProviders[name]!;
        const ciphertext = Buffer.from(encryptedRequisitionSpec.ciphertext, 'base64');
        return {
          name: expect.stringMatching(`^${name}/requisitions/`),
          dataProvider: name,
          dataProviderCertificate: certificate,
          requisitionSpecHash: createHash('sha256').update(ciphertext).digest('base64'),
          nonceHash,
          state: 'UNFULFILLED',
          fulfillingDuchy: expect.stringMatching(/^duchies\/worker[12]$/),
        };
      }),
      etag: expect.any(String),
      createTime: measurement.createTime,
      updateTime: expect.stringMatching(TIMESTAMP),
    });
    const first = await readComputation(exchange, firstWorker, measurement);
    expect(first).toEqual({ ...seen, name: computationOf(firstWorker, measurement), role: 'FIRST_WORKER' });
  });

  it('proceeds from parameters through fulfillment and computing to the result of the aggregator', async () => {
    const measurement = await world.create(3);
    expect(await world.states(measurement)).toEqual(['AWAITING_REQUISITION_FULFILLMENT', 'PENDING_PARAMS']);
    await setAllParameters(exchange, world.duchies, measurement);
    expect(await world.states(measurement)).toEqual([
      'AWAITING_REQUISITION_FULFILLMENT',
      'PENDING_FULFILLMENT',
    ]);
    for (const i of [0, 1]) await ok(reportFulfilled(exchange, world.duchies, measurement, i));
    expect(await world.states(measurement)).toEqual([
      'AWAITING_REQUISITION_FULFILLMENT',
      'PENDING_FULFILLMENT',
    ]);
    const computing = await ok(reportFulfilled(exchange, world.duchies, measurement, 2));
    expect(computing.requisitions.map((r: Json) => [r.state, r.nonce])).toEqual([
      ['FULFILLED', 1],
      ['FULFILLED', 2],
      ['FULFILLED', 3],
    ]);
    expect(await world.states(measurement)).toEqual(['COMPUTING', 'COMPUTING']);

    const { aggregator } = world.duchies;
    const result = resultOf(aggregator);
    expect(await ok(act(exchange, aggregator, measurement, 'setResult', result))).toMatchObject({
      state: 'SUCCEEDED',
    });
    expect(await world.states(measurement)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
    expect((await get(exchange, world.acme, measurement.name)).results).toEqual([result]);
  });

  it('does not exist for a measurement without duchies, and is denied under the name of another duchy', async () => {
    const direct = await createMeasurement(exchange, world.acme, [world.streamly]);
    const other = { ...world.duchies.firstWorker, name: 'duchies/nobody' };
    const reply = await exchange.call(
      world.duchies.firstWorker.token,
      'GET',
      `/v2alpha/${computationOf(world.duchies.firstWorker, direct)}`,
    );
    expect(errorOf(reply)).toBe('404 NOT_FOUND COMPUTATION_NOT_FOUND');
    const foreign = await exchange.call(other.token, 'GET', `/v2alpha/${computationOf(other, direct)}`);
    expect(errorOf(foreign)).toBe('403 PERMISSION_DENIED PERMISSION_DENIED');
  });

  it('gets a new etag and a later update time with every change, for all participants', async () => {
    const measurement = await world.create(3);
    const { firstWorker, secondWorker, aggregator } = world.duchies;
    const seen: Json[] = [];
    const look = async () => {
      const [one, two] = await Promise.all(
        [firstWorker, secondWorker].map((d) => readComputation(exchange, d, measurement)),
      );
      expect([two.etag, two.updateTime]).toEqual([one.etag, one.updateTime]);
      seen.push(one);
    };
    await look();
    for (const duchy of [firstWorker, aggregator, secondWorker]) {
      await ok(act(exchange, duchy, measurement, 'setParameters', parametersOf(duchy)));
      await look();
    }
    for (const i of [0, 1, 2]) {
      await ok(reportFulfilled(exchange, world.duchies, measurement, i));
      await look();
    }
    await ok(post(exchange, world.acme, `${measurement.name}:cancel`));
    await look();
    expect(new Set(seen.map(({ etag }) => etag)).size).toBe(8);
    const times = seen.map(({ updateTime }) => updateTime);
    expect(new Set(times).size).toBe(8);
    expect(times).toEqual([...times].sort());
    // A progress report does not change the computation resource.
    const open = await world.create(3);
    const before = await readComputation(exchange, firstWorker, open);
    const report = { stage: 'S', attempt: 1, code: 'RUNNING' };
    await ok(post(exchange, firstWorker as never, `${computationOf(firstWorker, open)}:log`, report));
    expect(await readComputation(exchange, firstWorker, open)).toEqual(before);
  });
});

describe('the list of computations', () => {
  it('is sorted by update time, filtered by state and time, and includes computations that change while paging', async () => {
    const { secondWorker } = world.duchies;
    const list = (query: string) =>
      get(exchange, secondWorker as never, `${secondWorker.name}/computations?${query}`);
    const first = await world.create(3);
    const second = await world.create(3);
    const { updateTime: start } = await readComputation(exchange, secondWorker, first);
    const later = `filter.updatedAfter=${start}`;
    const names = async (query: string) =>
      (await list(query)).computations.map(({ name }: Json) => name.split('/').at(-1));
    const idOf = ({ name }: Json) => name.split('/').at(-1);
    expect(await names(later)).toEqual([idOf(second)]);

    const page = await list('filter.states=PENDING_PARAMS&pageSize=1000');
    const times = page.computations.map(({ updateTime }: Json) => updateTime);
    expect(times).toEqual([...times].sort());
    expect(new Set(page.computations.map(({ state }: Json) => state))).toEqual(new Set(['PENDING_PARAMS']));

    await setAllParameters(exchange, world.duchies, first);
    expect(await names(later)).toEqual([idOf(second), idOf(first)]);
    expect(await names(`${later}&filter.states=PENDING_FULFILLMENT`)).toEqual([idOf(first)]);
    const { nextPageToken } = await list(`${later}&pageSize=1`);
    expect(await names(`${later}&pageSize=1&pageToken=${nextPageToken}`)).toEqual([idOf(first)]);
    // Change a computation whose page was already read. It moves to a later page and appears again.
    await ok(post(exchange, world.acme, `${second.name}:cancel`));
    expect(await names(`${later}&pageSize=2&pageToken=${nextPageToken}`)).toEqual([
      idOf(first),
      idOf(second),
    ]);
  });
});

describe('the timeline of a measurement', () => {
  it('shows the steps of the duchies and their progress reports, which contain no free text', async () => {
    const { firstWorker, secondWorker, aggregator } = world.duchies;
    const measurement = await world.createComputing();
    const log = (duchy: typeof firstWorker, body: object) =>
      post(exchange, duchy as never, `${computationOf(duchy, measurement)}:log`, body);
    const report = { stage: 'SETUP_PHASE', attempt: 1, code: 'RUNNING', progress: 0.5 };
    await ok(log(firstWorker, report));
    await ok(log(firstWorker, report));
    await ok(log(firstWorker, { ...report, progress: 1 }));
    await ok(log(secondWorker, { stage: 'SETUP_PHASE', attempt: 2, code: 'RETRIED' }));
    for (const progress of [-0.1, 1.1]) {
      expect(errorOf(await log(firstWorker, { ...report, progress }))).toBe(`${INVALID} progress`);
    }
    // Reports must not contain free text, either as a message or in place of a code, a stage, or a position.
    for (const [change, field] of [
      [{ message: 'VID 42 was seen 3 times' }, 'message'],
      [{ code: 'VID_42' }, 'code'],
      [{ stage: 'VID 42' }, 'stage'],
      [{ position: { stage: 'VID 42' } }, 'position.stage'],
    ] as const) {
      expect(errorOf(await log(firstWorker, { ...report, ...change }))).toBe(`${INVALID} ${field}`);
    }
    await ok(act(exchange, aggregator, measurement, 'setResult', resultOf(aggregator)));
    expect(errorOf(await log(firstWorker, report))).toBe(ILLEGAL);

    const { transitions, progress } = await get(exchange, world.acme, `${measurement.name}:timeline`);
    const { code: _code, ...shown } = { ...report, message: 'In progress.' };
    expect(progress).toEqual([
      { duchy: firstWorker.name, time: expect.stringMatching(TIMESTAMP), ...shown },
      { duchy: firstWorker.name, time: expect.stringMatching(TIMESTAMP), ...shown, progress: 1 },
      {
        duchy: secondWorker.name,
        time: expect.stringMatching(TIMESTAMP),
        ...{ stage: 'SETUP_PHASE', attempt: 2, message: 'Failed; it is tried again.' },
      },
    ]);
    const told = transitions.map((t: Json) => [t.resource.replace(/\/(r|m)\w+$/, ''), t.cause, t.to]);
    expect(told.filter(([, cause]: string[]) => cause === 'parametersSet')).toHaveLength(5);
    const steps = transitions.filter((t: Json) => t.resource === computationOf(secondWorker, measurement));
    expect(steps.map((t: Json) => [t.from, t.to, t.cause, t.actor])).toEqual([
      [undefined, 'CREATED', 'created', world.acme.name],
      ['CREATED', 'READY', 'parametersSet', secondWorker.name],
    ]);
    expect(transitions.at(-1)).toMatchObject({ from: 'COMPUTING', to: 'SUCCEEDED', actor: aggregator.name });

    const requisition = await requisitionOf(exchange, world.streamly, measurement);
    const own = await get(exchange, world.streamly, `${requisition.name}:timeline`);
    expect(own).not.toHaveProperty('progress');
    expect(own.transitions.map((t: Json) => t.cause)).toEqual(['created', 'parametersSet', 'fulfilled']);
  });

  it('keeps the latest 200 reports of each duchy', async () => {
    const measurement = await world.create(3);
    const { firstWorker } = world.duchies;
    await exchange.database.query(
      `INSERT INTO computation_log (computation, duchy, n, time, stage, attempt, message)
       SELECT $1, $2, n, now(), 's', n, 'again' FROM generate_series(1, 199) AS n`,
      [measurement.name.split('/').at(-1), firstWorker.name],
    );
    const path = `${computationOf(firstWorker, measurement)}:log`;
    for (const attempt of [200, 201, 202]) {
      await ok(post(exchange, firstWorker as never, path, { stage: 'S', attempt, code: 'RETRIED' }));
    }
    const { progress } = await get(exchange, world.acme, `${measurement.name}:timeline?pageSize=1000`);
    expect(progress.map(({ attempt }: Json) => attempt)).toEqual(
      Array.from({ length: 200 }, (_, i) => i + 3),
    );
  });
});

describe('a suspended duchy', () => {
  it('is rejected with PRINCIPAL_SUSPENDED, and its open computations stay open', async () => {
    const measurement = await world.create(3);
    const { firstWorker } = world.duchies;
    await ok(asOperator(exchange, 'POST', `${firstWorker.name}:suspend`));
    const path = `/v2alpha/${computationOf(firstWorker, measurement)}`;
    expect(errorOf(await exchange.call(firstWorker.token, 'GET', path))).toBe(
      '403 PERMISSION_DENIED PRINCIPAL_SUSPENDED',
    );
    await ok(asOperator(exchange, 'POST', `${firstWorker.name}:resume`));
    expect((await ok(exchange.call(firstWorker.token, 'GET', path))).state).toBe('PENDING_PARAMS');
  });
});
