/**
 * Verifies what the exchange says about a computation of duchies, before any share is made: that the duchies are the ones
 * the provider knows, that the key is of the duchy it is said to be of, and that the parameters hide what they should.
 */
import {
  readPublicKeyset,
  requisitionFingerprint,
  unpackEncryptionPublicKey,
  verifySignature,
} from '@measurement-exchange/consent';
import {
  type Certificate,
  equalBytes,
  type PlainSpec,
  type Population,
  type Requisition,
  type ShareShuffleConfig,
  type SignedMessage,
  sampledRegisters,
  type VidRange,
} from '@measurement-exchange/contract';
import { isNotYetValid, refuseOnConsentError } from '../consentRefusal.ts';
import { outOfRange } from '../limits.ts';
import { RefusalError } from '../refusalError.ts';
import { found } from '../selection.ts';
import { populationFingerprint as fingerprintOf, isPrime } from '../shareShuffle/index.ts';
import { ACCEPTED_NOISE, type DuchyTrust, type ShareShuffleSettings } from './settings.ts';

/** What the provider accepts, and how to read populations. */
export interface ShareShuffleContext extends Pick<ShareShuffleSettings, 'populations' | 'noiseMechanisms'> {
  duchies: DuchyTrust;
  fetchPopulation(name: string): Promise<Population>;
}

type Context = ShareShuffleContext & {
  fetchCertificate(name: string): Promise<Certificate>;
  now: Date;
};

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
export function awaitsDuchies({ protocolConfig, duchies }: Requisition): boolean {
  return protocolConfig?.honestMajorityShareShuffle !== undefined && duchies === undefined;
}

export async function verifyShareShuffle(
  requisition: Requisition,
  config: ShareShuffleConfig,
  spec: PlainSpec,
  context: Context,
): Promise<VerifiedShareShuffle> {
  requireKnownDuchies(config, context.duchies);
  requireNoise(config, spec, context);
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

/** Two of them together see what none of them may see alone, so each has to be another one, and one that is trusted. */
function requireKnownDuchies(config: ShareShuffleConfig, trusted: DuchyTrust): void {
  const roles = ['firstWorker', 'secondWorker', 'aggregator'] as const;
  for (const role of roles) {
    const duchy = config[role];
    const at = placeOf(role);
    if (roles.some((other) => other !== role && config[other] === duchy)) {
      throw new RefusalError('DUCHIES_INVALID', `${duchy} has two roles.`, { at });
    }
    if (!trusted.has(duchy)) {
      throw new RefusalError('DUCHY_UNKNOWN', `${duchy} (${role}) is not in the settings.`, { at });
    }
  }
}

function requireNoise(
  { noiseMechanism }: ShareShuffleConfig,
  spec: PlainSpec,
  { noiseMechanisms = ACCEPTED_NOISE }: ShareShuffleContext,
): void {
  if (!noiseMechanisms.includes(noiseMechanism)) {
    const message = `The duchies add ${noiseMechanism} noise, and ${noiseMechanisms.join(', ')} is accepted.`;
    throw new RefusalError('NOISE_NOT_ACCEPTED', message, { at: placeOf('noiseMechanism') });
  }
  const isBounded = privacyParamsOf(spec).every((params) => params!.delta > 0);
  if (noiseMechanism === 'NONE' || isBounded) return;
  throw new RefusalError('DELTA_REQUIRED', 'The noise of duchies is bounded, which needs a delta above 0.');
}

/** measurementSpecViolations has checked that the parameters are present. */
function privacyParamsOf(spec: PlainSpec) {
  switch (spec.measurementType) {
    case 'REACH':
      return [spec.reach.privacyParams];
    case 'REACH_AND_FREQUENCY':
      return [spec.reachAndFrequency.reachPrivacyParams, spec.reachAndFrequency.frequencyPrivacyParams];
    default:
      throw new RefusalError(
        'PROTOCOL_INVALID',
        `${spec.measurementType} cannot be computed from frequency vectors.`,
        { at: 'protocolConfig' },
      );
  }
}

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
  const names = Object.keys(duchies);
  if (names.length !== 2 || !names.includes(firstWorker) || !names.includes(secondWorker)) {
    throw invalid(`It has entries of ${names.join(', ')}: not of ${firstWorker} and ${secondWorker}.`);
  }
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

async function duchyCertificate(duchy: string, name: string, context: Context) {
  const invalid = (problem: string) =>
    new RefusalError('DUCHY_CERTIFICATE_INVALID', `${name} ${problem}.`, { at: 'duchies' });
  if (!name.startsWith(`${duchy}/certificates/`)) throw invalid(`is no certificate of ${duchy}`);
  const { x509Der, revocationState } = await found(
    context.fetchCertificate(name),
    'CERTIFICATE_NOT_FOUND',
    invalid('does not exist'),
  );
  if (revocationState) throw invalid(`is revoked (${revocationState})`);
  const trusted = context.duchies.get(duchy)!.verify(duchy, x509Der, context.now);
  return refuseOnConsentError('DUCHY_CERTIFICATE_INVALID', 'duchies', trusted, isNotYetValid);
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
