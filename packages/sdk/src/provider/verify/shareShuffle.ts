/**
 * Verifies a computation on shares before the provider makes its share. The provider must accept all duchies. The
 * workers must have made their keys for this computation, and for the same measurement spec and protocol settings that
 * the provider received. The parameters must protect the data well enough.
 */
import {
  ENCRYPTION_KEY_PURPOSE,
  readPublicKeyset,
  requireBinding,
  unpackBoundPublicKey,
} from '@measurement-exchange/consent';
import {
  equalBytes,
  liquidLegionsOf,
  type PlainSpec,
  type Population,
  type Requisition,
  type ShareShuffleConfig,
  sampledRegisters,
  type VidRange,
} from '@measurement-exchange/contract';
import { populationFingerprint as fingerprintOf, isPrime } from '@measurement-exchange/mpc/shares';
import { RefusalError } from '../../refusals/refusalError.ts';
import {
  type AgreedTerms,
  type DuchyContext,
  fingerprintIn,
  fulfillingWorker,
  privacyParamsOf,
  publishedKey,
  requireEntries,
  requireKnownDuchies,
  requireNoise,
  signedKey,
  termsOf,
  type VerifiedComputation,
} from './duchies.ts';
import { ACCEPTED_NOISE, type DuchyTrust, type ShareShuffleSettings } from './duchySettings.ts';
import { outOfRange } from './limits.ts';
import { found } from './selection.ts';

/** The provider's conditions for accepting a computation, and a function that reads populations. */
export interface ShareShuffleContext extends Pick<ShareShuffleSettings, 'populations' | 'noiseMechanisms'> {
  duchies: DuchyTrust;
  fetchPopulation(name: string): Promise<Population>;
}

/** A computation that passed every check. */
export interface VerifiedShareShuffle extends VerifiedComputation {
  config: ShareShuffleConfig;
  /** The VID ranges of the population, disjoint and in ascending order. */
  vidRanges: readonly VidRange[];
  /** The fulfilling duchy's keyset, which encrypts the share. */
  fulfillingKeyset: Uint8Array;
  /** The worker that does not receive the upload. */
  peer: string;
  /** The peer's keyset, which encrypts the seed. */
  peerKeyset: Uint8Array;
}

/** Whether the requisition must wait until the duchies of its computation have published their keys. */
export function awaitsDuchies({ protocolConfig = {}, duchies }: Requisition): boolean {
  const isComputed = protocolConfig.honestMajorityShareShuffle ?? liquidLegionsOf(protocolConfig);
  return isComputed !== undefined && duchies === undefined;
}

export async function verifyShareShuffle(
  requisition: Requisition,
  config: ShareShuffleConfig,
  spec: PlainSpec,
  context: ShareShuffleContext & DuchyContext,
): Promise<VerifiedShareShuffle> {
  const roles = (['firstWorker', 'secondWorker', 'aggregator'] as const).map((role) => ({
    ...{ duchy: config[role], role, at: placeOf(role) },
  }));
  requireKnownDuchies(roles, context.duchies);
  const { noiseMechanisms = ACCEPTED_NOISE } = context;
  requireNoise(config.noiseMechanism, noiseMechanisms, privacyParamsOf(spec), placeOf('noiseMechanism'));
  requireModulus(config, spec);
  const { firstWorker, secondWorker } = config;
  requireEntries(requisition, [firstWorker, secondWorker]);
  const fulfillingDuchy = fulfillingWorker(requisition, [firstWorker, secondWorker]);
  const peer = fulfillingDuchy === firstWorker ? secondWorker : firstWorker;
  const keys = [
    await publishedKey(requisition, fulfillingDuchy, KEY, context),
    await publishedKey(requisition, peer, KEY, context),
  ] as const;
  const { binding } = await signedKey(...keys[0], unpackBoundPublicKey);
  const terms = await termsOf(requisition, spec, binding);
  const [fulfillingKeyset, peerKeyset] = [
    await signedKey(...keys[0], (message) => readKeyset(message, fulfillingDuchy, terms)),
    await signedKey(...keys[1], (message) => readKeyset(message, peer, terms)),
  ];
  const vidRanges = await knownPopulation(config, context);
  requireRegisters(spec, vidRanges);
  const fingerprint = await fingerprintIn(requisition);
  return { config, fingerprint, vidRanges, ...terms, fulfillingDuchy, fulfillingKeyset, peer, peerKeyset };
}

const KEY: Parameters<typeof publishedKey>[2] = ['honestMajorityShareShuffle', 'publicKey'];
const placeOf = (member: keyof ShareShuffleConfig) =>
  `protocolConfig.honestMajorityShareShuffle.${member}` as const;

/**
 * Requires a suitable ring modulus. For reach and frequency, the sum of a person's frequencies must stay below the
 * largest value of the ring, because that value marks noise. For reach, the sum is at most the number of providers, and
 * must not wrap around to 0. The modulus for reach must also be prime, because otherwise multiplying a sum by a random
 * value would not hide the sum.
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

async function readKeyset(message: Uint8Array, duchy: string, terms: AgreedTerms): Promise<Uint8Array> {
  const { keyset, binding } = unpackBoundPublicKey(message);
  const expected = { purpose: ENCRYPTION_KEY_PURPOSE, duchy, ...terms };
  requireBinding(`The key of ${duchy}`, binding, expected);
  await readPublicKeyset(keyset);
  return keyset;
}

/**
 * Reads the population's VID ranges. Throws a refusal if their fingerprint differs from the one in the protocol's
 * config, or if the provider's settings do not list that fingerprint.
 */
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
