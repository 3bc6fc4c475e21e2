/**
 * Verifies what the exchange says about a computation on shares, before any share is made: that the duchies are the ones
 * the provider knows, that the key is of the duchy it is said to be of, and that the parameters hide what they should.
 */
import {
  readPublicKeyset,
  requisitionFingerprint,
  unpackEncryptionPublicKey,
  verifySignature,
} from '@measurement-exchange/consent';
import {
  equalBytes,
  liquidLegionsOf,
  type PlainSpec,
  type Population,
  type Requisition,
  type ShareShuffleConfig,
  type SignedMessage,
  sampledRegisters,
  type VidRange,
} from '@measurement-exchange/contract';
import { refuseOnConsentError } from '../consentRefusal.ts';
import { outOfRange } from '../limits.ts';
import { RefusalError } from '../refusalError.ts';
import { found } from '../selection.ts';
import { populationFingerprint as fingerprintOf, isPrime } from '../shareShuffle/index.ts';
import {
  type DuchyContext,
  duchyCertificate,
  privacyParamsOf,
  requireEntries,
  requireKnownDuchies,
  requireNoise,
} from './duchies.ts';
import { ACCEPTED_NOISE, type DuchyTrust, type ShareShuffleSettings } from './settings.ts';

/** What the provider accepts, and how to read populations. */
export interface ShareShuffleContext extends Pick<ShareShuffleSettings, 'populations' | 'noiseMechanisms'> {
  duchies: DuchyTrust;
  fetchPopulation(name: string): Promise<Population>;
}

type Context = ShareShuffleContext & DuchyContext;

/** A computation that passed every check. */
export interface VerifiedShareShuffle {
  config: ShareShuffleConfig;
  /** Of the signed specification and the encrypted one. */
  fingerprint: Uint8Array;
  /** Of the population, disjoint and in ascending order. */
  vidRanges: readonly VidRange[];
  /** The duchy that takes the upload. */
  fulfillingDuchy: string;
  /** The keyset of the other worker, for which the seed is encrypted. */
  peerKeyset: Uint8Array;
}

/** Whether the duchies of a multi-party computation have not said yet what a provider needs: the requisition waits. */
export function awaitsDuchies({ protocolConfig = {}, duchies }: Requisition): boolean {
  const isComputed = protocolConfig.honestMajorityShareShuffle ?? liquidLegionsOf(protocolConfig);
  return isComputed !== undefined && duchies === undefined;
}

export async function verifyShareShuffle(
  requisition: Requisition,
  config: ShareShuffleConfig,
  spec: PlainSpec,
  context: Context,
): Promise<VerifiedShareShuffle> {
  const roles = (['firstWorker', 'secondWorker', 'aggregator'] as const).map((role) => ({
    ...{ duchy: config[role], role, at: placeOf(role) },
  }));
  requireKnownDuchies(roles, context.duchies);
  const { noiseMechanisms = ACCEPTED_NOISE } = context;
  requireNoise(config.noiseMechanism, noiseMechanisms, privacyParamsOf(spec), placeOf('noiseMechanism'));
  requireModulus(config, spec);
  const { fulfillingDuchy, peer, publicKey } = workersOf(requisition, config);
  const entries = requisition.duchies!;
  await duchyCertificate(fulfillingDuchy, entries[fulfillingDuchy]!.duchyCertificate, context);
  const certificate = await duchyCertificate(peer, entries[peer]!.duchyCertificate, context);
  const signed = verifySignature(publicKey, certificate).then(() => readKeyset(publicKey));
  const peerKeyset = await refuseOnConsentError('DUCHY_KEY_INVALID', 'duchies', signed);
  const vidRanges = await knownPopulation(config, context);
  requireRegisters(spec, vidRanges);
  // requireAddressedTo has checked that both are present.
  const fingerprint = await requisitionFingerprint(
    requisition.measurementSpec!.message,
    requisition.encryptedRequisitionSpec!.ciphertext,
  );
  return { config, fingerprint, vidRanges, fulfillingDuchy, peerKeyset };
}

