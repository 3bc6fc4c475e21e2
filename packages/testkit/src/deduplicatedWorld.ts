/**
 * An exchange with a consumer, providers and duchies, for measurements of deduplicated reach. The duchies compute
 * nothing. Instead, the test provides the result of a computation.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import {
  decodeMeasurementSpec,
  fromBase64,
  specs,
  TYPE_URLS,
  toBase64,
} from '@measurement-exchange/contract';
import {
  createSigner,
  encrypt,
  packSignedMessage,
  type TrustedRoot,
  unpackEncryptionPublicKey,
} from '@measurement-exchange/sdk';
import { createRoot, issueLeaf, type Root } from '@measurement-exchange/sdk/identity';
import { beforeAll } from 'vitest';
import {
  act,
  all,
  type Duchies,
  type Duchy,
  readComputation,
  setAllParameters,
  useComputations,
} from './computations.ts';
import type { TestExchange } from './exchange.ts';
import { asOperator } from './operator.ts';
import { ok } from './steps.ts';
import { type Party, partyOf, type ResultInit, readRequisition, requisitionOf } from './world.ts';

export interface DeduplicatedWorld {
  exchange: TestExchange;
  duchies: Duchies;
  /** The names of all three duchies. */
  duchyNames: string[];
  acme: Party;
  providers: Party[];
  /** The trusted roots: the root of the consumer and the providers, and the aggregator's own root. */
  roots: [TrustedRoot, TrustedRoot];
  /** Completes a measurement: sends the requests of all duchies, including `result`, which the aggregator signs. */
  compute(measurement: string, result: ResultInit): Promise<void>;
}

/**
 * A reach result over `frequencyVectorSize` people. The default is the whole population of 1,000 people, and a smaller
 * number is a sample of the population.
 */
export const deduplicatedReach = (value: bigint, frequencyVectorSize = 1000n): ResultInit => ({
  reach: {
    value,
    noiseMechanism: specs.ProtocolConfig_NoiseMechanism.DISCRETE_GAUSSIAN,
    methodology: { case: 'honestMajorityShareShuffle', value: { frequencyVectorSize } },
  },
});

/** Creates a DeduplicatedWorld for the caller's test file. The returned object is filled when the exchange runs. */
export function useDeduplicatedWorld(): DeduplicatedWorld {
  const computations = useComputations();
  const world = {} as DeduplicatedWorld;
  beforeAll(async () => {
    const { exchange, duchies } = computations;
    const root: Root = JSON.parse(await readFile(join(exchange.dataDir, 'dev-root.json'), 'utf8'));
    const own = await createRoot('Aggregator', Date.now());
    Object.assign(world, {
      exchange,
      duchies: { ...duchies, aggregator: await withCertificate(exchange, duchies.aggregator, own) },
      duchyNames: all(duchies).map(({ name }) => name),
      acme: partyOf(exchange, computations.acme),
      providers: [computations.streamly, computations.chirper].map((party) => partyOf(exchange, party)),
      roots: [{ pem: root.certificatePem }, { party: duchies.aggregator.name, pem: own.certificatePem }],
      compute: (measurement: string, result: ResultInit) => compute(world, measurement, result),
    } satisfies DeduplicatedWorld);
  });
  return world;
}

async function withCertificate(exchange: TestExchange, duchy: Duchy, root: Root): Promise<Duchy> {
  const { der, privateKeyPem } = await issueLeaf(root, 'Aggregator', Date.now(), { party: duchy.name });
  const body = { x509Der: toBase64(der) };
  const { name } = await ok(asOperator(exchange, 'POST', `${duchy.name}/certificates`, body));
  return { ...duchy, certificate: name, privateKeyPem };
}

async function compute(world: DeduplicatedWorld, name: string, result: ResultInit): Promise<void> {
  const { exchange, duchies, providers } = world;
  const { aggregator } = duchies;
  await setAllParameters(exchange, duchies, { name });
  const { requisitions, measurementSpec } = await readComputation(exchange, aggregator, { name });
  for (const { name: requisition, dataProvider, fulfillingDuchy } of requisitions) {
    const provider = providers.find((each) => each.name === dataProvider)!;
    const { spec } = await readRequisition(provider, await requisitionOf(provider, name));
    const duchy = all(duchies).find((each) => each.name === fulfillingDuchy)!;
    await ok(act(exchange, duchy, { name }, 'fulfillRequisition', { requisition, nonce: spec.nonce }));
  }
  const decoded = decodeMeasurementSpec(fromBase64(measurementSpec.message)!);
  if ('error' in decoded) throw new Error(decoded.error);
  const keyset = unpackEncryptionPublicKey(decoded.spec.measurementPublicKey!.value);
  const bytes = toBinary(specs.Measurement_ResultSchema, create(specs.Measurement_ResultSchema, result));
  const signed = await (await createSigner(aggregator.privateKeyPem)).sign(bytes);
  const typeUrl = TYPE_URLS.MeasurementResult;
  const ciphertext = toBase64(await encrypt(keyset, packSignedMessage(signed, typeUrl)));
  const { certificate } = aggregator;
  const encryptedResult = { ciphertext, typeUrl };
  await ok(act(exchange, aggregator, { name }, 'setResult', { certificate, encryptedResult }));
}
