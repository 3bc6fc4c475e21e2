/** Loads the rows that new measurements refer to, and verifies their signatures at the same time. */
import { isSignedBy, type X509 } from '@measurement-exchange/consent';
import type { MeasurementInput, Timestamp } from '@measurement-exchange/contract';
import { LRUCache } from 'lru-cache';
import { lockCertificatesForShare } from '../../database/certificates.ts';
import type { Transaction } from '../../database/db.ts';
import { findByRequestIds } from '../../database/measurements.ts';
import { getParties } from '../../database/parties.ts';
import { populationOfMeasurement } from '../../database/populations.ts';
import { rootsForParties } from '../../database/trustedRoots.ts';
import { certificateName } from '../../domain/certificate.ts';
import type { Draft } from '../../domain/draft.ts';
import type { NewMeasurementFacts } from '../../domain/newMeasurement.ts';
import { storedCertificate, type TrustCheck, trustCheck } from '../trust.ts';

type DraftFacts = Pick<
  NewMeasurementFacts,
  'parties' | 'certificates' | 'population' | 'isSpecSigned' | 'untrusted'
>;

export interface Loaded {
  /** The measurements that earlier requests created, by requestId. */
  earlier: ReadonlyMap<string, { id: string; hash: Uint8Array }>;
  now: Timestamp;
  factsOf(draft: Draft): Promise<DraftFacts>;
}

/** Loads the rows that any of the drafts refers to, in one round trip. */
export async function loadForDrafts(
  tx: Transaction,
  consumer: string,
  parts: { draft: Draft; key: { id: string } | undefined }[],
  clock: () => Timestamp,
): Promise<Loaded> {
  const drafts = parts.map(({ draft }) => draft);
  const specChecks = new Map(drafts.map((draft) => [draft, verifySpec(draft.input)]));
  const requestIds = parts.flatMap(({ key }) => key?.id ?? []);
  const dataProviders = unique(drafts.flatMap((draft) => draft.dataProviders));
  const modelLines = unique(
    drafts.filter(({ needsPopulation }) => needsPopulation).map(({ candidate }) => candidate.spec!.modelLine),
  );
  const [earlier, parties, certificates, roots, ...populations] = await Promise.all([
    requestIds.length === 0 ? new Map() : findByRequestIds(tx, consumer, requestIds),
    getParties(tx, unique([...dataProviders, ...drafts.flatMap(({ duchies }) => duchies)])),
    lockCertificatesForShare(tx, certificatesOf(drafts)),
    rootsForParties(tx, [consumer, ...dataProviders]),
    ...modelLines.map((modelLine) => populationOfMeasurement(tx, modelLine)),
  ]);
  // Read the clock after acquiring the locks. The time is then later than any certificate hold already committed.
  const now = clock();
  const whyUntrusted = trustCheck(roots, now);
  return {
    earlier,
    now,
    async factsOf(draft) {
      const own = new Map(
        draft.certificates.flatMap(({ party, id }) => {
          const name = certificateName(party, id);
          const certificate = certificates.get(name);
          return certificate === undefined ? [] : [[name, certificate] as const];
        }),
      );
      const consent = await gatherConsent(draft.input, own, specChecks.get(draft)!, whyUntrusted);
      const population = draft.needsPopulation
        ? populations[modelLines.indexOf(draft.candidate.spec!.modelLine)]
        : undefined;
      return { parties, certificates: own, population, ...consent };
    },
  };
}

function certificatesOf(drafts: Draft[]): { party: string; id: string }[] {
  const all = drafts.flatMap(({ certificates }) => certificates);
  return [...new Map(all.map((named) => [certificateName(named.party, named.id), named])).values()];
}

function unique<T>(values: T[]): T[] {
  return [...new Set(values)];
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
 * Starts to verify the signature with the cached certificate while the stored certificate is being loaded. The result
 * is used only if both certificates are the same.
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
