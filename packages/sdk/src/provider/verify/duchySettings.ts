/** Which duchies may compute with what a provider uploads, with which protocols and noise: the provider decides. */
import { createTrustStore, type TrustStore } from '@measurement-exchange/consent';
import type { LiquidLegionsProtocol, MpcNoiseMechanism } from '@measurement-exchange/contract';

/** The computations by duchies that a provider accepts, whatever the exchange says. */
export interface ComputationSettings {
  /** The duchies that may take part, by resource name: `duchies/alpha`. Run by different operators, or they protect nothing. */
  duchies: Readonly<Record<string, DuchySettings>>;
  /** The noise of duchies that is enough. */
  noiseMechanisms?: readonly MpcNoiseMechanism[];
  /** A folder for what no duchy has taken yet; for share-shuffle also for the order of each population's VIDs. */
  folder: string;
  /** Whether duchies may be reached without TLS, and at private addresses. In development only. */
  allowHttp?: boolean;
  /** How long an upload may take; each 256 KB of it have a second more. Default 60. */
  uploadTimeoutSeconds?: number;
}

/**
 * The computations with HonestMajorityShareShuffle that a provider accepts. By default every noise but `NONE` is enough.
 */
export interface ShareShuffleSettings extends ComputationSettings {
  /** SHA-256 fingerprints of the populations that the provider's VIDs are of. `unchecked` in development only. */
  populations: readonly Uint8Array[] | 'unchecked';
}

/**
 * The computations with Liquid Legions protocols that a provider accepts; they need no common population. By default only
 * `DISCRETE_GAUSSIAN` noise is enough: the aggregator adds noise too and knows its part, and geometric noise without a part
 * promises nothing.
 */
export interface LiquidLegionsSettings extends ComputationSettings {
  /** Default: both. */
  protocols?: readonly LiquidLegionsProtocol[];
}

/** The facts about a duchy that its operator gave to the provider. */
export interface DuchySettings {
  /** Its root certificates, in PEM. */
  rootPem: string;
  /** Where it takes uploads, which may be a private address; else what the exchange says, if it is public. */
  endpoint?: string;
}

export const ACCEPTED_NOISE: readonly MpcNoiseMechanism[] = ['DISCRETE_GAUSSIAN', 'GEOMETRIC'];
export const ACCEPTED_LEGIONS_NOISE: readonly MpcNoiseMechanism[] = ['DISCRETE_GAUSSIAN'];
export const LEGIONS_PROTOCOLS: readonly LiquidLegionsProtocol[] = [
  'reachOnlyLiquidLegionsV2',
  'liquidLegionsV2',
];

/** The roots that are trusted for the certificates of each duchy. */
export type DuchyTrust = ReadonlyMap<string, TrustStore>;

/** Throws ConsentError where a root is not one. Where duchies share a root, each certificate has to name its duchy. */
export function createDuchyTrust(duchies: ComputationSettings['duchies']): DuchyTrust {
  const roots = Object.entries(duchies).map(([party, { rootPem: pem }]) => ({ party, pem }));
  const trust = createTrustStore(roots);
  return new Map(roots.map(({ party }) => [party, trust]));
}
