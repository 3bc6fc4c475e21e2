/**
 * Creates measurements that a ring of duchies computes, on an exchange whose only multi-party protocols are the two
 * Liquid Legions protocols.
 */
import { createECDH, sign } from 'node:crypto';
import { packElGamalPublicKey } from '@measurement-exchange/consent';
import type { LiquidLegionsProtocol, ReachOnlyLiquidLegionsV2Config } from '@measurement-exchange/contract';
import type { Config } from '@measurement-exchange/exchange/config';
import { beforeAll } from 'vitest';
import {
  act,
  all,
  type ComputationWorld,
  computationWorld,
  type Duchies,
  type Duchy,
  equipDuchies,
  parametersOf,
  reportFulfilled,
} from './computations.ts';
import { type TestExchange, useExchange } from './exchange.ts';
import { asOperator } from './operator.ts';
import { addDuchies, SHARE_SHUFFLE } from './shareShuffle.ts';
import { castOf, ok } from './steps.ts';

const HIDING = { epsilon: 0.1, delta: 1e-9 };
/** The ring has the same duchies as the share shuffle protocol, but the second worker comes first. */
export const RING: ReachOnlyLiquidLegionsV2Config = {
  workers: [SHARE_SHUFFLE.secondWorker, SHARE_SHUFFLE.firstWorker],
  aggregator: SHARE_SHUFFLE.aggregator,
  ...{ noiseMechanism: 'DISCRETE_GAUSSIAN', decayRate: 12, maxSize: 1000 },
  ...{ histogramPrivacyParams: HIDING, publisherPrivacyParams: HIDING },
};
export const RING_WITH_FREQUENCIES = { ...RING, samplingIndicatorSize: 10_000_000, maximumFrequency: 10 };

export interface RingWorld extends ComputationWorld {
  /**
   * Creates a measurement, sets its parameters and fulfills its requisitions. The duchies have not confirmed the
   * computation yet.
   */
  createFulfilled(): Promise<{ name: string }>;
}

/**
 * Works like useComputations, but with the Liquid Legions protocols. `createComputing` also confirms the computation.
 */
export function useRing(overrides: Partial<Config> = {}): RingWorld {
  const protocols = { reachOnlyLiquidLegionsV2: RING, liquidLegionsV2: RING_WITH_FREQUENCIES };
  const exchange = useExchange({ protocols, ...overrides }, addDuchies);
  const world: RingWorld = {
    ...computationWorld(exchange, () => world),
    async createFulfilled() {
      const measurement = await world.create();
      await setAllKeys(exchange, world.duchies, measurement);
      for (const i of [0, 1]) await ok(reportFulfilled(exchange, world.duchies, measurement, i));
      return measurement;
    },
    async createComputing() {
      const measurement = await world.createFulfilled();
      for (const duchy of all(world.duchies)) await ok(act(exchange, duchy, measurement, 'confirm', {}));
      return measurement;
    },
  };
  beforeAll(async () => {
    Object.assign(world, castOf(exchange), { duchies: await equipDuchies(exchange) });
    const capabilities = { reachOnlyLiquidLegionsV2Supported: true, liquidLegionsV2Supported: true };
    for (const { name } of exchange.dev.dataProviders) {
      await ok(asOperator(exchange, 'PATCH', name, { capabilities }));
    }
  });
  return world;
}

/**
 * Returns parameters for a duchy. They contain a new ElGamal public key, and random bytes instead of a real encryption
 * key. The duchy signed both.
 */
export function ringParametersOf(duchy: Duchy, protocol: LiquidLegionsProtocol = 'reachOnlyLiquidLegionsV2') {
  const { certificate, honestMajorityShareShuffle } = parametersOf(duchy);
  const ecdh = createECDH('prime256v1');
  ecdh.generateKeys();
  // An invalid proof is enough, because the exchange does not check proofs.
  const proof = new Uint8Array(65);
  const message = packElGamalPublicKey({ element: ecdh.getPublicKey(null, 'compressed'), proof });
  const elGamalPublicKey = {
    message: Buffer.from(message).toString('base64'),
    signature: sign('sha256', message, duchy.privateKeyPem).toString('base64'),
    signatureAlgorithm: 'ECDSA_P256_SHA256',
  };
  const keys = { publicKey: honestMajorityShareShuffle.publicKey, elGamalPublicKey };
  return { certificate, keys, body: { certificate, [protocol]: keys } };
}

export async function setAllKeys(
  exchange: TestExchange,
  duchies: Duchies,
  measurement: { name: string },
  protocol?: LiquidLegionsProtocol,
): Promise<void> {
  for (const duchy of all(duchies)) {
    await ok(act(exchange, duchy, measurement, 'setParameters', ringParametersOf(duchy, protocol).body));
  }
}
