/** Settings for the duchies, protocols, and noise that a provider accepts. */
import { createTrustStore, type TrustStore } from '@measurement-exchange/consent';
import type { LiquidLegionsProtocol, MpcNoiseMechanism } from '@measurement-exchange/contract';

/** Settings for the computations that a provider accepts. The exchange cannot change these settings. */
export interface ComputationSettings {
  /**
   * The accepted duchies by resource name, such as `duchies/alpha`. Privacy requires that each duchy has a different
   * operator.
   */
  duchies: Readonly<Record<string, DuchySettings>>;
  noiseMechanisms?: readonly MpcNoiseMechanism[];
  /**
   * A folder for uploads that no duchy has stored yet. For share shuffle, the folder also stores the order of each
   * population's VIDs, which determines each VID's register.
   */
  folder: string;
  /**
   * Whether the provider is allowed to reach duchies without TLS and at private addresses. Use this only in
   * development.
   */
  allowHttp?: boolean;
  /** The base timeout of an upload. Each 256 KB of data adds a second to this time. Default: 60. */
  uploadTimeoutSeconds?: number;
}

/**
 * The HonestMajorityShareShuffle computations that a provider accepts. By default, any noise except `NONE` is accepted.
 */
export interface ShareShuffleSettings extends ComputationSettings {
  /**
   * SHA-256 fingerprints of the populations that the provider's VIDs belong to. Use `unchecked` only in development.
   */
  populations: readonly Uint8Array[] | 'unchecked';
}

/**
 * The Liquid Legions computations that a provider accepts. By default, only `DISCRETE_GAUSSIAN` noise is accepted. With
 * geometric noise, the aggregator could subtract its own part of the noise, and the other parts alone do not guarantee
 * privacy.
 */
export interface LiquidLegionsSettings extends ComputationSettings {
  /** The accepted protocols. Default: both Liquid Legions protocols. */
  protocols?: readonly LiquidLegionsProtocol[];
}

/** A duchy's settings, which the provider gets from the duchy's operator. */
export interface DuchySettings {
  /** The duchy's root certificates, in PEM. */
  rootPem: string;
  /**
   * The endpoint for uploads. A private address is allowed. Default: the endpoint from the exchange, which must have a
   * public address unless `allowHttp` is true.
   */
  endpoint?: string;
}

export const ACCEPTED_NOISE: readonly MpcNoiseMechanism[] = ['DISCRETE_GAUSSIAN', 'GEOMETRIC'];
export const ACCEPTED_LEGIONS_NOISE: readonly MpcNoiseMechanism[] = ['DISCRETE_GAUSSIAN'];
export const LEGIONS_PROTOCOLS: readonly LiquidLegionsProtocol[] = [
  'reachOnlyLiquidLegionsV2',
  'liquidLegionsV2',
];

/** The trusted roots for each duchy's certificates. */
export type DuchyTrust = ReadonlyMap<string, TrustStore>;

/**
 * Returns the trusted roots of the duchies. Throws ConsentError if a root is invalid. If duchies share a root, each
 * certificate must contain its duchy's name.
 */
export function createDuchyTrust(duchies: ComputationSettings['duchies']): DuchyTrust {
  const roots = Object.entries(duchies).map(([party, { rootPem: pem }]) => ({ party, pem }));
  const trust = createTrustStore(roots);
  return new Map(roots.map(({ party }) => [party, trust]));
}
