/** Requisitions of computations on encrypted sketches, as the exchange relays them, and spoiled in any place. */
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

/** The ring: Alpha, which takes the upload, Beta, and Gamma, which aggregates. */
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

/** What is in no world of share-shuffle: a key of each duchy. */
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

/** A key that is made for the requisition that shows it, or for something else. */
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

/** What is not as usual. */
export interface SpoiledLegions extends Draft {
  /** By default reachOnlyLiquidLegionsV2, or liquidLegionsV2 for a frequency spec. */
  protocol?: LiquidLegionsProtocol;
  config?: Partial<LiquidLegionsConfig>;
  signed?: Record<string, SignedMessage>;
  entries?: Record<string, DuchyEntry>;
  fulfillingDuchy?: string | undefined;
  settings?: Partial<LiquidLegionsSettings> | 'none';
  certificates?: Record<string, Certificate | undefined>;
}

/** What the exchange relays of a computation on sketches. */
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

/** The requisition, and what an exchange and the provider's settings say. */
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
