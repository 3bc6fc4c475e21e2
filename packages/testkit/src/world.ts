/** An exchange with strict checks, a consumer, and data providers whose responses the test chooses. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import {
  fromBase64,
  type Measurement,
  type Requisition,
  specs,
  TYPE_URLS,
} from '@measurement-exchange/contract';
import {
  type Consumer,
  type Credentials,
  createClient,
  createConsumer,
  createSigner,
  createTrustStore,
  decrypt,
  type ExchangeClient,
  encrypt,
  type MeasurementRequest,
  packSignedMessage,
  type TrustStore,
  unpackEncryptionPublicKey,
  unpackSignedMessage,
} from '@measurement-exchange/sdk';
import type { Root } from '@measurement-exchange/sdk/identity';
import { afterAll, beforeAll, expect } from 'vitest';
import { type DevParty, startExchange, type TestExchange } from './exchange.ts';

export type ResultInit = Exclude<
  MessageInitShape<typeof specs.Measurement_ResultSchema>,
  { $typeName: string }
>;

export interface Party extends Credentials {
  client: ExchangeClient;
}

export interface World {
  exchange: TestExchange;
  /** The trusted root that issued the certificates of all parties. */
  root: Root;
  trust: TrustStore;
  acme: Party;
  streamly: Party;
  chirper: Party;
  dailynews: Party;
  consumer: Consumer;
}

export async function startWorld(
  overrides: Parameters<typeof startExchange>[0] = {},
  prepare?: Parameters<typeof startExchange>[1],
): Promise<World> {
  const exchange = await startExchange({ checks: 'strict', ...overrides }, prepare);
  const root: Root = JSON.parse(await readFile(join(exchange.dataDir, 'dev-root.json'), 'utf8'));
  const body = { x509Pem: root.certificatePem };
  const { status, text } = await exchange.call(
    exchange.dev.operator.token,
    'POST',
    '/v2alpha/trustedRoots',
    body,
  );
  if (status !== 200) throw new Error(text);
  const [acme] = exchange.dev.measurementConsumers.map((party) => partyOf(exchange, party));
  const [streamly, chirper, dailynews] = exchange.dev.dataProviders.map((party) => partyOf(exchange, party));
  const trust = createTrustStore([{ pem: root.certificatePem }]);
  const consumer = createConsumer({ client: acme!.client, credentials: acme!, trust });
  return {
    exchange,
    root,
    trust,
    acme: acme!,
    streamly: streamly!,
    chirper: chirper!,
    dailynews: dailynews!,
    consumer,
  };
}

/**
 * Starts a world before the tests of this file and stops it after them. The returned object is empty until the world
 * has started.
 */
export function useWorld(...options: Parameters<typeof startWorld>): World {
  const world = {} as World;
  beforeAll(async () => {
    Object.assign(world, await startWorld(...options));
  });
  afterAll(async () => {
    expect(await world.exchange.stop()).toEqual([]);
  });
  return world;
}

export function partyOf(exchange: TestExchange, dev: DevParty): Party {
  const { encryptionPrivateKey } = dev as DevParty & { encryptionPrivateKey: string };
  return {
    name: dev.name,
    certificate: dev.certificate,
    privateKeyPem: dev.privateKeyPem,
    // Convert to Uint8Array, because a comparison in a test would treat a Node Buffer as different from the SDK's
    // bytes.
    encryptionPublicKey: Uint8Array.from(fromBase64(dev.encryptionPublicKey)!),
    encryptionPrivateKey: Uint8Array.from(fromBase64(encryptionPrivateKey)!),
    client: createClient({ baseUrl: exchange.url, token: dev.token }),
  };
}

export const INTERVAL = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
export const PRIVACY = { epsilon: 0.5, delta: 1e-9 };

/** Selects one event group of each of these providers. */
export function events(...providers: Party[]): MeasurementRequest['dataProviders'] {
  return providers.map(({ name }) => ({
    name,
    eventGroups: [{ name: `${name}/eventGroups/tv`, interval: INTERVAL, filter: 'person.age > 30' }],
  }));
}

export async function requisitionOf(provider: Party, measurement: string): Promise<Requisition> {
  for await (const requisition of provider.client.listRequisitions({ parent: provider.name })) {
    if (requisition.measurement === measurement) return requisition;
  }
  throw new Error(`${provider.name} has no requisition of ${measurement}`);
}

/**
 * Decrypts the specification that the consumer sent to this provider. Returns the signed message, the specification,
 * and the keyset that must encrypt the result.
 */
