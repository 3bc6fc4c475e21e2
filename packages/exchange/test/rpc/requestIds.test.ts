/** Tests that a request ID creates only one resource, even if the request is repeated through the other API. */
import { fromBinary } from '@bufbuild/protobuf';
import { anyPack, FileDescriptorSetSchema, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { SIGNATURE_ALGORITHMS, specs } from '@measurement-exchange/contract';
import {
  EventGroupMetadataDescriptors,
  EventGroups,
  Measurements,
  MediaType,
} from '@measurement-exchange/contract/rpc';
import { measurementRequest, useExchange } from '@measurement-exchange/testkit/exchange';
import { leanSet } from '@measurement-exchange/testkit/metadataSets';
import { clientOf, failureOf, keyOf } from '@measurement-exchange/testkit/rpc';
import { createRequestOf } from '@measurement-exchange/testkit/rpcRequests';
import { castOf, errorOf, ok, post } from '@measurement-exchange/testkit/steps';
import { describe, expect, it } from 'vitest';

const exchange = useExchange();

/** Functions that send the same request, each through one of the two APIs, and return the name in the response. */
interface Faces {
  rest(): Promise<string>;
  grpc(): Promise<string>;
}

const ORDERS = [
  ['REST', ['rest', 'grpc', 'rest']],
  ['gRPC', ['grpc', 'rest', 'grpc']],
] as const;

async function expectOne(faces: Faces, order: readonly (keyof Faces)[]): Promise<void> {
  const names: string[] = [];
  for (const face of order) names.push(await faces[face]());
  expect(names[0]).toMatch(/\/[a-z0-9]+$/);
  expect(new Set(names).size).toBe(1);
}

let count = 0;
const fresh = () => `faces-${++count}`;

describe.each(ORDERS)('a request that is sent over %s first and then repeated over both APIs', (_, order) => {
  const { name, oid } = { name: 'ECDSA_P256_SHA256', oid: SIGNATURE_ALGORITHMS.ECDSA_P256_SHA256.oid };

  it.each([
    ['by its name', name],
    ['by its OID', oid],
    ['not at all', undefined],
  ])('creates one measurement if REST names the signature algorithm %s', async (_, signatureAlgorithm) => {
    const { acme, streamly, chirper } = castOf(exchange);
    const parent = acme.name;
    const requestId = fresh();
    const named = measurementRequest(acme, [streamly, chirper]);
    const body = { ...named, measurementSpec: { ...named.measurementSpec, signatureAlgorithm } };
    const client = clientOf(exchange.dev, Measurements, { token: acme.token });
    const request = createRequestOf(parent, named, requestId);
    // Set the format of each key, as clients of the public reference system always do.
    for (const { value } of request.measurement!.dataProviders) {
      const owner = [streamly, chirper].find(
        ({ certificate }) => certificate === value!.dataProviderCertificate,
      );
      value!.dataProviderPublicKey = anyPack(specs.EncryptionPublicKeySchema, keyOf(owner!));
    }
    const faces: Faces = {
      rest: async () =>
        (await ok(post(exchange, acme, `${parent}/measurements`, { ...body, requestId }))).name,
      grpc: async () => (await client.createMeasurement(request)).name,
    };
    await expectOne(faces, order);

    // The same request ID with other content is still rejected.
    request.measurement!.measurementReferenceId = 'other';
    expect(await failureOf(client.createMeasurement(request))).toBe('already_exists REQUEST_ID_REUSED');
    const other = await post(exchange, acme, `${parent}/measurements`, {
      ...body,
      measurementReferenceId: 'other',
      requestId,
    });
    expect(errorOf(other)).toMatch(/REQUEST_ID_REUSED/);
  });

  it.each([
    ['absent', {}],
    ['empty', { mediaTypes: [], eventTemplates: [], vidModelLines: [], eventGroupReferenceId: '' }],
  ])('creates one event group if optional fields are %s over REST', async (_, empty) => {
    const { acme, streamly } = castOf(exchange);
    const parent = streamly.name;
    const requestId = fresh();
    const [startTime, endTime] = ['2026-07-01T00:00:00Z', '2026-08-01T00:00:00Z'];
    const key = { '@type': 'type.googleapis.com/wfa.measurement.api.v2alpha.EncryptionPublicKey' };
    const body = {
      measurementConsumer: acme.name,
      dataAvailabilityInterval: { startTime, endTime },
      eventGroupMetadata: {
        adMetadata: { campaignMetadata: { brandName: 'b' } },
        entityMetadata: { a: [1] },
      },
      measurementConsumerPublicKey: { ...key, data: acme.encryptionPublicKey },
      ...empty,
      requestId,
    };
    const client = clientOf(exchange.dev, EventGroups, { token: streamly.token });
    const eventGroup = {
      measurementConsumer: acme.name,
      dataAvailabilityInterval: {
        startTime: timestampFromDate(new Date(startTime)),
        endTime: timestampFromDate(new Date(endTime)),
      },
      eventGroupMetadata: {
        selector: { case: 'adMetadata' as const, value: { campaignMetadata: { brandName: 'b' } } },
        entityMetadata: { a: [1] },
      },
      measurementConsumerPublicKey: anyPack(specs.EncryptionPublicKeySchema, keyOf(acme)),
    };
    const faces: Faces = {
      rest: async () => (await ok(post(exchange, streamly, `${parent}/eventGroups`, body))).name,
      grpc: async () => (await client.createEventGroup({ parent, eventGroup, requestId })).name,
    };
    await expectOne(faces, order);
    const other = { ...eventGroup, mediaTypes: [MediaType.VIDEO] };
    expect(await failureOf(client.createEventGroup({ parent, eventGroup: other, requestId }))).toBe(
      'already_exists REQUEST_ID_REUSED',
    );
  });

  it('creates one descriptor', async () => {
    const { chirper } = castOf(exchange);
    const parent = chirper.name;
    const requestId = fresh();
    const client = clientOf(exchange.dev, EventGroupMetadataDescriptors, { token: chirper.token });
    const body = { descriptorSet: Buffer.from(leanSet).toString('base64'), requestId };
    const path = `${parent}/eventGroupMetadataDescriptors`;
    const descriptorSet = fromBinary(FileDescriptorSetSchema, leanSet);
    const request = { parent, requestId, eventGroupMetadataDescriptor: { descriptorSet } };
    const faces: Faces = {
      rest: async () => (await ok(post(exchange, chirper, path, body))).name,
      grpc: async () => (await client.createEventGroupMetadataDescriptor(request)).name,
    };
    await expectOne(faces, order);
  });
});
