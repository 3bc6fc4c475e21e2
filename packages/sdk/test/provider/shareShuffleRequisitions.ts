/**
 * Creates requisitions of share-shuffle computations, as the exchange passes them to a provider. Tests can alter any
 * part.
 */
import { createHash } from 'node:crypto';
import {
  type BindingFields,
  createEncryptionKeysets,
  ENCRYPTION_KEY_PURPOSE,
  type EncryptionKeysets,
  packEncryptionPublicKey,
} from '@measurement-exchange/consent';
import {
  type Certificate,
  type DuchyEntry,
  ExchangeError,
  type Population,
  populationBytes,
  type Requisition,
  type ShareShuffleConfig,
  type SignedMessage,
  type VidRange,
} from '@measurement-exchange/contract';
import { createIdentity, type Identity } from '../../src/identity/index.ts';
import { createDuchyTrust, type ShareShuffleSettings } from '../../src/provider/verify/duchySettings.ts';
import type { VerifyContext } from '../../src/provider/verify.ts';
import { signedBy, withSignedKeys } from './boundKeys.ts';
import { certificateOf, createWorld, type Draft, NOW, type World } from './requisitions.ts';

export const [ALPHA, BETA, GAMMA] = ['duchies/alpha', 'duchies/beta', 'duchies/gamma'];
const NAMES = [ALPHA, BETA, GAMMA];
export const POPULATION = 'populations/p1';

/** A world with three duchies: Alpha receives the upload, Beta receives a seed, Gamma aggregates. */
export interface DuchyWorld extends World {
  duchies: Record<string, Identity>;
  /** The keys of Alpha for this computation. */
  workerKeys: EncryptionKeysets;
  /** The keys of Beta. */
  peerKeys: EncryptionKeysets;
  certificates: Record<string, Certificate>;
  config: ShareShuffleConfig;
  entries: Record<string, DuchyEntry>;
  settings: Omit<ShareShuffleSettings, 'folder'>;
  /**
   * Returns a placeholder for a signed key. When the requisition is complete, the key is signed and bound to the duchy,
   * the computation, and the terms of the requisition. `changes` replaces parts of this binding, so that the key is
   * bound to something else.
   */
  signKey(keyset: Uint8Array, by: Identity, changes?: Partial<BindingFields>): SignedMessage;
}

export async function createDuchyWorld(vidRanges: VidRange[] = [{ start: 1, end: 10 }]): Promise<DuchyWorld> {
  const world = await createWorld();
  const identities = NAMES.map((party) => createIdentity({ party, commonName: party, now: NOW, days: 365 }));
  const duchies = Object.fromEntries((await Promise.all(identities)).map((duchy, i) => [NAMES[i]!, duchy]));
  const [workerKeys, peerKeys] = [await createEncryptionKeysets(), await createEncryptionKeysets()];
  const signKey: DuchyWorld['signKey'] = (keyset, by, changes) =>
    signedBy(by, (context) =>
      packEncryptionPublicKey(keyset, { purpose: ENCRYPTION_KEY_PURPOSE, ...context, ...changes }),
    );
  const entryOf = (duchy: string, { publicKeyset }: EncryptionKeysets): DuchyEntry => ({
    duchyCertificate: `${duchy}/certificates/c1`,
    honestMajorityShareShuffle: { publicKey: signKey(publicKeyset, duchies[duchy]!) },
  });
  const populationFingerprint = fingerprintOf(vidRanges);
  const rooted = NAMES.map((name) => [name, { rootPem: duchies[name]!.root.certificatePem }]);
  return {
    ...world,
    requisition: async (draft) => withSignedKeys(await world.requisition(draft)),
    duchies,
    workerKeys,
    peerKeys,
    signKey,
    certificates: Object.fromEntries(
      NAMES.map((name) => [`${name}/certificates/c1`, certificateOf(duchies[name]!)]),
    ),
    config: {
      firstWorker: ALPHA!,
      secondWorker: BETA!,
      aggregator: GAMMA!,
      noiseMechanism: 'DISCRETE_GAUSSIAN',
      ringModulus: 127,
      population: POPULATION,
      populationFingerprint,
    },
    entries: {
      [ALPHA!]: entryOf(ALPHA!, workerKeys),
      [BETA!]: entryOf(BETA!, peerKeys),
    },
    settings: { duchies: Object.fromEntries(rooted), populations: [populationFingerprint] },
  };
}

export function fingerprintOf(vidRanges: VidRange[]): Uint8Array {
  return new Uint8Array(createHash('sha256').update(populationBytes(vidRanges)).digest());
}

/** The differences from a valid requisition. */
export interface SpoiledComputation extends Draft {
  config?: Partial<ShareShuffleConfig>;
  entries?: Record<string, DuchyEntry>;
  fulfillingDuchy?: string | undefined;
  settings?: Partial<ShareShuffleSettings> | 'none';
  /** Replaces certificates at the exchange, by name. If a value is undefined, the certificate does not exist. */
  certificates?: Record<string, Certificate | undefined>;
  vidRanges?: VidRange[] | 'none';
  now?: number;
}

/** Returns the draft of a requisition, and the context in which the provider verifies the requisition. */
export async function spoiledComputation(world: DuchyWorld, spoiled: SpoiledComputation = {}) {
  const { config, entries, settings, certificates, vidRanges, now = NOW, ...draft } = spoiled;
  const fulfillingDuchy = 'fulfillingDuchy' in spoiled ? spoiled.fulfillingDuchy : ALPHA;
  const relayed: Partial<Requisition> = {
    protocolConfig: { honestMajorityShareShuffle: { ...world.config, ...config } },
    duchies: entries ?? world.entries,
    ...(fulfillingDuchy !== undefined && { fulfillingDuchy }),
    ...draft.relayed,
  };
  const known: Record<string, Certificate | undefined> = { ...world.certificates, ...certificates };
  const fetchCertificate = async (name: string): Promise<Certificate> => {
    if (!name.startsWith('duchies/')) return world.certificate;
    const certificate = known[name];
    if (certificate === undefined) throw new ExchangeError('CERTIFICATE_NOT_FOUND', 'No such certificate.');
    return certificate;
  };
  const fetchPopulation = async (name: string): Promise<Population> => {
    if (vidRanges === 'none') throw new ExchangeError('POPULATION_NOT_FOUND', 'No such population.');
    return { name, vidRanges: vidRanges ?? [{ start: 1, end: 10 }] };
  };
  const accepted = settings === 'none' ? undefined : { ...world.settings, ...settings };
  const context: Partial<VerifyContext> = {
    fetchCertificate,
    now: new Date(now),
    ...(accepted && {
      shareShuffle: { ...accepted, duchies: createDuchyTrust(accepted.duchies), fetchPopulation },
    }),
  };
  return { draft: { ...draft, relayed }, context, settings: accepted, fetchPopulation };
}
