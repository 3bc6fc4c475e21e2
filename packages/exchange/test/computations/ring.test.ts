/**
 * Tests Liquid Legions computations: the choice of the protocol, the requests of duchies, revoked certificates, and the
 * data that other parties can read.
 */

import { create, toBinary } from '@bufbuild/protobuf';
import { specs } from '@measurement-exchange/contract';
import {
  act,
  all,
  ETAG_MISMATCH,
  ILLEGAL,
  INVALID,
  readComputation,
  reportFulfilled,
  resultOf,
} from '@measurement-exchange/testkit/computations';
import { measurementRequest, nonceHash, type Reply, UNLIMITED } from '@measurement-exchange/testkit/exchange';
import { asOperator } from '@measurement-exchange/testkit/operator';
import {
  RING,
  RING_WITH_FREQUENCIES,
  ringParametersOf,
  setAllKeys,
  useRing,
} from '@measurement-exchange/testkit/ring';
import {
  errorOf,
  fulfill,
  get,
  ok,
  post,
  requisitionOf,
  signed,
  stored,
} from '@measurement-exchange/testkit/steps';
import { describe, expect, it } from 'vitest';

type Json = Reply['json'];
const world = useRing({ rate: UNLIMITED });
const { exchange } = world;
const PENDING = ['COMPUTING', 'PENDING_CONFIRMATION'];

