import { create, toBinary } from '@bufbuild/protobuf';
import { specs, TYPE_URLS } from '@measurement-exchange/contract';
import {
  type DevParty,
  exact,
  measurementRequest,
  nonceHash,
  reachSpec,
  toJson,
  useExchange,
} from '@measurement-exchange/testkit/exchange';
import {
  castOf,
  createMeasurement,
  errorOf,
  fulfill,
  get,
  ok,
  post,
  refuse,
  requisitionOf,
  signed,
  TIMESTAMP,
} from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';

let acme: DevParty;
let globex: DevParty;
let streamly: DevParty;
let chirper: DevParty;

const exchange = useExchange();
beforeAll(() => {
  ({ acme, globex, streamly, chirper } = castOf(exchange));
});

const send = (body: unknown) => post(exchange, acme, `${acme.name}/measurements`, body);
const cancel = (name: string, body?: unknown) => post(exchange, acme, `${name}:cancel`, body);

describe('creating a measurement', () => {
  it('returns exactly the documented fields, with the values that were sent', async () => {
    const request = {
      ...measurementRequest(acme, [streamly, chirper]),
      measurementReferenceId: 'campaign 7 / Ümläut',
    };
    const measurement = await ok(send(request));
    expect(measurement).toEqual({
      ...request,
      name: expect.stringMatching(/^measurementConsumers\/acme\/measurements\/[a-z][a-z0-9]{12,62}$/),
      state: 'AWAITING_REQUISITION_FULFILLMENT',
      protocolConfig: { measurementType: 'REACH', direct: {} },
      createTime: expect.stringMatching(TIMESTAMP),
      updateTime: measurement.createTime,
    });
    expect(Math.abs(Date.parse(measurement.createTime) - Date.now())).toBeLessThan(10_000);
    expect(await get(exchange, acme, measurement.name)).toEqual(measurement);
  });

  it('creates one UNFULFILLED requisition per data provider, and keeps the order of the map', async () => {
    const { name, createTime } = await createMeasurement(exchange, acme, [chirper, streamly]);
    const { requisitions } = await get(exchange, acme, `${name}/requisitions`);
    expect(requisitions.map((r: { dataProvider: string }) => r.dataProvider).toSorted()).toEqual([
      chirper.name,
      streamly.name,
    ]);
    for (const requisition of requisitions) {
      expect(requisition).toMatchObject({ state: 'UNFULFILLED', measurement: name, createTime });
    }
    expect(Object.keys((await get(exchange, acme, name)).dataProviders)).toEqual([
      chirper.name,
      streamly.name,
    ]);
  });

  it('accepts the wrapped request message, and fields in snake_case', async () => {
    const request = measurementRequest(acme, [streamly]);
    const { measurementConsumerCertificate, measurementSpec, dataProviders } = request;
    const wrapped = await ok(send({ measurement: request, parent: acme.name }));
    const snake = await ok(
      send({
        measurement_consumer_certificate: measurementConsumerCertificate,
        measurement_spec: measurementSpec,
        data_providers: dataProviders,
      }),
    );
    expect(wrapped).toMatchObject(request);
    expect(snake).toMatchObject(request);
    expect(snake.name).not.toBe(wrapped.name);
  });

  it('ignores output-only fields, so that a measurement as read can be created again', async () => {
    const first = await createMeasurement(exchange, acme, [streamly]);
    const again = await ok(send({ ...first, state: 'SUCCEEDED', results: [], failure: {} }));
    expect(again).toMatchObject({ state: 'AWAITING_REQUISITION_FULFILLMENT' });
    expect(again.name).not.toBe(first.name);
    expect(again).not.toHaveProperty('results');
    expect(again).not.toHaveProperty('failure');
  });

  it('names all invalid fields in one error', async () => {
    const { measurementSpec, dataProviders } = measurementRequest(acme, [streamly]);
    const bad = { measurementSpec: { ...measurementSpec, message: '***' }, dataProviders, typo: 1 };
    expect(errorOf(await send(bad))).toBe(
      '400 INVALID_ARGUMENT INVALID_FIELD_VALUE measurementSpec.message typo measurementConsumerCertificate',
    );
    expect(errorOf(await send({ measurementSpec, dataProviders }))).toBe(
      '400 INVALID_ARGUMENT REQUIRED_FIELD_NOT_SET measurementConsumerCertificate',
    );
    expect(errorOf(await send(undefined))).toBe(
      '400 INVALID_ARGUMENT REQUIRED_FIELD_NOT_SET measurementConsumerCertificate measurementSpec dataProviders',
    );
  });
});