const placeOf = (member: keyof ShareShuffleConfig) =>
  `protocolConfig.honestMajorityShareShuffle.${member}` as const;

/**
 * A sum of frequencies must not go round the ring, nor reach its last value, which marks noise. For reach a sum other
 * than 0 is multiplied by a random value, which hides it only where every value has an inverse.
 */
function requireModulus({ ringModulus }: ShareShuffleConfig, spec: PlainSpec): void {
  const { length: providers } = spec.nonceHashes;
  const enough =
    spec.measurementType === 'REACH_AND_FREQUENCY'
      ? ringModulus > spec.reachAndFrequency.maximumFrequency * providers + 1
      : ringModulus > providers && isPrime(ringModulus);
  if (enough) return;
  const message = `The ring modulus ${ringModulus} does not fit ${spec.measurementType} of ${providers} providers.`;
  throw new RefusalError('PROTOCOL_INVALID', message, { at: placeOf('ringModulus') });
}

/** One of the two workers takes the upload; the key of the other one is there. */
function workersOf(requisition: Requisition, { firstWorker, secondWorker }: ShareShuffleConfig) {
  const { duchies = {}, fulfillingDuchy } = requisition;
  const invalid = (message: string, at: 'duchies' | 'fulfillingDuchy' = 'duchies') =>
    new RefusalError('DUCHIES_INVALID', message, { at });
  const names = [firstWorker, secondWorker];
  requireEntries(requisition, names);
  const keyOf = (duchy: string): SignedMessage | undefined =>
    duchies[duchy]!.honestMajorityShareShuffle?.publicKey;
  const [peer, ...others] = names.filter((duchy) => keyOf(duchy) !== undefined);
  if (peer === undefined || others.length > 0) {
    throw invalid(`${others.length === 0 ? 'No worker has' : 'Both workers have'} a publicKey.`);
  }
  const taking = peer === firstWorker ? secondWorker : firstWorker;
  if (fulfillingDuchy !== taking) {
    throw invalid(
      `fulfillingDuchy is ${fulfillingDuchy}, and ${taking} has no publicKey.`,
      'fulfillingDuchy',
    );
  }
  return { fulfillingDuchy: taking, peer, publicKey: keyOf(peer)! };
}

async function readKeyset({ message }: SignedMessage): Promise<Uint8Array> {
  const keyset = unpackEncryptionPublicKey(message);
  await readPublicKeyset(keyset);
  return keyset;
}

/** The people of the population: what the exchange has, what it said when it chose, and what the provider agreed to. */
async function knownPopulation(
  { population: name, populationFingerprint }: ShareShuffleConfig,
  { populations, fetchPopulation }: ShareShuffleContext,
): Promise<readonly VidRange[]> {
  const at = placeOf('population');
  if (populations !== 'unchecked' && !populations.some((own) => equalBytes(own, populationFingerprint))) {
    const message = `${name} has a fingerprint that the settings do not list.`;
    throw new RefusalError('POPULATION_NOT_ACCEPTED', message, { at });
  }
  const absent = new RefusalError('POPULATION_MISMATCH', `${name} does not exist.`, { at });
  const { vidRanges } = await found(fetchPopulation(name), 'POPULATION_NOT_FOUND', absent);
  const ranges = vidRanges.toSorted((a, b) => a.start - b.start);
  const disjoint = ranges.every(({ start, end }, i) => start <= end && start > (ranges[i - 1]?.end ?? 0));
  if (!disjoint || !equalBytes(fingerprintOf(ranges), populationFingerprint)) {
    throw new RefusalError('POPULATION_MISMATCH', `${name} has other people than its fingerprint.`, { at });
  }
  return ranges;
}

function requireRegisters({ vidSamplingInterval }: PlainSpec, ranges: readonly VidRange[]): void {
  const size = ranges.reduce((sum, { start, end }) => sum + end - start + 1, 0);
  // measurementSpecViolations has checked that the interval is present.
  if (sampledRegisters(size, vidSamplingInterval!).count > 0) return;
  throw outOfRange('vidSamplingInterval', `has nobody of the ${size} people of the population`);
}