export async function readRequisition(provider: Party, requisition: Requisition) {
  const { ciphertext } = requisition.encryptedRequisitionSpec!;
  const signed = unpackSignedMessage(await decrypt(provider.encryptionPrivateKey, ciphertext));
  const spec = fromBinary(specs.RequisitionSpecSchema, signed.message);
  return { signed, spec, keyset: unpackEncryptionPublicKey(spec.measurementPublicKey!.value) };
}

/** Changes to the result, for a dishonest or careless provider. */
export interface ResultOverrides {
  /** The bytes to sign instead of the serialized result. */
  bytes?: Uint8Array;
  /** The private key to sign with, instead of the key of the provider's certificate. */
  privateKeyPem?: string;
  /** The name of the certificate to send instead of the provider's own. */
  certificate?: string;
  /** Returns the bytes to encrypt instead of the signed message. */
  seal?: (signed: Uint8Array) => Uint8Array;
  /** The public keyset to encrypt for, instead of the consumer's keyset. */
  keyset?: Uint8Array;
}

/** Fulfills the provider's requisition with this result. */
export async function fulfillWith(
  provider: Party,
  measurement: string,
  result: ResultInit,
  otherwise: ResultOverrides = {},
): Promise<void> {
  const requisition = await requisitionOf(provider, measurement);
  const { spec, keyset } = await readRequisition(provider, requisition);
  const message = toBinary(specs.Measurement_ResultSchema, create(specs.Measurement_ResultSchema, result));
  const signer = await createSigner(otherwise.privateKeyPem ?? provider.privateKeyPem);
  const signed = await signer.sign(otherwise.bytes ?? message);
  const sealed = packSignedMessage(signed, TYPE_URLS.MeasurementResult);
  const plaintext = otherwise.seal?.(sealed) ?? sealed;
  const ciphertext = await encrypt(otherwise.keyset ?? keyset, plaintext);
  await provider.client.fulfillDirectRequisition({
    name: requisition.name!,
    body: {
      encryptedResult: { ciphertext, typeUrl: TYPE_URLS.MeasurementResult },
      nonce: spec.nonce,
      certificate: otherwise.certificate ?? provider.certificate,
      etag: requisition.etag!,
    },
  });
}

const { GEOMETRIC, DISCRETE_GAUSSIAN } = specs.ProtocolConfig_NoiseMechanism;

/**
 * `reach`, `frequency`, `impression`, `watchDuration` and `population` each return a result of that type. The noise and
 * the methodology are those that an honest provider states.
 */
export const reach = (value: bigint): ResultInit => ({
  reach: {
    value,
    noiseMechanism: GEOMETRIC,
    methodology: { case: 'deterministicCountDistinct', value: {} },
  },
});
export const frequency = (relativeFrequencyDistribution: Record<string, number>): ResultInit => ({
  frequency: {
    relativeFrequencyDistribution,
    noiseMechanism: DISCRETE_GAUSSIAN,
    methodology: { case: 'deterministicDistribution', value: {} },
  },
});
export const impression = (value: bigint): ResultInit => ({
  impression: {
    value,
    noiseMechanism: GEOMETRIC,
    methodology: { case: 'deterministicCount', value: {} },
  },
});
export const watchDuration = (seconds: bigint, nanos = 0): ResultInit => ({
  watchDuration: {
    value: { seconds, nanos },
    noiseMechanism: DISCRETE_GAUSSIAN,
    methodology: { case: 'deterministicSum', value: {} },
  },
});
export const population = (value: bigint): ResultInit => ({
  population: { value, methodology: { case: 'deterministicCount', value: {} } },
});

/** A request to measure events of these providers, by default of Streamly alone. */
export const asking = (
  w: World,
  type: 'reach' | 'impression' = 'reach',
  ...providers: Party[]
): MeasurementRequest => ({
  type,
  privacy: PRIVACY,
  dataProviders: events(...(providers.length > 0 ? providers : [w.streamly])),
  ...(type === 'impression' && { maximumFrequencyPerUser: 10 }),
});

/** Creates a measurement, lets providers fulfill it with the results in `replies`, and waits until it has ended. */
export async function measured(
  { consumer }: World,
  asked: MeasurementRequest,
  ...replies: [Party, ResultInit][]
): Promise<Measurement> {
  const { name } = await consumer.create(asked);
  for (const [provider, result] of replies) await fulfillWith(provider, name!, result);
  return consumer.wait(name!);
}