describe('the content of a measurement', () => {
  it('is returned byte for byte to every reader, even after fulfillment and cancellation', async () => {
    const request = measurementRequest(acme, [streamly, chirper]);
    // Use a ciphertext and a signature that contain every byte value, in URL-safe base64 without padding.
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    const entry = request.dataProviders[streamly.name]!;
    entry.encryptedRequisitionSpec.ciphertext = bytes.toString('base64url');
    request.measurementSpec.signature = bytes.toString('base64url');
    const { name, ...created } = await ok(send(request));
    expect(created.dataProviders[streamly.name].encryptedRequisitionSpec.ciphertext).toBe(
      bytes.toString('base64'),
    );
    expect(created.measurementSpec.signature).toBe(bytes.toString('base64'));

    const immutable = ({ measurementSpec, dataProviders, createTime, ...rest }: typeof created) => ({
      measurementSpec,
      dataProviders,
      createTime,
      certificate: rest.measurementConsumerCertificate,
    });
    const requisition = await requisitionOf(exchange, streamly, { name });
    expect(requisition).toMatchObject({
      measurementSpec: created.measurementSpec,
      ...created.dataProviders[streamly.name],
      measurementConsumerCertificate: request.measurementConsumerCertificate,
    });
    await ok(fulfill(exchange, streamly, requisition, 1n));
    await ok(cancel(name));
    expect(immutable(await get(exchange, acme, name))).toEqual(immutable(created));
    expect(await get(exchange, streamly, requisition.name)).toMatchObject({
      measurementSpec: created.measurementSpec,
      ...created.dataProviders[streamly.name],
    });
  });

  it('keeps its public key format, and its signature algorithm by name, by OID, or omitted', async () => {
    for (const signatureAlgorithm of ['ECDSA_P384_SHA384', '1.2.840.113549.1.1.11', undefined]) {
      const request = measurementRequest(acme, [streamly]);
      const entry = request.dataProviders[streamly.name]!;
      Object.assign(entry.dataProviderPublicKey, { format: 'TINK_KEYSET' });
      const { message, signature } = request.measurementSpec;
      const measurementSpec = { message, signature, ...(signatureAlgorithm && { signatureAlgorithm }) };
      const { name } = await ok(send({ ...request, measurementSpec }));
      const read = await get(exchange, acme, name);
      expect(read.measurementSpec).toEqual(measurementSpec);
      expect(read.dataProviders).toEqual(request.dataProviders);
    }
    const request = measurementRequest(acme, [streamly]);
    request.measurementSpec.signatureAlgorithm = 'MD5';
    expect(errorOf(await send(request))).toBe(
      '400 INVALID_ARGUMENT INVALID_FIELD_VALUE measurementSpec.signatureAlgorithm',
    );
  });

  it('can have 64 hexadecimal digits as a nonceHash, which are returned as base64', async () => {
    const request = measurementRequest(acme, [streamly]);
    const entry = request.dataProviders[streamly.name]!;
    entry.nonceHash = Buffer.from(nonceHash(1n), 'base64').toString('hex');
    const created = await ok(send(request));
    expect(created.dataProviders[streamly.name].nonceHash).toBe(nonceHash(1n));
  });

  it('can disclose the nonce, which is returned exactly to both sides and must match its hash', async () => {
    const nonce = 2n ** 64n - 1n;
    const request = measurementRequest(acme, [streamly], [nonce]);
    const entry = request.dataProviders[streamly.name]!;
    const disclose = (value: unknown) =>
      send({
        ...request,
        dataProviders: {
          [streamly.name]: {
            ...entry,
            encryptedRequisitionSpec: { ...entry.encryptedRequisitionSpec, nonce: value },
          },
        },
      });
    const created = await disclose(nonce);
    const { name } = await ok(created);
    const disclosed = `"typeUrl":"${TYPE_URLS.RequisitionSpec}","nonce":18446744073709551615}`;
    expect(created.text).toContain(disclosed);
    expect((await exchange.call(acme.token, 'GET', `/v2alpha/${name}`)).text).toContain(disclosed);
    const requisition = await requisitionOf(exchange, streamly, { name });
    const { text } = await exchange.call(streamly.token, 'GET', `/v2alpha/${requisition.name}`);
    expect(exact(text)).toMatchObject({ encryptedRequisitionSpec: { nonce } });
    // The requisition's own field `nonce` is set only after the fulfillment.
    expect(JSON.parse(text)).not.toHaveProperty('nonce');

    expect(errorOf(await disclose(nonce - 1n))).toBe(
      `400 INVALID_ARGUMENT INVALID_FIELD_VALUE dataProviders[${streamly.name}].encryptedRequisitionSpec.nonce`,
    );
  });
});

