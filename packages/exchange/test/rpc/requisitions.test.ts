import { create } from '@bufbuild/protobuf';
import { anyUnpack } from '@bufbuild/protobuf/wkt';
import { MAX_UINT64, specs, TYPE_URLS } from '@measurement-exchange/contract';
import {
  FulfillDirectRequisitionRequestSchema,
  Requisition_Refusal_Justification as Justification,
  Measurements,
  Requisitions,
  Requisition_State as State,
} from '@measurement-exchange/contract/rpc';
import { type DevParty, measurementRequest, useExchange } from '@measurement-exchange/testkit/exchange';
import { clientOf, createMeasurementRequest, failureOf, keyOf } from '@measurement-exchange/testkit/rpc';
import {
  castOf,
  createMeasurement,
  fulfill,
  get,
  ok,
  post,
  requisitionOf,
  signed,
} from '@measurement-exchange/testkit/steps';
import { expect, it } from 'vitest';

const exchange = useExchange();

const measurementsOf = ({ token }: DevParty) => clientOf(exchange.dev, Measurements, { token });
const requisitionsOf = ({ token }: DevParty) => clientOf(exchange.dev, Requisitions, { token });

/** Creates a measurement of Acme. Returns the measurement, and its requisition as the provider lists it. */
async function begin(provider: DevParty, nonce = 1n) {
  const { acme } = castOf(exchange);
  const measurement = await measurementsOf(acme).createMeasurement(
    createMeasurementRequest(acme, [provider], [nonce]),
  );
  const { requisitions } = await requisitionsOf(provider).listRequisitions({
    parent: provider.name,
    pageSize: 500,
  });
  const requisition = requisitions.find((one) => one.measurement === measurement.name)!;
  return { measurement, requisition };
}

const encryptedResult = { ciphertext: Uint8Array.of(1, 2, 3), typeUrl: TYPE_URLS.SignedMessage };

it('a listed requisition has the spec, certificates, public key and protocol that its provider needs', async () => {
  const { acme, streamly } = castOf(exchange);
  const { measurement, requisition } = await begin(streamly);
  const sent = measurement.dataProviders[0]!.value!;
  expect(requisition).toMatchObject({
    measurementSpec: measurement.measurementSpec,
    measurementConsumerCertificate: acme.certificate,
    dataProviderCertificate: streamly.certificate,
    encryptedRequisitionSpec: sent.encryptedRequisitionSpec,
    state: State.UNFULFILLED,
    measurementState: specs.Measurement_State.AWAITING_REQUISITION_FULFILLMENT,
    nonce: 0n,
    duchies: [],
    updateTime: measurement.updateTime,
  });
  expect(anyUnpack(requisition.dataProviderPublicKey!, specs.EncryptionPublicKeySchema)).toEqual(
    keyOf(streamly),
  );
  const { CONTINUOUS_GAUSSIAN, NONE } = specs.ProtocolConfig_NoiseMechanism;
  const { protocol } = requisition.protocolConfig!.protocols[0]!;
  const direct = protocol.value as specs.ProtocolConfig_Direct;
  expect(direct.noiseMechanisms).toContain(CONTINUOUS_GAUSSIAN);
  expect(direct.noiseMechanisms).not.toContain(NONE);
  expect(direct).toMatchObject({ deterministicCountDistinct: {}, liquidLegionsCountDistinct: {} });
  expect(direct.deterministicSum).toBeUndefined();
});

it('a requisition is listed and read under both parents, always with its canonical name', async () => {
  const { acme, streamly } = castOf(exchange);
  const { measurement, requisition } = await begin(streamly);
  expect(requisition.name).toMatch(/^dataProviders\/streamly\/requisitions\/[a-z0-9]+$/);
  expect(await requisitionsOf(streamly).getRequisition({ name: requisition.name })).toEqual(requisition);
  const ofConsumer = requisitionsOf(acme);
  const listed = await ofConsumer.listRequisitions({ parent: measurement.name });
  expect(listed.requisitions).toEqual([requisition]);
  const name = `${measurement.name}/requisitions/${requisition.name.split('/').at(-1)}`;
  expect(await ofConsumer.getRequisition({ name })).toEqual(requisition);
  expect(await failureOf(ofConsumer.listRequisitions({ parent: streamly.name }))).toBe(
    'permission_denied PERMISSION_DENIED',
  );
  expect(await failureOf(ofConsumer.getRequisition({ name: 'requisitions/x' }))).toBe(
    'invalid_argument MALFORMED_NAME name',
  );
});

