/** Gathers what the domain needs to know about the consent that a request shows. */
import { ConsentError, cachedCertificate, isSignedBy, type X509 } from '@measurement-exchange/consent';
import type { MeasurementInput } from '@measurement-exchange/contract';
import { LRUCache } from 'lru-cache';
import type { ConsentFacts } from '../../domain/consent.ts';
import type { TrustCheck } from '../trust.ts';

/** The consumers' certificates as they were when they were last used, by name. */
const signers = new LRUCache<string, X509>({ max: 2_000 });

/** Whether the key of a certificate (DER) signed the specification. */
type SpecCheck = (x509Der: Uint8Array) => Promise<boolean>;

/**
 * What a certificate's name stands for never changes: with the certificate that was last used under the name this
 * begins at once, while the database is asked for the one that counts.
 */
export function verifySpec(input: MeasurementInput): SpecCheck {
  const { measurementConsumerCertificate: name, measurementSpec: spec } = input;
  const expected = signers.get(name);
  const ahead = expected && isSignedBy(spec, expected);
  return async (x509Der) => {
    const signer = readable(x509Der);
    if (signer === undefined) return false;
    if (signer === expected) return ahead!;
    signers.set(name, signer);
    return isSignedBy(spec, signer);
  };
}

/** Undefined for one that was registered before today's rules for reading certificates. */
function readable(x509Der: Uint8Array): X509 | undefined {
  try {
    return cachedCertificate(x509Der);
  } catch (error) {
    if (error instanceof ConsentError) return undefined;
    throw error;
  }
}

/** All certificates that the request names exist. */
export async function gatherConsent(
  input: MeasurementInput,
  certificates: ReadonlyMap<string, { party: string; x509Der: Uint8Array }>,
  isSpecSignedBy: SpecCheck,
  whyUntrusted: TrustCheck,
): Promise<Omit<ConsentFacts, 'parties'>> {
  const own = certificates.get(input.measurementConsumerCertificate)!;
  const [isSpecSigned, ...untrusted] = await Promise.all([
    isSpecSignedBy(own.x509Der),
    ...[...certificates].map(async ([name, certificate]) => [name, await whyUntrusted(certificate)] as const),
  ]);
  return { isSpecSigned, untrusted: new Map(untrusted) };
}
