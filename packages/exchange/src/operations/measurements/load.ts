/** Loads the rows that new measurements refer to, and meanwhile verifies the signatures of the measurement specs. */
import { isSignedBy, type X509 } from '@measurement-exchange/consent';
import type { Measurement, MeasurementInput, Timestamp } from '@measurement-exchange/contract';
import { LRUCache } from 'lru-cache';
import { lockCertificatesForShare } from '../../database/certificates.ts';
import type { Transaction } from '../../database/db.ts';
import { findByRequestIds } from '../../database/measurements.ts';
import { getParties } from '../../database/parties.ts';
import { populationOfMeasurement } from '../../database/populations.ts';
import { rootsForParties } from '../../database/trustedRoots.ts';
import { measurementName } from '../../domain/aggregate.ts';
import { certificateName } from '../../domain/certificate.ts';
import type { Draft } from '../../domain/draft.ts';
import type { NewMeasurementFacts } from '../../domain/newMeasurement.ts';
import { requireSameContent } from '../idempotency.ts';
import { type StoredRoot, storedCertificate, trustCheck } from '../trust.ts';
import { readMeasurement } from './get.ts';
import type { DraftedPart } from './parts.ts';

type DraftFacts = Pick<
  NewMeasurementFacts,
  'parties' | 'certificates' | 'population' | 'isSpecSigned' | 'untrusted'
>;

/**
 * A requested measurement. If an earlier request with the same ID already created it, `existing` is that measurement.
 * Otherwise, `decideMeasurement` creates it from `facts`.
 */
type LoadedPart = DraftedPart & ({ existing: Measurement } | { facts: DraftFacts });

/** Loads the facts for each new measurement, and the measurements that earlier requests with the same IDs created. */
export async function loadParts(
  tx: Transaction,
  consumer: string,
  parts: DraftedPart[],
  clock: () => Timestamp,
): Promise<{ now: Timestamp; loaded: LoadedPart[] }> {
  const specChecks = parts.map(({ draft }) => verifySpec(draft.input));
  const { earlier, parties, certificates, roots, populations } = await loadRows(tx, consumer, parts);
  // Read the clock after locking the certificates, so that `now` is later than every hold that was committed before the
  // lock.
  const now = clock();
  const { untrusted, areSpecsSigned } = await gatherConsent(specChecks, certificates, roots, now);
  const loaded = parts.map(async (part, i): Promise<LoadedPart> => {
    const { draft, key } = part;
    const found = key && earlier.get(key.id);
    if (found !== undefined) {
      requireSameContent(found.hash, key!.hash, key!.id, measurementName({ consumer, id: found.id }));
      return { ...part, existing: await readMeasurement(tx, consumer, found.id) };
    }
    const population = draft.needsPopulation ? populations.get(draft.candidate.spec!.modelLine) : undefined;
    return {
      ...part,
      facts: { parties, certificates, untrusted, isSpecSigned: areSpecsSigned[i]!, population },
    };
  });
  return { now, loaded: await Promise.all(loaded) };
}

/** Loads all rows that the requested measurements need, in one round trip. Locks certificates against revocation. */
async function loadRows(tx: Transaction, consumer: string, parts: DraftedPart[]) {
  const drafts = parts.map(({ draft }) => draft);
  const requestIds = parts.flatMap(({ key }) => key?.id ?? []);
  const dataProviders = unique(drafts.flatMap((draft) => draft.dataProviders));
  const modelLines = unique(
    drafts.filter(({ needsPopulation }) => needsPopulation).map(({ candidate }) => candidate.spec!.modelLine),
  );
  const [earlier, parties, certificates, roots, ...populations] = await Promise.all([
    requestIds.length === 0 ? new Map<string, never>() : findByRequestIds(tx, consumer, requestIds),
    getParties(tx, unique([...dataProviders, ...drafts.flatMap(({ duchies }) => duchies)])),
    lockCertificatesForShare(tx, certificatesOf(drafts)),
    rootsForParties(tx, [consumer, ...dataProviders]),
    ...modelLines.map((modelLine) => populationOfMeasurement(tx, modelLine)),
  ]);
  const byModelLine = new Map(modelLines.map((modelLine, i) => [modelLine, populations[i]]));
  return { earlier, parties, certificates, roots, populations: byModelLine };
}

function certificatesOf(drafts: Draft[]): { party: string; id: string }[] {
  const all = drafts.flatMap(({ certificates }) => certificates);
  return [...new Map(all.map((named) => [certificateName(named.party, named.id), named])).values()];
}

function unique<T>(values: T[]): T[] {
  return [...new Set(values)];
}

type Certificates = ReadonlyMap<string, { party: string; x509Der: Uint8Array }>;
type SpecCheck = (certificates: Certificates) => Promise<boolean>;

/** Checks which certificates are trusted, and which specs are signed. */
export async function gatherConsent(
  specChecks: SpecCheck[],
  certificates: Certificates,
  roots: readonly StoredRoot[],
  now: Timestamp,
): Promise<{ untrusted: DraftFacts['untrusted']; areSpecsSigned: boolean[] }> {
  const whyUntrusted = trustCheck(roots, now);
  const [areSpecsSigned, untrusted] = await Promise.all([
    Promise.all(specChecks.map((isSpecSigned) => isSpecSigned(certificates))),
    Promise.all(
      [...certificates].map(async ([name, certificate]) => [name, await whyUntrusted(certificate)] as const),
    ),
  ]);
  return { untrusted: new Map(untrusted), areSpecsSigned };
}

const signers = new LRUCache<string, X509>({ max: 2_000 });

/**
 * Starts to verify the signature with the cached certificate while the stored certificate is being loaded. The returned
 * function uses this result only if both certificates are the same, and otherwise verifies the signature again.
 */
export function verifySpec(input: MeasurementInput): SpecCheck {
  const { measurementConsumerCertificate: name, measurementSpec: spec } = input;
  const expected = signers.get(name);
  const ahead = expected && isSignedBy(spec, expected);
  return async (certificates) => {
    const own = certificates.get(name);
    const signer = own && storedCertificate(own.x509Der);
    if (signer === undefined) return false;
    if (signer === expected) return ahead!;
    signers.set(name, signer);
    return isSignedBy(spec, signer);
  };
}
