/**
 * Tests that REST and gRPC show the same measurements and requisitions while duchies compute them. Covers each stage,
 * the parameters of each protocol, and the keys of the duchies.
 */
import { create, toBinary } from '@bufbuild/protobuf';
import { specs } from '@measurement-exchange/contract';
import * as rpc from '@measurement-exchange/contract/rpc';
import {
  act,
  all,
  type ComputationWorld,
  reportFulfilled,
  resultOf,
  setAllParameters,
  useComputations,
} from '@measurement-exchange/testkit/computations';
import { measurementRequest, nonceHash, UNLIMITED } from '@measurement-exchange/testkit/exchange';
import { setAllKeys, useRing } from '@measurement-exchange/testkit/ring';
import { clientOf } from '@measurement-exchange/testkit/rpc';
import { ok, post, signed } from '@measurement-exchange/testkit/steps';
import { describe, expect, it } from 'vitest';
import {
  byRest,
  expectEqual,
  inOneForm,
  measurementOf,
  ONLY_OF_REQUISITIONS,
  printed,
  requisitionOf,
} from './faces.ts';

/**
 * Compares how REST and gRPC show the measurement and its requisitions. Returns how many duchies each requisition
 * shows.
 */
async function compare(world: ComputationWorld, { name }: { name: string }): Promise<number> {
  const { exchange, acme } = world;
  const token = acme.token;
  const measurement = await clientOf(exchange.dev, rpc.Measurements, { token }).getMeasurement({ name });
  const grpc = measurementOf(printed(specs.MeasurementSchema, measurement));
  expectEqual(inOneForm(await byRest(exchange, acme, name)), grpc, { rest: ['traceparent'] });

  const counts = new Set<number>();
  for (const provider of [world.streamly, world.chirper]) {
    const client = clientOf(exchange.dev, rpc.Requisitions, { token: provider.token });
    const { requisitions } = await client.listRequisitions({ parent: provider.name, pageSize: 500 });
    const own = requisitions.find((one) => one.measurement === name)!;
    const rest = await byRest(exchange, provider, own.name);
    expectEqual(inOneForm(rest), requisitionOf(printed(rpc.RequisitionSchema, own)), ONLY_OF_REQUISITIONS);
    // The entry of every duchy has the same protocol as the requisition.
    const [protocol] = own.protocolConfig!.protocols;
    for (const { value } of own.duchies) expect(value!.protocol.case).toBe(protocol!.protocol.case);
    expect(own.duchies.map(({ key }) => key).sort()).toEqual(Object.keys(rest.duchies ?? {}).sort());
    counts.add(own.duchies.length);
  }
  expect(counts.size).toBe(1);
  return [...counts][0]!;
}

describe('a share shuffle measurement', () => {
  const world = useComputations({ rate: UNLIMITED });

  it('is equal over REST and gRPC at each stage', async () => {
    const { exchange, duchies } = world;
    const measurement = await world.create();
    expect(await compare(world, measurement)).toBe(0);
    await setAllParameters(exchange, duchies, measurement);
    expect(await compare(world, measurement)).toBeGreaterThan(0);
    for (const i of [0, 1]) await ok(reportFulfilled(exchange, duchies, measurement, i));
    await compare(world, measurement);
    await ok(act(exchange, duchies.aggregator, measurement, 'setResult', resultOf(duchies.aggregator)));
    await compare(world, measurement);
  });

  it('is equal over REST and gRPC after a duchy has failed', async () => {
    const { exchange, duchies } = world;
    const measurement = await world.createComputing();
    await ok(act(exchange, duchies.firstWorker, measurement, 'fail', { code: 'STAGE_FAILED' }));
    await compare(world, measurement);
  });
});

describe('a measurement of a ring of duchies', () => {
  const world = useRing({ rate: UNLIMITED });
  const params = { epsilon: 0.5, delta: 1e-9 };
  const value = { reachPrivacyParams: params, frequencyPrivacyParams: params, maximumFrequency: 5 };

  /** Creates a measurement of reach and frequency, which uses the protocol `liquidLegionsV2`. */
  async function createWithFrequencies() {
    const { exchange, acme, streamly, chirper } = world;
    const spec = create(specs.MeasurementSpecSchema, {
      serializedMeasurementPublicKey: Uint8Array.of(1),
      nonceHashes: [1n, 2n].map((nonce) => Buffer.from(nonceHash(nonce), 'base64')),
      vidSamplingInterval: { start: 0, width: 1 },
      measurementType: { case: 'reachAndFrequency', value },
    });
    const measurementSpec = signed(acme, toBinary(specs.MeasurementSpecSchema, spec));
    const body = { ...measurementRequest(acme, [streamly, chirper]), measurementSpec };
    return ok(post(exchange, acme, `${acme.name}/measurements`, body));
  }

  it.each(['reachOnlyLiquidLegionsV2', 'liquidLegionsV2'] as const)(
    'is equal over REST and gRPC at each stage with %s',
    async (protocol) => {
      const { exchange, duchies } = world;
      const isReachOnly = protocol === 'reachOnlyLiquidLegionsV2';
      const measurement = await (isReachOnly ? world.create() : createWithFrequencies());
      expect(await compare(world, measurement)).toBe(0);
      await setAllKeys(exchange, duchies, measurement, protocol);
      expect(await compare(world, measurement)).toBe(3);
      for (const i of [0, 1]) await ok(reportFulfilled(exchange, duchies, measurement, i));
      for (const duchy of all(duchies)) await ok(act(exchange, duchy, measurement, 'confirm', {}));
      await compare(world, measurement);
      await ok(act(exchange, duchies.aggregator, measurement, 'setResult', resultOf(duchies.aggregator)));
      await compare(world, measurement);
    },
  );
});
