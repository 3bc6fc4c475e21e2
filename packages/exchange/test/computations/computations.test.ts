import { createHash } from 'node:crypto';
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
import { measurementRequest, type Reply } from '@measurement-exchange/testkit/exchange';
import { asOperator } from '@measurement-exchange/testkit/operator';
import {
  createMeasurement,
  errorOf,
  fulfill,
  get,
  ok,
  post,
  refuse,
  requisitionOf,
  stored,
  TIMESTAMP,
} from '@measurement-exchange/testkit/steps';
import { describe, expect, it } from 'vitest';

type Json = Reply['json'];
const world = useComputations();
const { exchange } = world;

const NO_MATCH = '409 ABORTED COMPUTATION_ETAG_MISMATCH';
const ILLEGAL = '400 FAILED_PRECONDITION COMPUTATION_STATE_ILLEGAL';
const INVALID = '400 INVALID_ARGUMENT INVALID_FIELD_VALUE';

function create(): Promise<Json> {
  return createMeasurement(exchange, world.acme, [world.streamly, world.chirper, world.dailynews]);
}

const states = async (measurement: { name: string }) => {
  const read = await Promise.all(all(world.duchies).map((d) => readComputation(exchange, d, measurement)));
  return [(await get(exchange, world.acme, measurement.name)).state, ...new Set(read.map((c) => c.state))];
};

