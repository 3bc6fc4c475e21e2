/** Loads the rows that a new measurement names, and verifies its signatures meanwhile. */
import { ConsentError, cachedCertificate, isSignedBy, type X509 } from '@measurement-exchange/consent';
import type { MeasurementInput, Timestamp } from '@measurement-exchange/contract';
import { LRUCache } from 'lru-cache';
import { lockCertificatesForShare } from '../../database/certificates.ts';
import type { Transaction } from '../../database/db.ts';
import { findByRequestId } from '../../database/measurements.ts';
import { getParties } from '../../database/parties.ts';
import { populationOfMeasurement } from '../../database/populations.ts';
import { rootsForParties } from '../../database/trustedRoots.ts';
import type { Draft, NewMeasurementFacts } from '../../domain/newMeasurement.ts';
import { type TrustCheck, trustCheck } from '../trust.ts';

type Loaded = Pick<
  NewMeasurementFacts,
  'parties' | 'certificates' | 'population' | 'isSpecSigned' | 'untrusted'
>;

/** In one round trip. `earlier` is the measurement that a request with the same ID created. */
export async function loadForDraft(
  tx: Transaction,
  { consumer, input, certificates: named, dataProviders, duchies, needsPopulation, candidate }: Draft,
  requestId: string | undefined,
  clock: () => Timestamp,
): Promise<
  { earlier: { id: string; hash: Uint8Array } } | ({ earlier?: undefined; now: Timestamp } & Loaded)
> {
  const isSpecSignedBy = verifySpec(input);
  const [earlier, parties, certificates, roots, population] = await Promise.all([
    findByRequestId(tx, consumer, requestId),
    getParties(tx, [...new Set([...dataProviders, ...duchies])]),
    lockCertificatesForShare(tx, named),
    rootsForParties(tx, [consumer, ...dataProviders]),
    needsPopulation ? populationOfMeasurement(tx, candidate.spec!.modelLine) : undefined,
  ]);
  if (earlier !== undefined) return { earlier };
  // After the locks: a certificate that was put on hold before has an earlier time.
  const now = clock();
  const facts = await gatherConsent(input, certificates, isSpecSignedBy, trustCheck(roots, now));
  return { now, parties, certificates, population, ...facts };
}

/** Verifies the signature of the spec, and the trust in every certificate that exists. */
export async function gatherConsent(
  { measurementConsumerCertificate: own }: MeasurementInput,
  certificates: ReadonlyMap<string, { party: string; x509Der: Uint8Array }>,
  isSpecSignedBy: SpecCheck,
  whyUntrusted: TrustCheck,
): Promise<Pick<NewMeasurementFacts, 'isSpecSigned' | 'untrusted'>> {
  const [isSpecSigned, ...untrusted] = await Promise.all([
    isSpecSignedBy(certificates.get(own)?.x509Der),
    ...[...certificates].map(async ([name, certificate]) => [name, await whyUntrusted(certificate)] as const),
  ]);
  return { isSpecSigned, untrusted: new Map(untrusted) };
}

/** Whether the key of a certificate (DER) signed the spec. */
type SpecCheck = (x509Der: Uint8Array | undefined) => Promise<boolean>;

/** The certificates that consumers signed with last, by name. */
const signers = new LRUCache<string, X509>({ max: 2_000 });

/**
 * Verifies the signature of the spec. The certificate behind a name never changes, so verification starts with the
 * certificate that was last used under this name, while the database is queried for the one that counts.
 */
export function verifySpec(input: MeasurementInput): SpecCheck {
  const { measurementConsumerCertificate: name, measurementSpec: spec } = input;
  const expected = signers.get(name);
  const ahead = expected && isSignedBy(spec, expected);
  return async (x509Der) => {
    const signer = x509Der && readable(x509Der);
    if (signer === undefined) return false;
    if (signer === expected) return ahead!;
    signers.set(name, signer);
    return isSignedBy(spec, signer);
  };
}

/** Undefined for a certificate that was registered before today's rules for reading certificates. */
function readable(x509Der: Uint8Array): X509 | undefined {
  try {
    return cachedCertificate(x509Der);
  } catch (error) {
    if (error instanceof ConsentError) return undefined;
    throw error;
  }
}