it('a list of requisitions has pages of 10 by default, and filters by states and measurementStates', async () => {
  const { acme, chirper } = castOf(exchange);
  const client = requisitionsOf(chirper);
  const names = new Set<string>();
  for (let i = 0; i < 11; i++) names.add((await createMeasurement(exchange, acme, [chirper])).name);
  const first = await client.listRequisitions({ parent: chirper.name });
  expect(first.requisitions).toHaveLength(10);
  const second = await client.listRequisitions({ parent: chirper.name, pageToken: first.nextPageToken });
  const both = [...first.requisitions, ...second.requisitions].map(({ measurement }) => measurement);
  expect(new Set(both)).toEqual(names);
  const filtered = (filter: object) => client.listRequisitions({ parent: chirper.name, filter });
  expect((await filtered({ states: [State.REFUSED] })).requisitions).toEqual([]);
  expect((await filtered({ measurementStates: [specs.Measurement_State.FAILED] })).requisitions).toEqual([]);
  const { AWAITING_REQUISITION_FULFILLMENT: awaiting } = specs.Measurement_State;
  expect((await filtered({ measurementStates: [awaiting] })).requisitions).toHaveLength(10);
  expect(await failureOf(filtered({ states: [99] }))).toBe(
    'invalid_argument INVALID_FIELD_VALUE filter.states[0]',
  );
});

it('a provider can fulfill without an etag, and the consumer can read the result over gRPC and REST', async () => {
  const { acme, streamly } = castOf(exchange);
  const { measurement, requisition } = await begin(streamly, 5n);
  const request = { name: requisition.name, encryptedResult, nonce: 5n, certificate: streamly.certificate };
  expect(await requisitionsOf(streamly).fulfillDirectRequisition(request)).toMatchObject({
    state: State.FULFILLED,
  });
  expect(await measurementsOf(acme).getMeasurement({ name: measurement.name })).toMatchObject({
    state: specs.Measurement_State.SUCCEEDED,
    results: [{ certificate: streamly.certificate, encryptedResult }],
  });
  const { results } = await get(exchange, acme, measurement.name);
  expect(results[0].encryptedResult).toEqual({ ciphertext: 'AQID', typeUrl: TYPE_URLS.MeasurementResult });
  expect(await failureOf(requisitionsOf(streamly).fulfillDirectRequisition(request))).toBe(
    'failed_precondition REQUISITION_STATE_ILLEGAL',
  );
});

it('a stale etag is rejected, and REST requires an etag', async () => {
  const { streamly } = castOf(exchange);
  const { requisition } = await begin(streamly);
  const request = { name: requisition.name, encryptedResult, nonce: 1n, certificate: streamly.certificate };
  const client = requisitionsOf(streamly);
  expect(await failureOf(client.fulfillDirectRequisition({ ...request, etag: 'stale' }))).toBe(
    'aborted REQUISITION_ETAG_MISMATCH',
  );
  for (const etag of ['', undefined]) {
    const { status } = await fulfill(exchange, streamly, requisition, 1n, { etag });
    expect(status).toBe(400);
  }
  expect(await client.fulfillDirectRequisition({ ...request, etag: requisition.etag })).toMatchObject({
    state: State.FULFILLED,
  });
});

it('a result can be in the older field, and its certificate defaults to that of the requisition', async () => {
  const { acme, streamly } = castOf(exchange);
  const { measurement, requisition } = await begin(streamly);
  const encryptedResultCiphertext = Uint8Array.of(9, 8, 7);
  await requisitionsOf(streamly).fulfillDirectRequisition({
    name: requisition.name,
    encryptedResultCiphertext,
    nonce: 1n,
  });
  expect(await measurementsOf(acme).getMeasurement({ name: measurement.name })).toMatchObject({
    results: [
      {
        certificate: streamly.certificate,
        encryptedResult: { ciphertext: encryptedResultCiphertext, typeUrl: TYPE_URLS.SignedMessage },
      },
    ],
  });
});

it.each([0n, 1n, 2n ** 53n - 1n, 2n ** 53n + 1n, 2n ** 63n, MAX_UINT64])(
  'a nonce of %i is stored and compared exactly',
  async (nonce) => {
    const { streamly } = castOf(exchange);
    const { requisition } = await begin(streamly, nonce);
    const client = requisitionsOf(streamly);
    const request = { name: requisition.name, encryptedResult, certificate: streamly.certificate };
    const other = nonce === 0n ? 1n : nonce - 1n;
    expect(await failureOf(client.fulfillDirectRequisition({ ...request, nonce: other }))).toBe(
      'invalid_argument NONCE_MISMATCH nonce',
    );
    await client.fulfillDirectRequisition(
      create(FulfillDirectRequisitionRequestSchema, { ...request, nonce }),
    );
    expect((await client.getRequisition({ name: requisition.name })).nonce).toBe(nonce);
  },
);

