/** The settings in which a provider decides which duchies, protocols and noise it accepts. */
import { createTrustStore, type TrustStore } from '@measurement-exchange/consent';
import type { LiquidLegionsProtocol, MpcNoiseMechanism } from '@measurement-exchange/contract';

/** The computations by duchies that a provider accepts; the exchange cannot change them. */
export interface ComputationSettings {
  /** The accepted duchies by resource name, such as `duchies/alpha`. Only different operators protect privacy. */
  duchies: Readonly<Record<string, DuchySettings>>;
  /** The accepted noise mechanisms of duchies. */
  noiseMechanisms?: readonly MpcNoiseMechanism[];
  /** A folder for uploads that no duchy has stored yet; for share-shuffle also for the order of each population's VIDs. */
  folder: string;
  /** Whether duchies may be reached without TLS and at private addresses. Use this in development only. */
  allowHttp?: boolean;
  /** The timeout of an empty upload, 60 by default; each 256 KB add a second. */
  uploadTimeoutSeconds?: number;
}

/** The computations with HonestMajorityShareShuffle that a provider accepts, by default with any noise except `NONE`. */
export interface ShareShuffleSettings extends ComputationSettings {
  /** SHA-256 fingerprints of the populations to which the provider's VIDs belong. Use `unchecked` in development only. */
  populations: readonly Uint8Array[] | 'unchecked';
}

/**
 * The computations with Liquid Legions protocols that a provider accepts; they need no common population. The default is
 * `DISCRETE_GAUSSIAN` noise only: the aggregator knows its part of the noise, and geometric noise without that part
 * guarantees nothing.
 */
export interface LiquidLegionsSettings extends ComputationSettings {
  /** Default: both protocols. */
  protocols?: readonly LiquidLegionsProtocol[];
}

/** The data about a duchy that its operator gave to the provider. */
export interface DuchySettings {
  /** The root certificates of the duchy, in PEM. */
  rootPem: string;
  /** The endpoint for uploads, which may have a private address; default: the one from the exchange, if it is public. */
  endpoint?: string;
}

export const ACCEPTED_NOISE: readonly MpcNoiseMechanism[] = ['DISCRETE_GAUSSIAN', 'GEOMETRIC'];
export const ACCEPTED_LEGIONS_NOISE: readonly MpcNoiseMechanism[] = ['DISCRETE_GAUSSIAN'];
export const LEGIONS_PROTOCOLS: readonly LiquidLegionsProtocol[] = [
  'reachOnlyLiquidLegionsV2',
  'liquidLegionsV2',
];

/** The trusted roots for the certificates of each duchy. */
export type DuchyTrust = ReadonlyMap<string, TrustStore>;

/** Throws ConsentError if a root is invalid. If duchies share a root, each certificate must contain the name of its duchy. */
export function createDuchyTrust(duchies: ComputationSettings['duchies']): DuchyTrust {
  const roots = Object.entries(duchies).map(([party, { rootPem: pem }]) => ({ party, pem }));
  const trust = createTrustStore(roots);
  return new Map(roots.map(({ party }) => [party, trust]));
}
