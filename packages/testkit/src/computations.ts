/** Measurements that three duchies compute together, and the calls that the duchies make to the exchange. */
import { randomBytes, sign } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { specs, TYPE_URLS } from '@measurement-exchange/contract';
import type { Config } from '@measurement-exchange/exchange/config';
import { createDevIssuer, devKeyFile } from '@measurement-exchange/exchange/devIssuer';
import { createRoot, issueLeaf } from '@measurement-exchange/sdk/identity';
import { beforeAll } from 'vitest';
import type { DevParty, Reply, TestExchange } from './exchange.ts';
import { asOperator } from './operator.ts';
import { SHARE_SHUFFLE, supportShareShuffle, useShareShuffle } from './shareShuffle.ts';
import { castOf, createMeasurement, get, ok, post } from './steps.ts';

type Json = Reply['json'];
export type Duchy = Pick<DevParty, 'name' | 'token' | 'certificate' | 'privateKeyPem'>;

export const ETAG_MISMATCH = '409 ABORTED COMPUTATION_ETAG_MISMATCH';
export const ILLEGAL = '400 FAILED_PRECONDITION COMPUTATION_STATE_ILLEGAL';
export const INVALID = '400 INVALID_ARGUMENT INVALID_FIELD_VALUE';

export interface Duchies {
  firstWorker: Duchy;
  secondWorker: Duchy;
  aggregator: Duchy;
}

/** Gives each duchy in `SHARE_SHUFFLE` a certificate and a token. */
export async function equipDuchies(exchange: TestExchange): Promise<Duchies> {
  const issuer = await createDevIssuer({ keyFile: devKeyFile(exchange.dataDir), baseUrl: exchange.url });
  const root = await createRoot('Duchies', Date.now());
  const equip = async (name: string): Promise<Duchy> => {
    const { der, privateKeyPem } = await issueLeaf(root, name, Date.now());
    const x509Der = Buffer.from(der).toString('base64');
    const certificate = await ok(asOperator(exchange, 'POST', `${name}/certificates`, { x509Der }));
    return { name, token: await issuer.mint(name), certificate: certificate.name, privateKeyPem };
  };
  return {
    firstWorker: await equip(SHARE_SHUFFLE.firstWorker),
    secondWorker: await equip(SHARE_SHUFFLE.secondWorker),
    aggregator: await equip(SHARE_SHUFFLE.aggregator),
  };
}

/** Creates a default population, records that all providers support share shuffle, and calls `equipDuchies`. */
export async function prepareComputations(exchange: TestExchange): Promise<Duchies> {
  const population = { vidRanges: [{ start: 1, end: 1000 }], default: true };
  await ok(asOperator(exchange, 'POST', 'populations?populationId=everybody', population));
  await supportShareShuffle(exchange, exchange.dev.dataProviders);
  return equipDuchies(exchange);
}

/** The starting point for tests of computations. The parties and duchies are added when the exchange runs. */
export interface ComputationWorld extends ReturnType<typeof castOf> {
  exchange: TestExchange;
  duchies: Duchies;
  /** Creates a measurement with this many providers. The first provider's nonce is 1, the second's is 2, and so on. */
  create(providers?: number): Promise<Json>;
  /**
   * Creates a measurement, sets its parameters and fulfills its requisitions. The computation is then in the state
   * COMPUTING.
   */
  createComputing(): Promise<Json>;
  /** Returns the state of the measurement, followed by the distinct states of its computation at the three duchies. */
  states(measurement: { name: string }): Promise<string[]>;
}

/** Starts and stops an exchange like useExchange, and adds duchies that can compute. */
export function useComputations(overrides: Partial<Config> = {}): ComputationWorld {
  const exchange = useShareShuffle(overrides);
  const world: ComputationWorld = computationWorld(exchange, () => world);
  beforeAll(async () => {
    Object.assign(world, castOf(exchange), { duchies: await prepareComputations(exchange) });
  });
  return world;
}

/**
 * Returns a world that has no parties and no duchies yet. Its functions read the parties and duchies from the object
 * that `world` returns. The caller must add them to that object as soon as the exchange runs.
 */
