import { anyUnpack } from '@bufbuild/protobuf/wkt';
import { specs, TYPE_URLS } from '@measurement-exchange/contract';
import {
  Health,
  Measurements,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '@measurement-exchange/contract/rpc';
import { useExchange } from '@measurement-exchange/testkit/exchange';
import {
  clientOf,
  createMeasurementRequest,
  failureOf,
  keyOf,
  stockClient,
} from '@measurement-exchange/testkit/rpc';
import { castOf, get } from '@measurement-exchange/testkit/steps';
import { describe, expect, it } from 'vitest';

const exchange = useExchange();

describe.each(['grpc', 'grpc-web', 'connect'] as const)('by %s, a consumer', (protocol) => {
  it('creates, gets, lists and cancels a measurement', async () => {
    const { acme, streamly, chirper } = castOf(exchange);
    const client = clientOf(exchange.dev, Measurements, { token: acme.token, protocol });
    const request = createMeasurementRequest(acme, [streamly, chirper]);
    const created = await client.createMeasurement(request);
    expect(created.name).toMatch(/^measurementConsumers\/acme\/measurements\/[a-z0-9]+$/);
    expect(created.state).toBe(specs.Measurement_State.AWAITING_REQUISITION_FULFILLMENT);
    expect(created.measurementSpec!.message).toEqual(request.measurement!.measurementSpec!.message);
    expect(created.measurementSpec!.data).toEqual(created.measurementSpec!.message!.value);
    const entry = created.dataProviders.find(({ key }) => key === streamly.name)!.value!;
    expect(entry).toEqual(request.measurement!.dataProviders[0]!.value);
    expect(anyUnpack(entry.dataProviderPublicKey!, specs.EncryptionPublicKeySchema)).toEqual(keyOf(streamly));
    expect(created.protocolConfig).toMatchObject({
      measurementType: specs.ProtocolConfig_MeasurementType.REACH,
      protocols: [{ protocol: { case: 'direct' } }],
    });

    expect(await client.getMeasurement({ name: created.name })).toEqual(created);
    expect(await client.batchGetMeasurements({ parent: acme.name, names: [created.name] })).toMatchObject({
      measurements: [created],
    });
    const listed = await client.listMeasurements({ parent: acme.name, pageSize: 1000 });
    expect(listed.measurements).toContainEqual(created);
    const none = await client.listMeasurements({
      parent: acme.name,
      filter: { states: [specs.Measurement_State.FAILED] },
    });
    expect(none).toMatchObject({ measurements: [], nextPageToken: '' });

    const cancelled = await client.cancelMeasurement({ name: created.name });
    expect(cancelled.state).toBe(specs.Measurement_State.CANCELLED);
    expect(await failureOf(client.cancelMeasurement({ name: created.name }))).toBe(
      'failed_precondition MEASUREMENT_STATE_ILLEGAL',
    );
  });
});

it('a grpc-js client creates, gets, lists and cancels a measurement, and receives error messages', async () => {
  const { acme, streamly } = castOf(exchange);
  const stock = stockClient(exchange.dev, { token: acme.token });
  const { getMeasurement, createMeasurement, listMeasurements, cancelMeasurement } = Measurements.method;
  const created = await stock.call(createMeasurement, createMeasurementRequest(acme, [streamly]));
  expect(await stock.call(getMeasurement, { name: created.name })).toEqual(created);
  const listed = await stock.call(listMeasurements, { parent: acme.name, pageSize: 1000 });
  expect(listed.measurements).toContainEqual(created);
  expect(await stock.call(cancelMeasurement, { name: created.name })).toMatchObject({
    state: specs.Measurement_State.CANCELLED,
  });
  const missing = `${acme.name}/measurements/none`;
  await expect(stock.call(getMeasurement, { name: missing })).rejects.toMatchObject({
    code: 5,
    details: expect.stringContaining(missing),
  });
  stock.close();
});

it('a batch creates one measurement per request ID, or none if a request is invalid or there are 51', async () => {
  const { acme, streamly } = castOf(exchange);
  const client = clientOf(exchange.dev, Measurements, { token: acme.token });
  const requestsOf = (...ids: string[]) =>
    ids.map((requestId) => ({ ...createMeasurementRequest(acme, [streamly]), requestId }));
  const [one, two, three] = requestsOf('batch-1', 'batch-2', 'batch-3');
  const create = async (...requests: typeof all) =>
    (await client.batchCreateMeasurements({ parent: acme.name, requests })).measurements;
  const all = [one!, two!];
  const created = await create(...all);
  expect(created.map(({ dataProviders }) => dataProviders[0]!.value)).toEqual(
    all.map(({ measurement }) => measurement!.dataProviders[0]!.value),
  );
  const again = await create(two!, three!);
  expect(again[0]).toEqual(created[1]);
  expect(await client.createMeasurement(three!)).toEqual(again[1]);

  const names = async () =>
    (await client.listMeasurements({ parent: acme.name, pageSize: 1000 })).measurements.length;
  const before = await names();
  const [good, bad] = requestsOf('batch-4', 'batch-5');
  bad!.measurement!.dataProviders[0]!.value!.nonceHash = new Uint8Array(31);
  expect(await failureOf(create(good!, bad!))).toBe(
    'invalid_argument INVALID_FIELD_VALUE ' +
      `requests[1].measurement.data_providers[${streamly.name}].value.nonce_hash`,
  );
  expect(await failureOf(create(...requestsOf(...Array.from({ length: 51 }, (_, i) => `many-${i}`))))).toBe(
    'invalid_argument INVALID_FIELD_VALUE requests',
  );
  expect(await names()).toBe(before);
});

it('REST returns typeUrl and signatureAlgorithm of a measurement that was created over gRPC', async () => {
  const { acme, streamly } = castOf(exchange);
  const client = clientOf(exchange.dev, Measurements, { token: acme.token });
  const { name } = await client.createMeasurement(createMeasurementRequest(acme, [streamly]));
  const read = await get(exchange, acme, name);
  expect(read.dataProviders[streamly.name].encryptedRequisitionSpec.typeUrl).toBe(TYPE_URLS.RequisitionSpec);
  expect(read.measurementSpec.signatureAlgorithm).toBe('1.2.840.10045.4.3.2');
});

it('an invalid request is rejected with the names of its protobuf fields', async () => {
  const { acme, streamly } = castOf(exchange);
  const client = clientOf(exchange.dev, Measurements, { token: acme.token });
  const request = createMeasurementRequest(acme, [streamly]);
  const { measurement } = request;
  measurement!.measurementSpec!.signatureAlgorithmOid = '1.2.3';
  measurement!.measurementConsumerCertificate = '';
  measurement!.dataProviders[0]!.value!.nonceHash = new Uint8Array(31);
  expect(await failureOf(client.createMeasurement(request))).toBe(
    'invalid_argument INVALID_FIELD_VALUE measurement.measurement_spec.signature_algorithm_oid ' +
      `measurement.data_providers[${streamly.name}].value.nonce_hash measurement.measurement_consumer_certificate`,
  );
  expect(await failureOf(client.getMeasurement({ name: 'measurements/x' }))).toBe(
    'invalid_argument MALFORMED_NAME name',
  );
  expect(await failureOf(client.listMeasurements({ parent: acme.name, pageToken: 'x' }))).toBe(
    'invalid_argument INVALID_PAGE_TOKEN page_token',
  );
});

it('a caller needs valid credentials, and permission for the measurement', async () => {
  const { acme, globex, streamly } = castOf(exchange);
  const name = `${acme.name}/measurements/x`;
  const by = (token?: string) =>
    failureOf(clientOf(exchange.dev, Measurements, { token }).getMeasurement({ name }));
  expect(await by()).toBe('unauthenticated TOKEN_INVALID');
  expect(await by('x.y.z')).toBe('unauthenticated TOKEN_INVALID');
  expect(await by(globex.token)).toBe('permission_denied PERMISSION_DENIED');
  expect(await by(streamly.token)).toBe('permission_denied PERMISSION_DENIED');
  expect(await by(acme.token)).toBe('not_found MEASUREMENT_NOT_FOUND');
});

it('the exchange logs a line for each RPC', async () => {
  const { acme } = castOf(exchange);
  const name = `${acme.name}/measurements/logged`;
  await failureOf(clientOf(exchange.dev, Measurements, { token: acme.token }).getMeasurement({ name }));
  const lines = (await exchange.logs()).map((text) => JSON.parse(text));
  expect(lines.find((line) => line.name === name)).toMatchObject({
    rpc: 'wfa.measurement.api.v2alpha.Measurements/GetMeasurement',
    operation: 'getMeasurement',
    principal: acme.name,
    code: 'NOT_FOUND',
    reason: 'MEASUREMENT_NOT_FOUND',
  });
});

it('the health service requires no credentials', async () => {
  const health = clientOf(exchange.dev, Health);
  const serving = { status: ServingStatus.SERVING };
  expect(await health.check({})).toMatchObject(serving);
  expect(await health.check({ service: Measurements.typeName })).toMatchObject(serving);
  expect(await failureOf(health.check({ service: 'nothing' }))).toBe('not_found');
});