describe('the measurement type', () => {
  const privacyParams = { epsilon: 0.5, delta: 1e-9 };
  const kinds = [
    ['REACH', 'reach', { privacyParams }],
    [
      'REACH_AND_FREQUENCY',
      'reachAndFrequency',
      { reachPrivacyParams: privacyParams, frequencyPrivacyParams: privacyParams, maximumFrequency: 10 },
    ],
    ['IMPRESSION', 'impression', { privacyParams, maximumFrequencyPerUser: 60 }],
    ['DURATION', 'duration', { privacyParams, maximumWatchDurationPerUser: '4000s' }],
    ['POPULATION', 'population', {}],
  ] as const;

  async function typeOf(message: Uint8Array) {
    const measurementSpec = signed(acme, message);
    const reply = await send({ ...measurementRequest(acme, [streamly]), measurementSpec });
    const created = await ok(reply);
    expect(created.measurementSpec).toEqual(measurementSpec);
    const requisition = await requisitionOf(exchange, streamly, created);
    expect(requisition.measurementSpec).toEqual(measurementSpec);
    expect(requisition.protocolConfig).toEqual(created.protocolConfig);
    return { config: created.protocolConfig, findings: reply.headers.get('x-mex-findings') };
  }

  it.each(kinds)('%s is read from protobuf', async (measurementType, kind, value) => {
    const inProto =
      kind === 'duration' ? { privacyParams, maximumWatchDurationPerUser: { seconds: 4000n } } : value;
    const base = reachSpec(acme.encryptionPublicKey, [1n]);
    const type = toBinary(
      specs.MeasurementSpecSchema,
      create(specs.MeasurementSpecSchema, { measurementType: { case: kind, value: inProto } as never }),
    );
    // In protobuf, the last member of a oneof wins, so this type replaces the reach in `base`.
    expect(await typeOf(Buffer.concat([base, type]))).toEqual({
      config: { measurementType, direct: {} },
      findings: null,
    });
  });

  it.each(kinds)('%s is read from JSON', async (measurementType, kind, value) => {
    const json = toJson({
      measurementPublicKey: acme.encryptionPublicKey,
      vidSamplingInterval: { start: 0, width: 1 },
      [kind]: value,
    });
    expect(await typeOf(Buffer.from(json))).toEqual({
      config: { measurementType, direct: {} },
      findings: null,
    });
  });

  it('is omitted if the spec cannot be decoded, and the spec is still returned unchanged', async () => {
    for (const message of ['not a spec', '{"reach":', '{}']) {
      expect(await typeOf(Buffer.from(message))).toEqual({ config: { direct: {} }, findings: '1' });
    }
  });

  it('with several providers has the protocol direct if no multi-party protocol is enabled', async () => {
    const { protocolConfig } = await createMeasurement(exchange, acme, [streamly, chirper]);
    expect(protocolConfig).toEqual({ measurementType: 'REACH', direct: {} });
  });
});

describe('reading a measurement', () => {
  it('returns results only when SUCCEEDED: one per requisition, unchanged, with its certificate', async () => {
    const { name } = await createMeasurement(exchange, acme, [streamly, chirper]);
    const results = [];
    for (const [i, provider] of [streamly, chirper].entries()) {
      expect(await get(exchange, acme, name)).not.toHaveProperty('results');
      const encryptedResult = {
        ciphertext: Buffer.from([i, 255, 0]).toString('base64'),
        typeUrl: TYPE_URLS.MeasurementResult,
      };
      const requisition = await requisitionOf(exchange, provider, { name });
      await ok(fulfill(exchange, provider, requisition, BigInt(i + 1), { encryptedResult }));
      results.push({ certificate: provider.certificate, encryptedResult });
    }
    const measurement = await get(exchange, acme, name);
    expect(measurement).toMatchObject({ state: 'SUCCEEDED', results });
    expect(measurement).not.toHaveProperty('failure');
  });

  it('returns a failure only when FAILED', async () => {
    const { name } = await createMeasurement(exchange, acme, [streamly, chirper]);
    expect(await get(exchange, acme, name)).not.toHaveProperty('failure');
    await ok(refuse(exchange, streamly, await requisitionOf(exchange, streamly, { name })));
    const measurement = await get(exchange, acme, name);
    expect(measurement).toMatchObject({ state: 'FAILED', failure: { reason: 'REQUISITION_REFUSED' } });
    expect(Object.keys(measurement.failure)).toEqual(['reason', 'message']);
    expect(measurement).not.toHaveProperty('results');
  });

  it('returns NOT_FOUND for a missing measurement, even if its ID exists under another consumer', async () => {
    const { name } = await ok(
      post(exchange, globex, `${globex.name}/measurements`, measurementRequest(globex, [streamly])),
    );
    const id = name.split('/').at(-1);
    for (const absent of [`${acme.name}/measurements/absent`, `${acme.name}/measurements/${id}`]) {
      for (const reply of [
        await exchange.call(acme.token, 'GET', `/v2alpha/${absent}`),
        await exchange.call(acme.token, 'GET', `/v2alpha/${absent}:timeline`),
        await exchange.call(acme.token, 'GET', `/v2alpha/${absent}/requisitions`),
        await cancel(absent),
      ]) {
        expect(errorOf(reply)).toBe('404 NOT_FOUND MEASUREMENT_NOT_FOUND');
      }
    }
  });
});