export function computationWorld(exchange: TestExchange, world: () => ComputationWorld): ComputationWorld {
  return {
    exchange,
    create: (providers = 2) =>
      createMeasurement(exchange, world().acme, exchange.dev.dataProviders.slice(0, providers)),
    async createComputing() {
      const measurement = await world().create();
      await setAllParameters(exchange, world().duchies, measurement);
      for (const i of [0, 1]) await ok(reportFulfilled(exchange, world().duchies, measurement, i));
      return measurement;
    },
    async states(measurement) {
      const read = await Promise.all(
        all(world().duchies).map((duchy) => readComputation(exchange, duchy, measurement)),
      );
      const { state } = await get(exchange, world().acme, measurement.name);
      return [state, ...new Set(read.map((computation) => computation.state))];
    },
  } as ComputationWorld;
}

export const all = ({ firstWorker, secondWorker, aggregator }: Duchies) => [
  firstWorker,
  secondWorker,
  aggregator,
];

/** The resource name of a measurement's computation for this duchy. */
export function computationOf(duchy: { name: string }, measurement: { name: string }): string {
  return `${duchy.name}/computations/${measurement.name.split('/').at(-1)}`;
}

export function readComputation(
  exchange: TestExchange,
  duchy: Duchy,
  measurement: { name: string },
): Promise<Json> {
  return get(exchange, duchy as DevParty, computationOf(duchy, measurement));
}

/**
 * Sends the duchy's request to a method of its computation, such as `setParameters`. Adds the current etag unless the
 * body contains an etag.
 */
export async function act(
  exchange: TestExchange,
  duchy: Duchy,
  measurement: { name: string },
  verb: string,
  body: object,
): Promise<Reply> {
  const { etag } = 'etag' in body ? body : await readComputation(exchange, duchy, measurement);
  return post(exchange, duchy as DevParty, `${computationOf(duchy, measurement)}:${verb}`, { etag, ...body });
}

/** Returns parameters for a duchy. Instead of a real public key, they contain random bytes, which the duchy signed. */
export function parametersOf(duchy: Duchy) {
  const message = toBinary(
    specs.EncryptionPublicKeySchema,
    create(specs.EncryptionPublicKeySchema, {
      format: specs.EncryptionPublicKey_Format.TINK_KEYSET,
      data: randomBytes(60),
    }),
  );
  return {
    certificate: duchy.certificate,
    honestMajorityShareShuffle: {
      publicKey: {
        message: Buffer.from(message).toString('base64'),
        signature: sign('sha256', message, duchy.privateKeyPem).toString('base64'),
        signatureAlgorithm: 'ECDSA_P256_SHA256',
      },
    },
  };
}

/** Sets the parameters of all three duchies. The aggregator's parameters contain only its certificate. */
export async function setAllParameters(
  exchange: TestExchange,
  duchies: Duchies,
  measurement: { name: string },
): Promise<void> {
  const { firstWorker, secondWorker, aggregator } = duchies;
  for (const worker of [firstWorker, secondWorker]) {
    await ok(act(exchange, worker, measurement, 'setParameters', parametersOf(worker)));
  }
  await ok(act(exchange, aggregator, measurement, 'setParameters', { certificate: aggregator.certificate }));
}

/**
 * Reports requisition `i` (from 0) as fulfilled with the nonce i + 1. The requisition's `fulfillingDuchy` sends the
 * report.
 */
export async function reportFulfilled(
  exchange: TestExchange,
  duchies: Duchies,
  measurement: { name: string },
  i: number,
): Promise<Reply> {
  const { requisitions } = await readComputation(exchange, duchies.aggregator, measurement);
  const { name: requisition, fulfillingDuchy } = requisitions[i];
  const duchy = all(duchies).find(({ name }) => name === fulfillingDuchy)!;
  return act(exchange, duchy, measurement, 'fulfillRequisition', { requisition, nonce: BigInt(i + 1) });
}

export function resultOf(aggregator: Duchy) {
  return {
    certificate: aggregator.certificate,
    encryptedResult: {
      ciphertext: randomBytes(100).toString('base64'),
      typeUrl: TYPE_URLS.MeasurementResult as string,
    },
  };
}