describe('a computation', () => {
  it('is what each participant sees of the measurement, under one ID', async () => {
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

  it('goes from parameters over fulfillment and computing to the one result of the aggregator', async () => {
    const measurement = await create();
    expect(await states(measurement)).toEqual(['AWAITING_REQUISITION_FULFILLMENT', 'PENDING_PARAMS']);
    await setAllParameters(exchange, world.duchies, measurement);
    expect(await states(measurement)).toEqual(['AWAITING_REQUISITION_FULFILLMENT', 'PENDING_FULFILLMENT']);
    for (const i of [0, 1]) await ok(reportFulfilled(exchange, world.duchies, measurement, i));
    expect(await states(measurement)).toEqual(['AWAITING_REQUISITION_FULFILLMENT', 'PENDING_FULFILLMENT']);
    const computing = await ok(reportFulfilled(exchange, world.duchies, measurement, 2));
    expect(computing.requisitions.map((r: Json) => [r.state, r.nonce])).toEqual([
      ['FULFILLED', 1],
      ['FULFILLED', 2],
      ['FULFILLED', 3],
    ]);
    expect(await states(measurement)).toEqual(['COMPUTING', 'COMPUTING']);

    const { aggregator } = world.duchies;
    const result = resultOf(aggregator);
    expect(await ok(act(exchange, aggregator, measurement, 'setResult', result))).toMatchObject({
      state: 'SUCCEEDED',
    });
    expect(await states(measurement)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
    expect((await get(exchange, world.acme, measurement.name)).results).toEqual([result]);
  });

  it('does not exist for a duchy that takes no part, nor for any measurement without duchies', async () => {
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

  it('gets another etag and a later update time with every change, for all participants', async () => {
    const measurement = await create();
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
    // Reports of progress change nothing that others must see.
    const open = await create();
    const before = await readComputation(exchange, firstWorker, open);
    const report = { stage: 's', attempt: 1, message: 'm' };
    await ok(post(exchange, firstWorker as never, `${computationOf(firstWorker, open)}:log`, report));
    expect(await readComputation(exchange, firstWorker, open)).toEqual(before);
  });
});

describe('the list of computations', () => {
  it('goes by update time, filters by state and time, and never loses what changes meanwhile', async () => {
    const { secondWorker } = world.duchies;
    const list = (query: string) =>
      get(exchange, secondWorker as never, `${secondWorker.name}/computations?${query}`);
    const first = await create();
    const second = await create();
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
    // What was on the page already moves on, and comes again.
    await ok(post(exchange, world.acme, `${second.name}:cancel`));
    expect(await names(`${later}&pageSize=2&pageToken=${nextPageToken}`)).toEqual([
      idOf(first),
      idOf(second),
    ]);
  });
});

describe('the requisitions', () => {
  it('show both workers once all duchies have set their parameters, and no earlier', async () => {
    const measurement = await create();
    const { firstWorker, secondWorker, aggregator } = world.duchies;
    const read = () =>
      Promise.all(
        [world.streamly, world.chirper, world.dailynews].map((p) => requisitionOf(exchange, p, measurement)),
      );
    const before = await read();
    for (const requisition of before) {
      expect(requisition).not.toHaveProperty('duchies');
      expect(requisition.state).toBe('UNFULFILLED');
    }
    const parameters = {
      [firstWorker.name]: parametersOf(firstWorker),
      [secondWorker.name]: parametersOf(secondWorker),
    };
    for (const worker of [secondWorker, firstWorker]) {
      await ok(act(exchange, worker, measurement, 'setParameters', parameters[worker.name]!));
      expect(await read()).toEqual(before);
    }
    const { certificate } = aggregator;
    const { participants } = await ok(
      act(exchange, aggregator, measurement, 'setParameters', { certificate }),
    );
    expect(participants).toEqual({
      [firstWorker.name]: participantOf('FIRST_WORKER', parameters[firstWorker.name]!),
      [secondWorker.name]: participantOf('SECOND_WORKER', parameters[secondWorker.name]!),
      [aggregator.name]: participantOf('AGGREGATOR', { certificate, honestMajorityShareShuffle: {} }),
    });

    for (const [i, requisition] of (await read()).entries()) {
      const { fulfillingDuchy, duchies, etag, updateTime, ...rest } = requisition;
      expect(rest).toEqual(withoutVersion(before[i]));
      expect(etag).not.toBe(before[i].etag);
      expect(updateTime > before[i].updateTime).toBe(true);
      expect(Object.keys(duchies).sort()).toEqual([firstWorker.name, secondWorker.name]);
      for (const worker of [firstWorker, secondWorker]) {
        const { publicKey } = parameters[worker.name]!.honestMajorityShareShuffle;
        expect(duchies[worker.name]).toEqual({
          duchyCertificate: worker.certificate,
          honestMajorityShareShuffle: worker.name === fulfillingDuchy ? {} : { publicKey },
        });
      }
      // The consumer sees the same.
      const id = requisition.name.split('/').at(-1);
      const seen = await get(exchange, world.acme, `${measurement.name}/requisitions/${id}`);
      expect(seen.duchies).toEqual(duchies);
    }
    function participantOf(role: string, { certificate, ...parameters }: Json) {
      return { role, state: 'READY', certificate, parameters };
    }
    function withoutVersion({ etag: _e, updateTime: _u, fulfillingDuchy: _f, ...rest }: Json) {
      return rest;
    }
  });

  it('go to both workers, about half to each', async () => {
    const found: string[] = [];
    for (let i = 0; i < 8; i++) {
      const { requisitions } = await readComputation(exchange, world.duchies.aggregator, await create());
      found.push(...requisitions.map(({ fulfillingDuchy }: Json) => fulfillingDuchy));
    }
    // 1 of 2 with 24 throws: below 3 of one kind comes once in 50,000 runs.
    for (const { name } of [world.duchies.firstWorker, world.duchies.secondWorker]) {
      expect(found.filter((duchy) => duchy === name).length).toBeGreaterThan(2);
    }
  });

  it('can be refused at any time, and never be fulfilled directly', async () => {
    const measurement = await create();
    const early = await requisitionOf(exchange, world.streamly, measurement);
    const direct = await fulfill(exchange, world.streamly, early, 1n);
    expect(errorOf(direct)).toBe('400 FAILED_PRECONDITION PROTOCOL_NOT_DIRECT');
    await ok(refuse(exchange, world.streamly, early));
    expect(await states(measurement)).toEqual(['FAILED', 'FAILED']);

    const ready = await create();
    await setAllParameters(exchange, world.duchies, ready);
    await ok(reportFulfilled(exchange, world.duchies, ready, 0));
    expect(errorOf(await refuse(exchange, world.chirper, early))).toMatch(/^4/);
    const late = await requisitionOf(exchange, world.chirper, ready);
    expect(errorOf(await fulfill(exchange, world.chirper, late, 2n))).toBe(
      '400 FAILED_PRECONDITION PROTOCOL_NOT_DIRECT',
    );
    await ok(refuse(exchange, world.chirper, late));
    expect(await states(ready)).toEqual(['FAILED', 'FAILED']);
    const { requisitions } = await readComputation(exchange, world.duchies.firstWorker, ready);
    expect(requisitions.map(({ state }: Json) => state)).toEqual(['FULFILLED', 'REFUSED', 'WITHDRAWN']);
  });
});

describe('setParameters', () => {
  it('is the same under repetition, though the etag has moved on, and takes nothing else afterwards', async () => {
    const measurement = await create();
    const { firstWorker, secondWorker } = world.duchies;
    const body = {
      ...parametersOf(firstWorker),
      etag: (await readComputation(exchange, firstWorker, measurement)).etag,
    };
    const set = await ok(act(exchange, firstWorker, measurement, 'setParameters', body));
    await ok(act(exchange, secondWorker, measurement, 'setParameters', parametersOf(secondWorker)));
    const before = await stored(exchange);
    const again = await ok(act(exchange, firstWorker, measurement, 'setParameters', body));
    expect(again.participants[firstWorker.name]).toEqual(set.participants[firstWorker.name]);
    const { etag: _etag, ...other } = { ...body, ...parametersOf(firstWorker) };
    const stale = { ...other, etag: body.etag };
    expect(errorOf(await act(exchange, firstWorker, measurement, 'setParameters', stale))).toBe(NO_MATCH);
    expect(errorOf(await act(exchange, firstWorker, measurement, 'setParameters', other))).toBe(ILLEGAL);
    expect(await stored(exchange)).toEqual(before);
    // Even when the measurement has ended.
    await ok(post(exchange, world.acme, `${measurement.name}:cancel`));
    const late = await ok(act(exchange, firstWorker, measurement, 'setParameters', body));
    expect(late.state).toBe('CANCELLED');
    expect(errorOf(await act(exchange, firstWorker, measurement, 'setParameters', other))).toBe(ILLEGAL);
  });

  it('needs a key from a worker, signed by the certificate it names, which is its own and in force', async () => {
    const measurement = await create();
    const { firstWorker, secondWorker } = world.duchies;
    const good = parametersOf(firstWorker);
    const { publicKey } = good.honestMajorityShareShuffle;
    const set = async (changes: object) =>
      errorOf(await act(exchange, firstWorker, measurement, 'setParameters', { ...good, ...changes }));
    const keyed = (changes: object) => ({
      honestMajorityShareShuffle: { publicKey: { ...publicKey, ...changes } },
    });
    const KEY = 'honestMajorityShareShuffle.publicKey';
    const before = await stored(exchange);
    expect(await set({ honestMajorityShareShuffle: {} })).toBe(`${INVALID} ${KEY}`);
    expect(await set({ honestMajorityShareShuffle: undefined })).toBe(`${INVALID} ${KEY}`);
    const foreign = parametersOf(secondWorker).honestMajorityShareShuffle;
    expect(await set({ honestMajorityShareShuffle: foreign })).toBe(`${INVALID} ${KEY}.signature`);
    expect(await set(keyed({ message: Buffer.from('?').toString('base64') }))).toBe(
      `${INVALID} ${KEY}.message`,
    );
    expect(await set(keyed({ message: Buffer.alloc(1025).toString('base64') }))).toBe(
      `${INVALID} ${KEY}.message`,
    );
    expect(await set(keyed({ signature: Buffer.alloc(1025).toString('base64') }))).toBe(
      `${INVALID} ${KEY}.signature`,
    );
    expect(await set({ certificate: secondWorker.certificate })).toBe(`${INVALID} certificate`);
    expect(await set({ certificate: `${firstWorker.name}/certificates/absent` })).toBe(
      '400 FAILED_PRECONDITION CERTIFICATE_NOT_FOUND',
    );
    expect(await stored(exchange)).toEqual(before);

    const held = { revocationState: 'HOLD' };
    await ok(asOperator(exchange, 'POST', `${firstWorker.certificate}:revoke`, held));
    expect(await set({})).toBe('400 FAILED_PRECONDITION CERTIFICATE_IS_INVALID');
    const release = () => asOperator(exchange, 'POST', `${firstWorker.certificate}:releaseHold`);
    await expect.poll(async () => (await release()).status).toBe(200);
    // Nothing rested on it.
    expect(await states(measurement)).toEqual(['AWAITING_REQUISITION_FULFILLMENT', 'PENDING_PARAMS']);
  });

  it('validateOnly writes nothing', async () => {
    const measurement = await create();
    const { firstWorker } = world.duchies;
    const { etag } = await readComputation(exchange, firstWorker, measurement);
    const before = await stored(exchange);
    const path = `${computationOf(firstWorker, measurement)}:setParameters?validateOnly=true`;
    const body = { etag, ...parametersOf(firstWorker) };
    const { findings, ...validated } = await ok(post(exchange, firstWorker as never, path, body));
    expect(findings).toEqual([]);
    expect(validated.participants[firstWorker.name].state).toBe('READY');
    for (const member of ['name', 'etag', 'createTime', 'updateTime'])
      expect(validated).not.toHaveProperty(member);
    expect(await stored(exchange)).toEqual(before);
  });
});

describe('fulfillRequisition', () => {
  it('is the same under repetition', async () => {
    const measurement = await create();
    await setAllParameters(exchange, world.duchies, measurement);
    await ok(reportFulfilled(exchange, world.duchies, measurement, 0));
    const before = await stored(exchange);
    const again = await ok(reportFulfilled(exchange, world.duchies, measurement, 0));
    expect(again.requisitions[0]).toMatchObject({ state: 'FULFILLED', nonce: 1 });
    expect(await stored(exchange)).toEqual(before);
  });

  it('is for the duchy that takes the data, after the parameters, with the nonce', async () => {
    const measurement = await create();
    const other = await create();
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
    expect(await report(mine, { etag: 'old' })).toBe(NO_MATCH);
    const foreign = (await readComputation(exchange, mine, other)).requisitions[0].name;
    expect(await report(mine, { requisition: foreign })).toBe('404 NOT_FOUND REQUISITION_NOT_FOUND');
    expect(await stored(exchange)).toEqual(before);
    await ok(reportFulfilled(exchange, world.duchies, measurement, 0));
    expect(await report(mine, { nonce: 2n })).toBe('400 FAILED_PRECONDITION REQUISITION_STATE_ILLEGAL');
  });

  it('keeps what the duchy tells about it', async () => {
    const measurement = await createMeasurement(exchange, world.acme, [world.streamly, world.chirper]);
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
  it('is for the aggregator of a computation that runs, and the same under repetition', async () => {
    const { aggregator, firstWorker } = world.duchies;
    const open = await create();
    const early = await act(exchange, aggregator, open, 'setResult', resultOf(aggregator));
    expect(errorOf(early)).toBe(ILLEGAL);

    const measurement = await createComputing(exchange, world.duchies, world.acme, [
      world.streamly,
      world.chirper,
    ]);
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
    // Another one is too late, whatever its etag.
    const late = { ...resultOf(aggregator), etag };
    expect(errorOf(await act(exchange, aggregator, measurement, 'setResult', late))).toBe(ILLEGAL);
    expect(errorOf(await act(exchange, aggregator, measurement, 'setResult', resultOf(aggregator)))).toBe(
      ILLEGAL,
    );
    expect(await stored(exchange)).toEqual(before);
  });

  it('is too late once the measurement was cancelled', async () => {
    const { aggregator } = world.duchies;
    const measurement = await createComputing(exchange, world.duchies, world.acme, [
      world.streamly,
      world.chirper,
    ]);
    const { etag } = await readComputation(exchange, aggregator, measurement);
    await ok(post(exchange, world.acme, `${measurement.name}:cancel`));
    const late = { ...resultOf(aggregator), etag };
    expect(errorOf(await act(exchange, aggregator, measurement, 'setResult', late))).toBe(ILLEGAL);
    expect(await get(exchange, world.acme, measurement.name)).not.toHaveProperty('results');
  });
});

describe('fail', () => {
  it('ends the measurement at any time, and says which duchy gave up and why', async () => {
    const { secondWorker, aggregator, firstWorker } = world.duchies;
    const pending = await create();
    const ready = await create();
    await setAllParameters(exchange, world.duchies, ready);
    const computing = await createComputing(exchange, world.duchies, world.acme, [
      world.streamly,
      world.chirper,
    ]);
    for (const measurement of [pending, ready, computing]) {
      const { etag } = await readComputation(exchange, secondWorker, measurement);
      const body = { etag, message: 'the disk is full' };
      const failed = await ok(act(exchange, secondWorker, measurement, 'fail', body));
      expect(failed.state).toBe('FAILED');
      expect(failed.participants[secondWorker.name].state).toBe('FAILED');
      const failure = {
        reason: 'COMPUTATION_PARTICIPANT_FAILED',
        message: `${secondWorker.name} gave up: the disk is full`,
      };
      expect((await get(exchange, world.acme, measurement.name)).failure).toEqual(failure);
      expect((await readComputation(exchange, aggregator, measurement)).failure).toEqual(failure);
      // The same again, but no other end.
      const again = await ok(act(exchange, secondWorker, measurement, 'fail', body));
      expect(again).toEqual(failed);
      for (const [duchy, message] of [
        [secondWorker, 'another reason'],
        [firstWorker, 'the disk is full'],
      ] as const) {
        expect(errorOf(await act(exchange, duchy, measurement, 'fail', { message }))).toBe(ILLEGAL);
      }
    }
  });
});

describe('confirm', () => {
  it('is not for share shuffle', async () => {
    const measurement = await create();
    const { firstWorker } = world.duchies;
    expect(errorOf(await act(exchange, firstWorker, measurement, 'confirm', {}))).toBe(ILLEGAL);
    expect(errorOf(await act(exchange, firstWorker, measurement, 'confirm', { etag: 'old' }))).toBe(NO_MATCH);
  });
});

describe('the timeline of a measurement', () => {
  it('tells what the duchies did, and what they report', async () => {
    const { firstWorker, secondWorker, aggregator } = world.duchies;
    const providers = [world.streamly, world.chirper];
    const measurement = await createComputing(exchange, world.duchies, world.acme, providers);
    const log = (duchy: typeof firstWorker, body: object) =>
      post(exchange, duchy as never, `${computationOf(duchy, measurement)}:log`, body);
    const report = { stage: 'SETUP_PHASE', attempt: 1, message: 'combining shares', progress: 0.5 };
    await ok(log(firstWorker, report));
    await ok(log(firstWorker, report));
    await ok(log(firstWorker, { ...report, progress: 1 }));
    await ok(log(secondWorker, { stage: 'SETUP_PHASE', attempt: 2, message: 'waiting' }));
    for (const progress of [-0.1, 1.1]) {
      expect(errorOf(await log(firstWorker, { ...report, progress }))).toBe(`${INVALID} progress`);
    }
    await ok(act(exchange, aggregator, measurement, 'setResult', resultOf(aggregator)));
    expect(errorOf(await log(firstWorker, report))).toBe(ILLEGAL);

    const { transitions, progress } = await get(exchange, world.acme, `${measurement.name}:timeline`);
    expect(progress).toEqual([
      { duchy: firstWorker.name, time: expect.stringMatching(TIMESTAMP), ...report },
      { duchy: firstWorker.name, time: expect.stringMatching(TIMESTAMP), ...report, progress: 1 },
      {
        duchy: secondWorker.name,
        time: expect.stringMatching(TIMESTAMP),
        ...{ stage: 'SETUP_PHASE', attempt: 2, message: 'waiting' },
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
    const measurement = await create();
    const { firstWorker } = world.duchies;
    const path = `${computationOf(firstWorker, measurement)}:log`;
    for (let attempt = 1; attempt <= 205; attempt++) {
      await ok(post(exchange, firstWorker as never, path, { stage: 's', attempt, message: 'again' }));
    }
    const { progress } = await get(exchange, world.acme, `${measurement.name}:timeline`);
    expect(progress.map(({ attempt }: Json) => attempt)).toEqual(
      Array.from({ length: 200 }, (_, i) => i + 6),
    );
  });
});

describe('a suspended duchy', () => {
  it('can do nothing, and its open computations stay', async () => {
    const measurement = await create();
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