describe('updateTime', () => {
  it('changes with the last fulfillment, but not with an earlier one', async () => {
    const { name, createTime, updateTime } = await createMeasurement(exchange, acme, [streamly, chirper]);
    const [first, last] = [
      await requisitionOf(exchange, streamly, { name }),
      await requisitionOf(exchange, chirper, { name }),
    ];
    const fulfilled = await ok(fulfill(exchange, streamly, first, 1n));
    expect(fulfilled.updateTime > first.updateTime).toBe(true);
    expect(fulfilled.createTime).toBe(first.createTime);
    expect(await get(exchange, acme, name)).toMatchObject({ createTime, updateTime });
    expect(await get(exchange, chirper, last.name)).toEqual(last);

    await ok(fulfill(exchange, chirper, last, 2n));
    const succeeded = await get(exchange, acme, name);
    expect(succeeded.createTime).toBe(createTime);
    expect(succeeded.updateTime > updateTime).toBe(true);
    // The first requisition shows the new state of the measurement, but keeps its own etag and update time.
    expect(await get(exchange, streamly, first.name)).toEqual({
      ...fulfilled,
      measurementState: 'SUCCEEDED',
    });
  });
});

describe('cancelling', () => {
  it.each([
    ['no body', undefined],
    ['{}', {}],
    ['an empty body with a JSON content type', ''],
  ])('accepts %s, and returns the measurement', async (_title, body) => {
    const created = await createMeasurement(exchange, acme, [streamly, chirper]);
    const cancelled = await ok(cancel(created.name, body));
    const { updateTime } = cancelled;
    expect(cancelled).toEqual({ ...created, state: 'CANCELLED', updateTime });
    expect(updateTime > created.updateTime).toBe(true);
    expect(await get(exchange, acme, created.name)).toEqual(cancelled);
  });

  it('accepts a name that matches the path, and rejects other fields', async () => {
    const { name } = await createMeasurement(exchange, acme, [streamly]);
    expect(errorOf(await cancel(name, { name: `${name}x` }))).toBe(
      '400 INVALID_ARGUMENT INVALID_FIELD_VALUE name',
    );
    expect(errorOf(await cancel(name, { reason: 'x' }))).toBe(
      '400 INVALID_ARGUMENT INVALID_FIELD_VALUE reason',
    );
    expect(await ok(cancel(name, { name }))).toMatchObject({ state: 'CANCELLED' });
  });

  it('withdraws open requisitions, and leaves fulfilled ones unchanged', async () => {
    const { name } = await createMeasurement(exchange, acme, [streamly, chirper]);
    await ok(fulfill(exchange, streamly, await requisitionOf(exchange, streamly, { name }), 1n));
    const open = await requisitionOf(exchange, chirper, { name });
    await ok(cancel(name));
    expect(await requisitionOf(exchange, streamly, { name })).toMatchObject({
      state: 'FULFILLED',
      measurementState: 'CANCELLED',
    });
    const withdrawn = await requisitionOf(exchange, chirper, { name });
    expect(withdrawn).toMatchObject({ state: 'WITHDRAWN', measurementState: 'CANCELLED' });
    expect(withdrawn.etag).not.toBe(open.etag);
  });

  it.each(['SUCCEEDED', 'FAILED', 'CANCELLED'])('a %s measurement is FAILED_PRECONDITION', async (state) => {
    const { name } = await createMeasurement(exchange, acme, [streamly]);
    const requisition = await requisitionOf(exchange, streamly, { name });
    if (state === 'SUCCEEDED') await ok(fulfill(exchange, streamly, requisition, 1n));
    else if (state === 'FAILED') await ok(refuse(exchange, streamly, requisition));
    else await ok(cancel(name));
    const before = await get(exchange, acme, name);
    expect(before.state).toBe(state);
    expect(errorOf(await cancel(name))).toBe('400 FAILED_PRECONDITION MEASUREMENT_STATE_ILLEGAL');
    expect(await get(exchange, acme, name)).toEqual(before);
  });
});