it('a refusal fails the measurement', async () => {
  const { acme, streamly } = castOf(exchange);
  const { measurement, requisition } = await begin(streamly);
  const refusal = { justification: Justification.SPEC_INVALID, message: 'no such event group' };
  const client = requisitionsOf(streamly);
  expect(await failureOf(client.refuseRequisition({ name: requisition.name }))).toBe(
    'invalid_argument REQUIRED_FIELD_NOT_SET refusal',
  );
  const refused = await client.refuseRequisition({ name: requisition.name, refusal });
  expect(refused).toMatchObject({ state: State.REFUSED, refusal });
  expect(refused.etag).not.toBe(requisition.etag);
  expect(await measurementsOf(acme).getMeasurement({ name: measurement.name })).toMatchObject({
    state: specs.Measurement_State.FAILED,
    failure: { reason: specs.Measurement_Failure_Reason.REQUISITION_REFUSED },
  });
});

it('a measurement that was created over REST is fulfilled by one provider over gRPC and one over REST', async () => {
  const { acme, streamly, dailynews } = castOf(exchange);
  const created = await createMeasurement(exchange, acme, [streamly, dailynews], [3n, 4n]);
  const mine = await requisitionOf(exchange, streamly, created);
  await requisitionsOf(streamly).fulfillDirectRequisition({
    name: mine.name,
    encryptedResult,
    nonce: 3n,
    certificate: streamly.certificate,
    etag: mine.etag,
  });
  await ok(fulfill(exchange, dailynews, await requisitionOf(exchange, dailynews, created), 4n));
  const read = await measurementsOf(acme).getMeasurement({ name: created.name });
  expect(read).toMatchObject({ state: specs.Measurement_State.SUCCEEDED });
  expect(read.results.map(({ certificate }) => certificate).sort()).toEqual(
    [dailynews.certificate, streamly.certificate].sort(),
  );
});

it('a measurement that was created over gRPC is fulfilled over REST', async () => {
  const { acme, streamly } = castOf(exchange);
  const { measurement, requisition } = await begin(streamly, 6n);
  const read = await get(exchange, streamly, requisition.name);
  await ok(fulfill(exchange, streamly, read, 6n));
  expect(await measurementsOf(acme).getMeasurement({ name: measurement.name })).toMatchObject({
    state: specs.Measurement_State.SUCCEEDED,
    results: [{ certificate: streamly.certificate }],
  });
});

it('a measurement with a JSON spec cannot be read, is not listed, and can be cancelled or refused', async () => {
  const { acme, dailynews } = castOf(exchange);
  const spec = signed(acme, Buffer.from('{"reach": {"privacyParams": {"epsilon": 1, "delta": 0.1}}}'));
  const json = async () => {
    const body = { ...measurementRequest(acme, [dailynews]), measurementSpec: spec };
    const measurement = await ok(post(exchange, acme, `${acme.name}/measurements`, body));
    return { measurement, requisition: await requisitionOf(exchange, dailynews, measurement) };
  };
  const { measurement, requisition } = await json();
  const consumer = measurementsOf(acme);
  const provider = requisitionsOf(dailynews);
  const unreadable = 'failed_precondition SPEC_NOT_PROTOBUF';
  expect(await failureOf(consumer.getMeasurement({ name: measurement.name }))).toBe(unreadable);
  expect(await failureOf(provider.getRequisition({ name: requisition.name }))).toBe(unreadable);
  const { measurements } = await consumer.listMeasurements({ parent: acme.name, pageSize: 1000 });
  expect(measurements.map(({ name }) => name)).not.toContain(measurement.name);
  const { requisitions } = await provider.listRequisitions({ parent: dailynews.name, pageSize: 500 });
  expect(requisitions.map(({ name }) => name)).not.toContain(requisition.name);
  expect(await consumer.cancelMeasurement({ name: measurement.name })).toMatchObject({
    state: specs.Measurement_State.CANCELLED,
  });
  const other = await json();
  const refusal = { justification: Justification.DECLINED, message: '' };
  expect(await provider.refuseRequisition({ name: other.requisition.name, refusal })).toMatchObject({
    state: State.REFUSED,
  });
  const request = createMeasurementRequest(acme, [dailynews]);
  request.measurement!.measurementSpec!.message!.value = Buffer.from('{}');
  expect(await failureOf(consumer.createMeasurement(request))).toBe(
    'invalid_argument INVALID_FIELD_VALUE measurement.measurement_spec.message',
  );
});
