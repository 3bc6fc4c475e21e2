/**
 * Creates requisitions of computations on encrypted sketches, as the exchange passes them to a provider. Tests can
 * alter any part.
 */
import type {
  Certificate,
  DuchyEntry,
  LiquidLegionsConfig,
  LiquidLegionsProtocol,
  Requisition,
  SignedMessage,
} from '@measurement-exchange/contract';
import { Keystream } from '@measurement-exchange/mpc/shares';
import type { Identity } from '../../src/identity/index.ts';
import { type ElGamalKeyPair, newKeyPair, publishedKey } from '../../src/provider/liquidLegions.ts';
import { createDuchyTrust, type LiquidLegionsSettings } from '../../src/provider/verify/duchySettings.ts';
import { type KeyContext, signedBy } from './boundKeys.ts';
import type { Draft } from './requisitions.ts';
import {
  ALPHA,
  BETA,
  createDuchyWorld,
  type DuchyWorld,
  GAMMA,
  spoiledComputation,
} from './shareShuffleRequisitions.ts';

/** The duchies of the ring: Alpha receives the upload, Beta is next, and Gamma aggregates. */
export const RING = [ALPHA!, BETA!, GAMMA!];

const HIDING = { epsilon: 0.1, delta: 1e-9 };
export const LEGIONS: LiquidLegionsConfig = {
  ...{ workers: [ALPHA!, BETA!], aggregator: GAMMA!, noiseMechanism: 'DISCRETE_GAUSSIAN' },
  ...{ decayRate: 3, maxSize: 40 },
  ...{ histogramPrivacyParams: HIDING, publisherPrivacyParams: HIDING },
};
export const FREQUENCY_LEGIONS: LiquidLegionsConfig = {
  ...LEGIONS,
  ...{ samplingIndicatorSize: 1000, maximumFrequency: 10 },
};

/** The duchies' ElGamal keys, which a `DuchyWorld` does not contain. */
export interface RingKeys {
  keys: Record<string, ElGamalKeyPair>;
  signed: Record<string, SignedMessage>;
}

export async function createRingKeys(world: DuchyWorld): Promise<RingKeys> {
  const random = new Keystream(new Uint8Array(48).fill(5));
  const keys = Object.fromEntries(RING.map((duchy) => [duchy, newKeyPair(random)]));
  const signed = RING.map((duchy) => [duchy, signKey(keys[duchy]!, world.duchies[duchy]!)]);
  return { keys, signed: Object.fromEntries(signed) };
}

/**
 * Returns a placeholder for a signed key. When the requisition is complete, the key is signed and bound to the duchy,
 * the computation, and the terms of the requisition. `changes` replaces parts of this binding, so that the key is bound
 * to something else.
 */
export function signKey(
  pair: ElGamalKeyPair,
  by: Identity,
  changes: Partial<KeyContext> = {},
): SignedMessage {
  return signedBy(by, (context) => publishedKey(pair, { ...context, ...changes }));
}

export function entriesOf(
  signed: Record<string, SignedMessage>,
  protocol: LiquidLegionsProtocol,
): Record<string, DuchyEntry> {
  const entries = Object.entries(signed).map(([duchy, elGamalPublicKey]) => [
    duchy,
    { duchyCertificate: `${duchy}/certificates/c1`, [protocol]: { elGamalPublicKey } },
  ]);
  return Object.fromEntries(entries);
}

/** The differences from a valid requisition. */
export interface SpoiledLegions extends Draft {
  /** The default is reachOnlyLiquidLegionsV2. */
  protocol?: LiquidLegionsProtocol;
  config?: Partial<LiquidLegionsConfig>;
  signed?: Record<string, SignedMessage>;
  entries?: Record<string, DuchyEntry>;
  fulfillingDuchy?: string | undefined;
  settings?: Partial<LiquidLegionsSettings> | 'none';
  certificates?: Record<string, Certificate | undefined>;
}

/** Returns the part of a requisition that is about a computation on sketches. */
export function relayedLegions(ring: RingKeys, spoiled: SpoiledLegions = {}): Partial<Requisition> {
  const { protocol = 'reachOnlyLiquidLegionsV2', config } = spoiled;
  const usual = protocol === 'liquidLegionsV2' ? FREQUENCY_LEGIONS : LEGIONS;
  const fulfillingDuchy = 'fulfillingDuchy' in spoiled ? spoiled.fulfillingDuchy : ALPHA;
  return {
    protocolConfig: { [protocol]: { ...usual, ...config } },
    duchies: spoiled.entries ?? entriesOf({ ...ring.signed, ...spoiled.signed }, protocol),
    ...(fulfillingDuchy !== undefined && { fulfillingDuchy }),
    ...spoiled.relayed,
  };
}

export interface LegionsWorld extends DuchyWorld {
  ring: RingKeys;
}

export async function createLegionsWorld(): Promise<LegionsWorld> {
  const world = await createDuchyWorld();
  return { ...world, ring: await createRingKeys(world) };
}

/** Returns the draft of a requisition, and the context in which the provider verifies the requisition. */
export async function spoiledLegions(world: LegionsWorld, spoiled: SpoiledLegions = {}) {
  const { protocol: _, config: _config, signed: _signed, entries: _entries, settings, ...rest } = spoiled;
  const relayed = relayedLegions(world.ring, spoiled);
  const made = await spoiledComputation(world, {
    ...{ ...rest, relayed, settings: 'none', fulfillingDuchy: undefined },
  });
  const { duchies, ...accepted } = {
    duchies: world.settings.duchies,
    ...(settings === 'none' ? {} : settings),
  };
  const liquidLegions = { ...accepted, duchies: createDuchyTrust(duchies) };
  return { ...made, context: { ...made.context, ...(settings !== 'none' && { liquidLegions }) } };
}
