/** Simulates providers that know how often they reached each person, and upload encrypted sketches. */
import { createHash } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { requisitionFingerprint, unpackElGamalPublicKey } from '@measurement-exchange/consent';
import {
  duchyMessages,
  FULFILLMENT_PURPOSE,
  type LiquidLegionsConfig,
  liquidLegionsOf,
  type Measurement,
  type Requisition,
  ringOf,
  specs,
} from '@measurement-exchange/contract';
import { relativeFrequencies } from '@measurement-exchange/mpc/protocols/liquidLegionsV2/estimate';
import { newSeed } from '@measurement-exchange/mpc/shares';
import {
  Curve,
  combineKeys,
  ElGamalPublicKey,
  estimatePeople,
  Keystream,
  readPublishedKey,
  SketchEncrypter,
} from '@measurement-exchange/sdk/liquidLegions';
import { frequencySketch, reachSketch, unionOf } from '@measurement-exchange/testkit/mpc/ring';
import { type Party, readRequisition } from '@measurement-exchange/testkit/world';
import { expect } from 'vitest';
import { termsOf } from '../terms.ts';
import { openResult } from './results.ts';
import { type People, readyRequisition, toldTerms, type Upload, uploadOf } from './uploads.ts';
import type { DuchyWorld } from './world.ts';

const HIDING = { epsilon: 1, delta: 1e-5 };
/** Sketch parameters for both protocols, small enough for a test. */
export const SIZE = {
  decayRate: 2,
  maxSize: 24,
  noiseMechanism: 'NONE',
  histogramPrivacyParams: HIDING,
  publisherPrivacyParams: HIDING,
} as const;
export const FREQUENCIES = { samplingIndicatorSize: 1000, maximumFrequency: 5 };
/** The maximum frequency in the spec. The exchange's setting is higher, so the spec decides. */
export const MAXIMUM_FREQUENCY = 3;

/** Three providers with people in common, a person above the maximum frequency, and registers with two people. */
export const AUDIENCES: People[] = [
  new Map([
    [1, 1],
    [2, 2],
    [3, 1],
    [4, 1],
  ]),
  new Map([
    [3, 1],
    [4, 9],
    [5, 1],
    [6, 2],
    [7, 1],
  ]),
  new Map([
    [7, 1],
    [8, 1],
    [9, 1],
    [10, 2],
    [2, 1],
  ]),
];

/** Makes an upload. With `trusts`, the provider does not check the bindings of the duchies' keys. */
export async function makeSketch(
  provider: Party,
  measurement: Measurement,
  people: People,
  { trusts = false } = {},
): Promise<Upload> {
  const requisition = await readyRequisition(provider, measurement);
  const { spec } = await readRequisition(provider, requisition);
  const { protocol, config } = liquidLegionsOf(requisition.protocolConfig!)!;
  const curve = new Curve(64);
  const terms = await toldTerms(requisition);
  const key = combinedKey(curve, requisition, config, trusts ? undefined : terms);
  const encrypter = new SketchEncrypter(curve, new ElGamalPublicKey(curve, key), new Keystream(newSeed()));
  const registers =
    protocol === 'liquidLegionsV2'
      ? encrypter.frequency(frequencySketch(frequencyParams(config), people), MAXIMUM_FREQUENCY)
      : encrypter.reach(reachSketch(config, people));
  const data = Buffer.concat([...registers]);
  const fulfillment = create(duchyMessages.FulfillmentSchema, {
    purpose: FULFILLMENT_PURPOSE,
    requisition: requisition.name!,
    requisitionFingerprint: await requisitionFingerprint(
      requisition.measurementSpec!.message,
      requisition.encryptedRequisitionSpec!.ciphertext,
    ),
    nonce: spec.nonce,
    protocol,
    registerCount: BigInt(config.maxSize),
    dataSha256: createHash('sha256').update(data).digest(),
    dataLength: BigInt(data.length),
    duchy: requisition.fulfillingDuchy!,
    certificate: provider.certificate,
    ...terms,
    protocolData: { case: 'liquidLegions', value: termsOf(config, key) },
  });
  return uploadOf(provider, requisition, fulfillment, data);
}

const frequencyParams = ({ decayRate, maxSize, samplingIndicatorSize }: LiquidLegionsConfig) => ({
  ...{ decayRate, maxSize, samplingIndicatorSize: samplingIndicatorSize! },
});

/** Combines the keys in the requisition, in the order of the ring. */
function combinedKey(
  curve: Curve,
  requisition: Requisition,
  config: LiquidLegionsConfig,
  terms: Awaited<ReturnType<typeof toldTerms>> | undefined,
): Uint8Array {
  const entries = new Map(
    Object.values(requisition.duchies!).map((entry) => [
      entry.duchyCertificate.split('/certificates/')[0]!,
      entry,
    ]),
  );
  const keys = ringOf(config).map((duchy) => {
    const { liquidLegionsV2, reachOnlyLiquidLegionsV2 } = entries.get(duchy)!;
    const { elGamalPublicKey } = (liquidLegionsV2 ?? reachOnlyLiquidLegionsV2)!;
    const { message } = elGamalPublicKey;
    return terms ? readPublishedKey(message, { duchy, ...terms }) : unpackElGamalPublicKey(message).element;
  });
  return combineKeys(curve, keys);
}

/** Makes and sends the sketches of all providers, in the order of the providers. */
export async function uploadSketches(world: DuchyWorld, measurement: Measurement): Promise<void> {
  for (const [i, people] of AUDIENCES.entries()) {
    const response = await (await makeSketch(world.providers[i]!, measurement, people)).send();
    if (!response.ok) throw new Error(await response.text());
  }
}

/** Expects the exact figures of the union of the sketches, because there is no noise. */
export async function expectExact(world: DuchyWorld, measurement: Measurement): Promise<void> {
  const done = await world.finish(measurement);
  expect(done.failure).toBeUndefined();
  expect(done).toMatchObject({ state: 'SUCCEEDED' });
  const { reach, frequency } = await openResult(world, measurement);
  const { protocol } = liquidLegionsOf(done.protocolConfig!)!;
  const noiseMechanism = specs.ProtocolConfig_NoiseMechanism.NONE;
  const methodology = { case: protocol };
  expect(reach).toMatchObject({ value: BigInt(truth().reach), noiseMechanism, methodology });
  expect(frequency?.relativeFrequencyDistribution).toEqual(
    protocol === 'liquidLegionsV2' ? truth().frequencies : undefined,
  );
  // Open the result as a consumer does, including all checks.
  const { total } = await world.consumer.open(done);
  expect(total.deduplicated).toMatchObject({ reach: { value: truth().reach } });
}

/** Computes the figures from the union of the plaintext sketches. */
export function truth(): { reach: number; frequencies: Record<string, number> } {
  const spec = { ...SIZE, ...FREQUENCIES, maximumFrequency: MAXIMUM_FREQUENCY };
  const { registers, frequencies } = unionOf(spec, AUDIENCES);
  return {
    reach: estimatePeople(SIZE, registers),
    frequencies: Object.fromEntries(relativeFrequencies(frequencies)),
  };
}
