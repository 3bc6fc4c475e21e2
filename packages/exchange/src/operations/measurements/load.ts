/** Loads the rows that a new measurement refers to, and verifies its signature at the same time. */
import { isSignedBy, type X509 } from '@measurement-exchange/consent';
import type { MeasurementInput, Timestamp } from '@measurement-exchange/contract';
import { LRUCache } from 'lru-cache';
import { lockCertificatesForShare } from '../../database/certificates.ts';
import type { Transaction } from '../../database/db.ts';
import { findByRequestId } from '../../database/measurements.ts';
import { getParties } from '../../database/parties.ts';
import { populationOfMeasurement } from '../../database/populations.ts';
import { rootsForParties } from '../../database/trustedRoots.ts';
import type { Draft, NewMeasurementFacts } from '../../domain/newMeasurement.ts';
import { storedCertificate, type TrustCheck, trustCheck } from '../trust.ts';

type Loaded = Pick<
  NewMeasurementFacts,
  'parties' | 'certificates' | 'population' | 'isSpecSigned' | 'untrusted'
>;

/** Loads all rows in one round trip. `earlier` is the measurement that an earlier request with the same ID created. */
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
    requestId === undefined ? undefined : findByRequestId(tx, consumer, requestId),
    getParties(tx, [...new Set([...dataProviders, ...duchies])]),
    lockCertificatesForShare(tx, named),
    rootsForParties(tx, [consumer, ...dataProviders]),
    needsPopulation ? populationOfMeasurement(tx, candidate.spec!.modelLine) : undefined,
  ]);
  if (earlier !== undefined) return { earlier };
  // Read the clock after acquiring the locks. The time is then later than any certificate hold already committed.
  const now = clock();
  const facts = await gatherConsent(input, certificates, isSpecSignedBy, trustCheck(roots, now));
  return { now, parties, certificates, population, ...facts };
}

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

type SpecCheck = (x509Der: Uint8Array | undefined) => Promise<boolean>;

const signers = new LRUCache<string, X509>({ max: 2_000 });

/**
 * Verification starts with the cached certificate, while the stored certificate is being loaded. This is safe, because
 * a certificate name always refers to the same certificate.
 */
export function verifySpec(input: MeasurementInput): SpecCheck {
  const { measurementConsumerCertificate: name, measurementSpec: spec } = input;
  const expected = signers.get(name);
  const ahead = expected && isSignedBy(spec, expected);
  return async (x509Der) => {
    const signer = x509Der && storedCertificate(x509Der);
    if (signer === undefined) return false;
    if (signer === expected) return ahead!;
    signers.set(name, signer);
    return isSignedBy(spec, signer);
  };
}
