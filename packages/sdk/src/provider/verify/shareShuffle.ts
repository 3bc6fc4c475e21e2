/**
 * Verifies what the exchange says about a computation on shares, before any share is made: that the duchies are the ones
 * the provider knows, that they made their keys for this computation under the same terms, and that the parameters hide
 * what they should.
 */
import {
  ENCRYPTION_KEY_PURPOSE,
  readPublicKeyset,
  requireBinding,
  requisitionFingerprint,
  unpackBoundPublicKey,
  type X509,
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
import { populationFingerprint as fingerprintOf, isPrime } from '@measurement-exchange/mpc/shares';
import { RefusalError } from '../../refusals/refusalError.ts';
import {
  type AgreedTerms,
  type DuchyContext,
  duchyCertificate,
  privacyParamsOf,
  requireEntries,
  requireKnownDuchies,
  requireNoise,
  signedKey,
  termsOf,
} from './duchies.ts';
import { ACCEPTED_NOISE, type DuchyTrust, type ShareShuffleSettings } from './duchySettings.ts';
import { outOfRange } from './limits.ts';
import { found } from './selection.ts';

/** The computations that the provider accepts, and how to read populations. */
export interface ShareShuffleContext extends Pick<ShareShuffleSettings, 'populations' | 'noiseMechanisms'> {
  duchies: DuchyTrust;
  fetchPopulation(name: string): Promise<Population>;
}

type Context = ShareShuffleContext & DuchyContext;

/** A computation that passed every check. */
export interface VerifiedShareShuffle extends AgreedTerms {
  config: ShareShuffleConfig;
  /** The fingerprint of the signed specification and the encrypted one. */
  fingerprint: Uint8Array;
  /** The VIDs of the population, disjoint and in ascending order. */
  vidRanges: readonly VidRange[];
  /** The duchy that takes the upload. */
  fulfillingDuchy: string;
  /** The keyset of the fulfilling duchy; the share is encrypted for it. */
  fulfillingKeyset: Uint8Array;
  /** The worker that does not take the upload. */
  peer: string;
  /** The keyset of the peer; the seed is encrypted for it. */
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
  const { fulfillingDuchy, peer } = workersOf(requisition, config);
  const keys = [
    await workerKey(requisition, fulfillingDuchy, context),
    await workerKey(requisition, peer, context),
  ] as const;
  const { binding } = await signedKey(...keys[0], unpackBoundPublicKey);
  const terms = await termsOf(requisition, spec, binding);
  const [fulfillingKeyset, peerKeyset] = [
    await signedKey(...keys[0], (message) => readKeyset(message, fulfillingDuchy, terms)),
    await signedKey(...keys[1], (message) => readKeyset(message, peer, terms)),
  ];
  const vidRanges = await knownPopulation(config, context);
  requireRegisters(spec, vidRanges);
  // requireAddressedTo has checked that both are present.
  const fingerprint = await requisitionFingerprint(
    requisition.measurementSpec!.message,
    requisition.encryptedRequisitionSpec!.ciphertext,
  );
  return { config, fingerprint, vidRanges, ...terms, fulfillingDuchy, fulfillingKeyset, peer, peerKeyset };
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

/** One of the two workers takes the upload, the other one gets a seed. */
function workersOf(requisition: Requisition, { firstWorker, secondWorker }: ShareShuffleConfig) {
  const { fulfillingDuchy } = requisition;
  requireEntries(requisition, [firstWorker, secondWorker]);
  if (fulfillingDuchy === firstWorker) return { fulfillingDuchy, peer: secondWorker };
  if (fulfillingDuchy === secondWorker) return { fulfillingDuchy, peer: firstWorker };
  const message = `fulfillingDuchy is ${fulfillingDuchy}, which is no worker.`;
  throw new RefusalError('DUCHIES_INVALID', message, { at: 'fulfillingDuchy' });
}

/** The key of a worker as it was published, and the certificate that has to have signed it. */
async function workerKey(
  { duchies = {} }: Requisition,
  duchy: string,
  context: Context,
): Promise<[SignedMessage, X509]> {
  const { duchyCertificate: name, honestMajorityShareShuffle } = duchies[duchy]!;
  const certificate = await duchyCertificate(duchy, name, context);
  const key = honestMajorityShareShuffle?.publicKey;
  if (key === undefined) {
    throw new RefusalError('DUCHIES_INVALID', `${duchy} has no publicKey.`, { at: 'duchies' });
  }
  return [key, certificate];
}

async function readKeyset(message: Uint8Array, duchy: string, terms: AgreedTerms): Promise<Uint8Array> {
  const { keyset, binding } = unpackBoundPublicKey(message);
  const expected = { purpose: ENCRYPTION_KEY_PURPOSE, duchy, ...terms };
  requireBinding(`The key of ${duchy}`, binding, expected);
  await readPublicKeyset(keyset);
  return keyset;
}

/** The VIDs of the population. Their fingerprint must be the one in the protocol, and one that the provider accepts. */
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
