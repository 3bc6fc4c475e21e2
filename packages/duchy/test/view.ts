/** A computation of three duchies and two providers, as the exchange shows it. */
import { createHash } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { nonceHash, randomNonce } from '@measurement-exchange/consent';
import { type Computation, type DuchyRole, specs } from '@measurement-exchange/contract';

export const ROLES: Record<string, DuchyRole> = {
  'duchies/alpha': 'FIRST_WORKER',
  'duchies/beta': 'SECOND_WORKER',
  'duchies/gamma': 'AGGREGATOR',
};
export const PROVIDERS = ['dataProviders/streamly', 'dataProviders/chirper'] as const;
export const MODULUS = 127;

export interface TestComputation {
  id: string;
  view: Computation;
  spec: Uint8Array;
  nonces: bigint[];
}

const PRIVACY = create(specs.DifferentialPrivacyParamsSchema, { epsilon: 1, delta: 1e-9 });
const REACH: specs.MeasurementSpec['measurementType'] = {
  case: 'reach',
  value: create(specs.MeasurementSpec_ReachSchema, { privacyParams: PRIVACY }),
};
export const REACH_AND_FREQUENCY: specs.MeasurementSpec['measurementType'] = {
  case: 'reachAndFrequency',
  value: create(specs.MeasurementSpec_ReachAndFrequencySchema, {
    reachPrivacyParams: PRIVACY,
    frequencyPrivacyParams: PRIVACY,
    maximumFrequency: 5,
  }),
};

/** Creates a computation. `fulfillingDuchy` receives the uploads of both requisitions. */
export async function makeComputation(
  id: string,
  duchy: string,
  fulfillingDuchy = 'duchies/alpha',
  measurementType: specs.MeasurementSpec['measurementType'] = REACH,
): Promise<TestComputation> {
  const nonces = PROVIDERS.map(() => randomNonce());
  const hashes = await Promise.all(nonces.map(nonceHash));
  const spec = toBinary(
    specs.MeasurementSpecSchema,
    create(specs.MeasurementSpecSchema, {
      nonceHashes: hashes,
      measurementType,
      vidSamplingInterval: { start: 0, width: 1 },
    }),
  );
  const time = new Date().toISOString().replace('Z', '000Z');
  const view: Computation = {
    name: `${duchy}/computations/${id}`,
    role: ROLES[duchy]!,
    state: 'PENDING_FULFILLMENT',
    measurementConsumer: 'measurementConsumers/acme',
    measurementSpec: { message: spec, signature: Uint8Array.of(1), signatureAlgorithm: 'ECDSA_WITH_SHA256' },
    measurementConsumerCertificate: 'measurementConsumers/acme/certificates/1',
    protocolConfig: {
      measurementType: 'REACH',
      honestMajorityShareShuffle: {
        firstWorker: 'duchies/alpha',
        secondWorker: 'duchies/beta',
        aggregator: 'duchies/gamma',
        noiseMechanism: 'DISCRETE_GAUSSIAN',
        ringModulus: MODULUS,
        population: 'populations/p',
        populationFingerprint: createHash('sha256').update('p').digest(),
      },
    },
    participants: Object.fromEntries(
      Object.entries(ROLES).map(([name, role]) => [
        name,
        { role, state: 'READY' as const, certificate: `${name}/certificates/1` },
      ]),
    ),
    requisitions: PROVIDERS.map((dataProvider, i) => ({
      name: `${dataProvider}/requisitions/${id}-${i}`,
      dataProvider,
      dataProviderCertificate: `${dataProvider}/certificates/1`,
      requisitionSpecHash: createHash('sha256').update(`${id} ${i}`).digest(),
      nonceHash: hashes[i]!,
      state: 'UNFULFILLED',
      fulfillingDuchy,
    })),
    etag: 'e1',
    createTime: time,
    updateTime: time,
  };
  return { id, view, spec, nonces };
}
