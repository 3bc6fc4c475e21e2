/** Tests that REST and gRPC show the same data: every resource is equal field by field. */
import { specs, TYPE_URLS } from '@measurement-exchange/contract';
import * as rpc from '@measurement-exchange/contract/rpc';
import { type DevParty, UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import { completeSet, leanSet } from '@measurement-exchange/testkit/metadataSets';
import { asOperator } from '@measurement-exchange/testkit/operator';
import { clientOf } from '@measurement-exchange/testkit/rpc';
import {
  addCertificate,
  castOf,
  createMeasurement,
  fulfill,
  ok,
  post,
  refuse,
  requisitionOf,
} from '@measurement-exchange/testkit/steps';
import { expect, it } from 'vitest';
import * as faces from './faces.ts';
import {
  byRest,
  expectEqual,
  inOneForm,
  type Json,
  measurementOf,
  ONLY_OF_REQUISITIONS,
  plain,
  printed,
} from './faces.ts';

const exchange = useExchange({ rate: UNLIMITED });

/** Returns a generator that draws the same numbers for the same seed, so that a failed test can be repeated. */
function randomOf(seed: number) {
  let state = seed + 1;
  const below = (n: number) => {
    state = (state * 48271) % 2147483647;
    return state % n;
  };
  return { below, maybe: <T>(value: T): T | undefined => (below(2) === 0 ? undefined : value) };
}

function randomEventGroup(acme: DevParty, { below, maybe }: ReturnType<typeof randomOf>): Json {
  const text = () => ['a', 'Ω', 'a longer text', '𝄞'][below(4)]!;
  const time = (day: number) => `2026-01-${String(day).padStart(2, '0')}T00:00:00.00000${below(10)}Z`;
  const brands = { brandName: maybe(text()), campaignName: maybe(text()) };
  return {
    measurementConsumer: acme.name,
    eventGroupReferenceId: maybe(text()),
    mediaTypes: maybe(['VIDEO', 'DISPLAY', 'OTHER', 'NATIVE'].slice(below(4))),
    dataAvailabilityInterval: maybe({ startTime: time(1 + below(9)), endTime: maybe(time(10 + below(20))) }),
    attributes: maybe([{ name: 'age', type: 'INT' }]),
    eventTemplates: maybe([{ type: text() }, { type: 'b' }]),
    vidModelLines: maybe([text()]),
    entityKey: maybe({ entityType: 'creative', entityId: maybe(text()) }),
    eventGroupMetadata: maybe({
      adMetadata: { campaignMetadata: brands },
      entityMetadata: maybe({ a: [1.5, below(9), null, true, text()], b: { c: text() } }),
    }),
    ...maybe({
      encryptedMetadata: {
        ciphertext: Buffer.from([below(256), 255]).toString('base64'),
        typeUrl: ['x/y', TYPE_URLS.EventGroupMetadata][below(2)],
      },
      measurementConsumerPublicKey: {
        '@type': TYPE_URLS.EncryptionPublicKey,
        data: acme.encryptionPublicKey,
        format: 'TINK_KEYSET',
      },
    }),
  };
}

it.each(Array.from({ length: 12 }, (_, seed) => seed))(
  'event groups are equal over REST and gRPC (seed %i)',
  async (seed) => {
    const { acme, streamly } = castOf(exchange);
    const body = randomEventGroup(acme, randomOf(seed * 7919));
    const { name } = await ok(post(exchange, streamly, `${streamly.name}/eventGroups`, body));
    const only = {
      rest: ['dataProvider', 'attributes', 'createTime', 'updateTime'],
      grpc: ['serializedEncryptedMetadata'],
    };
    for (const isDeleted of [false, true]) {
      if (isDeleted) await ok(exchange.call(streamly.token, 'DELETE', `/v2alpha/${name}`));
      for (const { token } of [streamly, acme]) {
        const read = await clientOf(exchange.dev, rpc.EventGroups, { token }).getEventGroup({ name });
        expectEqual(await byRest(exchange, streamly, name), printed(rpc.EventGroupSchema, read), only);
      }
      // Compare the consumer's view, too, which differs only in the name.
      const own = `${acme.name}/eventGroups/${name.split('/').at(-1)}`;
      expect({ ...(await byRest(exchange, acme, own)), name }).toEqual(
        await byRest(exchange, streamly, name),
      );
    }
  },
);

it('measurements and requisitions are equal over REST and gRPC in every state, with 64-bit nonces', async () => {
  const { acme, streamly, chirper } = castOf(exchange);
  const nonces = [0n, 1n, 2n ** 53n - 1n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n];
  const measurements: string[] = [];
  for (const [i, nonce] of nonces.entries()) {
    const { name } = await createMeasurement(exchange, acme, [streamly, chirper], [nonce, 5n]);
    measurements.push(name);
    if (i === 0) continue;
    await ok(fulfill(exchange, streamly, await requisitionOf(exchange, streamly, { name }), nonce));
    const other = await requisitionOf(exchange, chirper, { name });
    if (i === 1) await ok(refuse(exchange, chirper, other));
    if (i === 2) await ok(post(exchange, acme, `${name}:cancel`));
    if (i > 2) await ok(fulfill(exchange, chirper, other, 5n));
  }
  const consumer = clientOf(exchange.dev, rpc.Measurements, { token: acme.token });
  const states = new Set<string>();
  for (const name of measurements) {
    const rest = await byRest(exchange, acme, name);
    states.add(rest.state);
    const grpc = measurementOf(printed(specs.MeasurementSchema, await consumer.getMeasurement({ name })));
    expectEqual(inOneForm(rest), grpc, { rest: ['traceparent'] });
  }
  expect([...states].sort()).toEqual([
    'AWAITING_REQUISITION_FULFILLMENT',
    'CANCELLED',
    'FAILED',
    'SUCCEEDED',
  ]);

  for (const provider of [streamly, chirper]) {
    const client = clientOf(exchange.dev, rpc.Requisitions, { token: provider.token });
    const { requisitions } = await client.listRequisitions({ parent: provider.name, pageSize: 500 });
    expect(requisitions).toHaveLength(measurements.length);
    for (const requisition of requisitions) {
      const rest = await byRest(exchange, provider, requisition.name);
      const grpc = faces.requisitionOf(printed(rpc.RequisitionSchema, requisition));
      expectEqual(inOneForm(rest), grpc, ONLY_OF_REQUISITIONS);
    }
  }
});

it('certificates are equal over REST and gRPC in every revocation state', async () => {
  const { acme } = castOf(exchange);
  const client = clientOf(exchange.dev, rpc.Certificates, { token: acme.token });
  const names = [acme.certificate];
  for (const revocationState of [null, 'HOLD', 'REVOKED']) {
    names.push(await addCertificate(exchange, acme.name, `c${revocationState}`, { revocationState }));
  }
  for (const name of names) {
    const grpc = printed(rpc.CertificateSchema, await client.getCertificate({ name }));
    expectEqual(await byRest(exchange, acme, name), grpc, { rest: ['notBefore', 'notAfter'] });
  }
});

it('descriptors are equal over REST and gRPC', async () => {
  const { acme, streamly } = castOf(exchange);
  const client = clientOf(exchange.dev, rpc.EventGroupMetadataDescriptors, { token: acme.token });
  for (const set of [leanSet, completeSet]) {
    const body = { descriptorSet: Buffer.from(set).toString('base64') };
    const path = `${streamly.name}/eventGroupMetadataDescriptors`;
    const { name } = await ok(post(exchange, streamly, path, body));
    const read = await client.getEventGroupMetadataDescriptor({ name });
    expectEqual(await byRest(exchange, acme, name), printed(rpc.EventGroupMetadataDescriptorSchema, read));
  }
});

it('parties are equal over REST and gRPC, including intervals and capabilities', async () => {
  const { acme, streamly, chirper } = castOf(exchange);
  const interval = { startTime: '2026-01-01T00:00:00.000001Z', endTime: '2026-02-01T00:00:00Z' };
  const changes = {
    capabilities: { honestMajorityShareShuffleSupported: true, noiseMechanismNoneSupported: true },
    dataAvailabilityInterval: interval,
    dataAvailabilityIntervals: [
      { modelLine: 'a', interval },
      { modelLine: 'b', interval: { startTime: interval.startTime } },
    ],
  };
  await ok(exchange.call(streamly.token, 'PATCH', `/v2alpha/${streamly.name}`, changes));
  const only = { rest: ['state', 'createTime', 'updateTime'], grpc: ['certificateDer'] };
  const providers = clientOf(exchange.dev, rpc.DataProviders, { token: acme.token });
  for (const { name } of [streamly, chirper]) {
    const rest = await byRest(exchange, acme, name);
    const lines = (rest.dataAvailabilityIntervals ?? []) as { modelLine: string; interval: Json }[];
    const byLine = Object.fromEntries(lines.map((line) => [line.modelLine, line.interval]));
    const grpc = printed(rpc.DataProviderSchema, await providers.getDataProvider({ name }));
    expectEqual({ ...rest, dataAvailabilityIntervals: byLine }, grpc, only);
  }
  const consumers = clientOf(exchange.dev, rpc.MeasurementConsumers, { token: streamly.token });
  const grpc = printed(
    rpc.MeasurementConsumerSchema,
    await consumers.getMeasurementConsumer({ name: acme.name }),
  );
  expectEqual(await byRest(exchange, streamly, acme.name), grpc, only);
});

it('populations have the same VIDs and attributes over REST and gRPC', async () => {
  const { acme } = castOf(exchange);
  const subpopulations = [
    {
      attributes: [{ name: 'age', value: 'old' }],
      vidRanges: [
        { start: 30, end: 40 },
        { start: 5, end: 9 },
      ],
    },
    {
      attributes: [
        { name: 'age', value: 'young' },
        { name: 'sex', value: 'F' },
      ],
      vidRanges: [{ start: 10, end: 10 }],
    },
  ];
  const body = {
    displayName: 'P',
    vidRanges: [
      { start: 1, end: 20 },
      { start: 25, end: 50 },
    ],
    subpopulations,
  };
  const { name } = await ok(asOperator(exchange, 'POST', 'populations', body));
  const client = clientOf(exchange.dev, rpc.Populations, { token: acme.token });
  const population = printed(rpc.PopulationSchema, await client.getPopulation({ name }));
  const rest = await byRest(exchange, acme, name);
  expect(plain(population.createTime)).toBe(plain(rest.createTime));
  expect(population.description).toBe(rest.displayName);
  const people = (ranges: { start: string; end: string }[]) =>
    ranges
      .flatMap(({ start, end }) => Array.from({ length: +end - +start + 1 }, (_, i) => +start + i))
      .sort((a, b) => a - b);
  const parts = (population.populationSpec.subpopulations as Json[]).map((part) => ({
    attributes: part.attributes?.map((any: Json) => any.value)[0] ?? {},
    people: people(part.vidRanges.map((r: Json) => ({ start: r.startVid, end: r.endVidInclusive }))),
  }));
  const expected = (rest.subpopulations as Json[]).map((part) => ({
    attributes: Object.fromEntries(part.attributes.map((one: Json) => [one.name, one.value])),
    people: people(part.vidRanges),
  }));
  expect(parts.slice(0, -1)).toEqual(expected);
  expect(parts.at(-1)!.attributes).toEqual({});
  expect(parts.flatMap((part) => part.people).sort((a, b) => a - b)).toEqual(people(rest.vidRanges));
});