describe('a ring', () => {
  it('has workers and an aggregator, and a requisition shows their keys only once all of them are set', async () => {
    const measurement = await world.create(3);
    const { firstWorker, secondWorker, aggregator } = world.duchies;
    expect(measurement.protocolConfig).toEqual({ measurementType: 'REACH', reachOnlyLiquidLegionsV2: RING });
    const { role, state, participants } = await readComputation(exchange, firstWorker, measurement);
    expect([role, state]).toEqual(['WORKER', 'PENDING_PARAMS']);
    expect(participants).toEqual({
      [firstWorker.name]: { role: 'WORKER', state: 'CREATED' },
      [secondWorker.name]: { role: 'WORKER', state: 'CREATED' },
      [aggregator.name]: { role: 'AGGREGATOR', state: 'CREATED' },
    });
    const parameters = Object.fromEntries(all(world.duchies).map((d) => [d.name, ringParametersOf(d)]));
    for (const duchy of all(world.duchies)) {
      expect(await requisitionOf(exchange, world.streamly, measurement)).not.toHaveProperty('duchies');
      await ok(act(exchange, duchy, measurement, 'setParameters', parameters[duchy.name]!.body));
    }
    const requisition = await requisitionOf(exchange, world.streamly, measurement);
    expect(RING.workers).toContain(requisition.fulfillingDuchy);
    expect(requisition.duchies).toEqual(
      Object.fromEntries(
        Object.entries(parameters).map(([name, { certificate, keys }]) => [
          name,
          {
            duchyCertificate: certificate,
            reachOnlyLiquidLegionsV2: { elGamalPublicKey: keys.elGamalPublicKey },
          },
        ]),
      ),
    );
    const seen = await readComputation(exchange, aggregator, measurement);
    expect(seen.state).toBe('PENDING_FULFILLMENT');
    expect(seen.participants[secondWorker.name]).toEqual({
      role: 'WORKER',
      state: 'PARAMS_SET',
      certificate: secondWorker.certificate,
      parameters: { reachOnlyLiquidLegionsV2: parameters[secondWorker.name]!.keys },
    });
    expect(errorOf(await fulfill(exchange, world.streamly, requisition, 1n))).toBe(
      '400 FAILED_PRECONDITION PROTOCOL_NOT_DIRECT',
    );
  });

  it('is computed once all duchies have confirmed, and returns the result of the aggregator', async () => {
    const measurement = await world.createFulfilled();
    const { firstWorker, secondWorker, aggregator } = world.duchies;
    expect(await world.states(measurement)).toEqual(PENDING);
    const early = await act(exchange, aggregator, measurement, 'setResult', resultOf(aggregator));
    expect(errorOf(early)).toBe(ILLEGAL);
    for (const duchy of [aggregator, firstWorker]) {
      const confirmed = await ok(act(exchange, duchy, measurement, 'confirm', {}));
      expect(confirmed.participants[duchy.name].state).toBe('READY');
      expect(await world.states(measurement)).toEqual(PENDING);
    }
    await ok(act(exchange, secondWorker, measurement, 'confirm', {}));
    expect(await world.states(measurement)).toEqual(['COMPUTING', 'COMPUTING']);
    const result = resultOf(aggregator);
    await ok(act(exchange, aggregator, measurement, 'setResult', result));
    expect(await world.states(measurement)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
    const { results } = await get(exchange, world.acme, measurement.name);
    expect(results).toEqual([result]);
    const { transitions } = await get(exchange, world.acme, `${measurement.name}:timeline`);
    const told = transitions.map(({ cause, to }: Json) => `${cause} ${to}`);
    const times = (step: string) => told.filter((text: string) => text === step).length;
    expect(['keysSet PARAMS_SET', 'confirmed READY', 'allFulfilled COMPUTING'].map(times)).toEqual([3, 3, 1]);
  });

  it('computes frequencies with the protocol liquidLegionsV2', async () => {
    const params = { epsilon: 0.5, delta: 1e-9 };
    const message = toBinary(
      specs.MeasurementSpecSchema,
      create(specs.MeasurementSpecSchema, {
        serializedMeasurementPublicKey: Uint8Array.of(1),
        nonceHashes: [1n, 2n].map((nonce) => Buffer.from(nonceHash(nonce), 'base64')),
        vidSamplingInterval: { start: 0, width: 1 },
        measurementType: {
          case: 'reachAndFrequency',
          value: { reachPrivacyParams: params, frequencyPrivacyParams: params, maximumFrequency: 5 },
        },
      }),
    );
    const request = measurementRequest(world.acme, [world.streamly, world.chirper]);
    const measurement = await ok(
      post(exchange, world.acme, `${world.acme.name}/measurements`, {
        ...request,
        measurementSpec: signed(world.acme, message),
      }),
    );
    expect(measurement.protocolConfig).toEqual({
      measurementType: 'REACH_AND_FREQUENCY',
      liquidLegionsV2: RING_WITH_FREQUENCIES,
    });
    await setAllKeys(exchange, world.duchies, measurement, 'liquidLegionsV2');
    const { duchies } = await requisitionOf(exchange, world.streamly, measurement);
    expect(Object.keys(duchies).sort()).toEqual([...RING.workers, RING.aggregator].sort());
    for (const entry of Object.values<Json>(duchies))
      expect(entry.liquidLegionsV2.elGamalPublicKey).toBeDefined();
  });
});

describe('a consumer that asks for a protocol', () => {
  const measure = async (protocolConfig: object) => {
    const request = measurementRequest(world.acme, [world.streamly, world.chirper]);
    return post(exchange, world.acme, `${world.acme.name}/measurements`, { ...request, protocolConfig });
  };
  const findingsOf = async ({ name }: Json): Promise<string[]> => {
    const { transitions } = await get(exchange, world.acme, `${name}:timeline`);
    return transitions.flatMap(({ findings = [] }: Json) => findings.map((found: Json) => found.message));
  };

  it('gets that protocol, or the default protocol and a finding', async () => {
    const direct = await ok(measure({ direct: {} }));
    expect(direct.protocolConfig).toEqual({ measurementType: 'REACH', direct: {} });
    expect(await findingsOf(direct)).toEqual([expect.stringContaining('no multi-party protocol')]);
    const read = { measurementType: 'REACH', reachOnlyLiquidLegionsV2: RING };
    expect((await ok(measure(read))).protocolConfig).toEqual(read);
    const legions = await ok(measure({ liquidLegionsV2: {} }));
    expect(legions.protocolConfig).toEqual(read);
    expect(await findingsOf(legions)).toEqual(['liquidLegionsV2 is not used: it does not compute REACH.']);
    const shuffled = await ok(measure({ honestMajorityShareShuffle: { any: ['thing'] } }));
    expect(await findingsOf(shuffled)).toEqual([
      'honestMajorityShareShuffle is not used: it is not enabled on this exchange.',
    ]);
  });

  it('is rejected unless it names exactly one known protocol', async () => {
    expect(errorOf(await measure({}))).toBe(`${INVALID} protocolConfig`);
    expect(errorOf(await measure({ direct: {}, liquidLegionsV2: {} }))).toBe(`${INVALID} protocolConfig`);
    expect(errorOf(await measure({ quantum: {} }))).toBe(`${INVALID} protocolConfig.quantum`);
  });
});

describe('setParameters of a ring', () => {
  it('requires two valid keys, signed with the certificate that it names, and is idempotent', async () => {
    const measurement = await world.create(2);
    const { firstWorker, secondWorker } = world.duchies;
    const { body, keys } = ringParametersOf(firstWorker);
    const { keys: foreign } = ringParametersOf(secondWorker);
    const set = async (changes: object) =>
      errorOf(await act(exchange, firstWorker, measurement, 'setParameters', { ...body, ...changes }));
    const keyed = (changes: object) => set({ reachOnlyLiquidLegionsV2: { ...keys, ...changes } });
    const AT = 'reachOnlyLiquidLegionsV2';
    const REQUIRED = '400 INVALID_ARGUMENT REQUIRED_FIELD_NOT_SET';
    const before = await stored(exchange);
    expect(await keyed({ elGamalPublicKey: undefined })).toBe(`${REQUIRED} ${AT}.elGamalPublicKey`);
    expect(await keyed({ publicKey: undefined })).toBe(`${REQUIRED} ${AT}.publicKey`);
    expect(await set({ reachOnlyLiquidLegionsV2: undefined })).toBe(`${INVALID} ${AT}.publicKey`);
    expect(await keyed({ elGamalPublicKey: foreign.elGamalPublicKey })).toBe(
      `${INVALID} ${AT}.elGamalPublicKey.signature`,
    );
    expect(await keyed({ publicKey: foreign.publicKey })).toBe(`${INVALID} ${AT}.publicKey.signature`);
    expect(await keyed({ elGamalPublicKey: keys.publicKey })).toBe(
      `${INVALID} ${AT}.elGamalPublicKey.message`,
    );
    expect(await set({ liquidLegionsV2: keys })).toBe(`${INVALID} reachOnlyLiquidLegionsV2`);
    expect(await set({ reachOnlyLiquidLegionsV2: undefined, liquidLegionsV2: keys })).toBe(
      `${INVALID} liquidLegionsV2`,
    );
    expect(await stored(exchange)).toEqual(before);
    // Repeating the request succeeds, even with an outdated etag. Different parameters are rejected.
    await ok(act(exchange, firstWorker, measurement, 'setParameters', body));
    await ok(act(exchange, firstWorker, measurement, 'setParameters', { ...body, etag: 'old' }));
    expect(await set(ringParametersOf(firstWorker).body)).toBe(ILLEGAL);
  });
});

describe('confirm', () => {
  it('is accepted only after all data and with the current etag, and is idempotent', async () => {
    const { firstWorker, secondWorker } = world.duchies;
    const measurement = await world.create(2);
    const confirm = async (body: object = {}) =>
      errorOf(await act(exchange, firstWorker, measurement, 'confirm', body));
    expect(await confirm()).toBe(ILLEGAL);
    await setAllKeys(exchange, world.duchies, measurement);
    expect(await confirm()).toBe(ILLEGAL);
    await ok(reportFulfilled(exchange, world.duchies, measurement, 0));
    expect(await confirm()).toBe(ILLEGAL);
    await ok(reportFulfilled(exchange, world.duchies, measurement, 1));
    expect(await confirm({ etag: 'old' })).toBe(ETAG_MISMATCH);
    const { etag } = await readComputation(exchange, firstWorker, measurement);
    const first = await ok(act(exchange, firstWorker, measurement, 'confirm', { etag }));
    expect(first.etag).not.toBe(etag);
    const before = await stored(exchange);
    expect(await ok(act(exchange, firstWorker, measurement, 'confirm', { etag }))).toEqual(first);
    expect(await stored(exchange)).toEqual(before);
    // Repeating the confirmation succeeds even after the measurement has ended. A duchy that has not confirmed before
    // the end is rejected.
    await ok(post(exchange, world.acme, `${measurement.name}:cancel`));
    expect((await ok(act(exchange, firstWorker, measurement, 'confirm', { etag }))).state).toBe('CANCELLED');
    expect(errorOf(await act(exchange, secondWorker, measurement, 'confirm', {}))).toBe(ILLEGAL);
  });

  it('does not prevent another duchy from failing the computation', async () => {
    const { firstWorker, secondWorker } = world.duchies;
    const measurement = await world.createFulfilled();
    await ok(act(exchange, firstWorker, measurement, 'confirm', {}));
    const failed = await ok(act(exchange, secondWorker, measurement, 'fail', { code: 'PEER_KEY_INVALID' }));
    expect(failed.participants[secondWorker.name].state).toBe('FAILED');
    expect(await world.states(measurement)).toEqual(['FAILED', 'FAILED']);
  });

  it('writes nothing with validateOnly', async () => {
    const { firstWorker } = world.duchies;
    const measurement = await world.createFulfilled();
    const before = await stored(exchange);
    const { etag, name } = await readComputation(exchange, firstWorker, measurement);
    const validated = await ok(
      post(exchange, firstWorker as never, `${name}:confirm?validateOnly=true`, { etag }),
    );
    expect(validated.participants[firstWorker.name].state).toBe('READY');
    expect(await stored(exchange)).toEqual(before);
  });
});

describe('the revocation of a certificate', () => {
  it('of a duchy fails a computation that waits for confirmations', async () => {
    const { secondWorker } = world.duchies;
    const measurement = await world.createFulfilled();
    const held = { revocationState: 'HOLD' };
    await ok(asOperator(exchange, 'POST', `${secondWorker.certificate}:revoke`, held));
    await expect.poll(() => world.states(measurement)).toEqual(['FAILED', 'FAILED']);
    const { failure } = await get(exchange, world.acme, measurement.name);
    expect(failure.reason).toBe('CERTIFICATE_REVOKED');
    const release = () => asOperator(exchange, 'POST', `${secondWorker.certificate}:releaseHold`);
    await expect.poll(async () => (await release()).status).toBe(200);
  });

  it('prevents confirmations even before the measurement has failed', async () => {
    const { firstWorker, secondWorker } = world.duchies;
    const measurement = await world.createFulfilled();
    const { etag } = await readComputation(exchange, firstWorker, measurement);
    const hold = (state: string | null) =>
      exchange.database.query(
        `UPDATE certificates SET revocation_state = $2 WHERE party || '/certificates/' || id = $1`,
        [secondWorker.certificate, state],
      );
    await hold('HOLD');
    expect(errorOf(await act(exchange, firstWorker, measurement, 'confirm', { etag }))).toBe(
      '400 FAILED_PRECONDITION CERTIFICATE_IS_INVALID',
    );
    await hold(null);
    await ok(act(exchange, firstWorker, measurement, 'confirm', { etag }));
  });
});
