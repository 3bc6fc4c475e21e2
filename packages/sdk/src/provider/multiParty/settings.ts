/** Which duchies may compute with a provider's shares, on which people, with which noise: the provider decides. */
import { createTrustStore, type TrustStore } from '@measurement-exchange/consent';
import type { MpcNoiseMechanism } from '@measurement-exchange/contract';

/** What a provider accepts of HonestMajorityShareShuffle, whatever the exchange says. */
export interface ShareShuffleSettings {
  /** The duchies that may take part, by resource name: `duchies/alpha`. Run by different operators, or they protect nothing. */
  duchies: Readonly<Record<string, DuchySettings>>;
  /** SHA-256 fingerprints of the populations that the provider's VIDs are of. `unchecked` in development only. */
  populations: readonly Uint8Array[] | 'unchecked';
  /** The noise of duchies that is enough. By default every mechanism but `NONE`. */
  noiseMechanisms?: readonly MpcNoiseMechanism[];
  /** A folder for the order of each population's VIDs, and for shares that no duchy has taken yet. */
  folder: string;
  /** Whether duchies may be reached without TLS. In development only. */
  allowHttp?: boolean;
  /** How long an upload may take; each 256 KB of it have a second more. Default 60. */
  uploadTimeoutSeconds?: number;
}

/** What a provider knows of a duchy from its operator. */
export interface DuchySettings {
  /** Its root certificates, in PEM. */
  rootPem: string;
  /** Where it takes uploads; else what the exchange says. */
  endpoint?: string;
}

export const ACCEPTED_NOISE: readonly MpcNoiseMechanism[] = ['DISCRETE_GAUSSIAN', 'GEOMETRIC'];

/** Who may vouch for the certificates of each duchy. */
export type DuchyTrust = ReadonlyMap<string, TrustStore>;

/** Throws ConsentError where a root is not one. Of duchies that share a root, each certificate has to name its duchy. */
export function createDuchyTrust(duchies: ShareShuffleSettings['duchies']): DuchyTrust {
  const roots = Object.entries(duchies).map(([party, { rootPem: pem }]) => ({ party, pem }));
  const trust = createTrustStore(roots);
  return new Map(roots.map(({ party }) => [party, trust]));
}
