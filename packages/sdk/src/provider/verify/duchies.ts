/** The checks of duchies that all protocols share. */
import { termsDigest, verifySignature, type X509 } from '@measurement-exchange/consent';
import type {
  Binding,
  Certificate,
  MpcNoiseMechanism,
  PlainSpec,
  PrivacyParams,
  Requisition,
  SignedMessage,
} from '@measurement-exchange/contract';
import { isNotYetValid, refuseOnConsentError } from '../../refusals/consentRefusal.ts';
import { RefusalError, type RefusalPlace } from '../../refusals/refusalError.ts';
import { trustedCertificate } from '../../verification/certificates.ts';
import type { DuchyTrust } from './duchySettings.ts';
import { paramsByField } from './limits.ts';

export interface DuchyContext {
  duchies: DuchyTrust;
  fetchCertificate(name: string): Promise<Certificate>;
  now: Date;
}

/**
 * Together the duchies see what none of them may see alone, so each has to be another one, and one that is trusted. `at` is
 * where the requisition names it.
 */
export function requireKnownDuchies(
  participants: readonly { duchy: string; role: string; at: RefusalPlace }[],
  trusted: DuchyTrust,
): void {
  for (const [i, { duchy, role, at }] of participants.entries()) {
    if (participants.some((other, j) => j !== i && other.duchy === duchy)) {
      throw new RefusalError('DUCHIES_INVALID', `${duchy} has two roles.`, { at });
    }
    if (!trusted.has(duchy)) {
      throw new RefusalError('DUCHY_UNKNOWN', `${duchy} (${role}) is not in the settings.`, { at });
    }
  }
}

/** The requisition has an entry of each of these duchies, and of no other one. */
export function requireEntries({ duchies = {} }: Requisition, expected: readonly string[]): void {
  const names = Object.keys(duchies);
  if (names.length === expected.length && expected.every((duchy) => names.includes(duchy))) return;
  const message = `It has entries of ${names.join(', ')}: not of ${expected.join(' and ')}.`;
  throw new RefusalError('DUCHIES_INVALID', message, { at: 'duchies' });
}

/** The certificate is the duchy's, not revoked, and chains to the root that the settings have for it. */
export function duchyCertificate(
  duchy: string,
  name: string,
  { duchies, fetchCertificate: fetch, now }: DuchyContext,
): Promise<X509> {
  const trusted = trustedCertificate(duchy, name, { fetch, trust: duchies.get(duchy)!, now });
  return refuseOnConsentError('DUCHY_CERTIFICATE_INVALID', 'duchies', trusted, isNotYetValid);
}

/** The computation that duchies made keys for, and the digest of everything that the provider was told about it. */
export interface AgreedTerms {
  computation: string;
  termsSha256: Uint8Array;
}

/** Only the duchies know the ID of the computation; whether all of them mean the same one is checked for each key. */
export async function termsOf(
  { measurementSpec, protocolConfig }: Requisition,
  { nonceHashes }: PlainSpec,
  { computation }: Pick<Binding, 'computation'> = { computation: '' },
): Promise<AgreedTerms> {
  // requireAddressedTo has checked that both are present.
  const told = { measurementSpec: measurementSpec!.message, protocolConfig: protocolConfig! };
  return { computation, termsSha256: await termsDigest({ computation, ...told, nonceHashes }) };
}

/** Verifies that the duchy signed its key, and reads it. */
export async function signedKey<T>(
  key: SignedMessage,
  certificate: X509,
  read: (message: Uint8Array) => T | Promise<T>,
): Promise<T> {
  const verified = verifySignature(key, certificate).then(() => read(key.message));
  return refuseOnConsentError(
    (failed) => {
      if (failed === 'BINDING_MISSING') return 'DUCHY_KEY_UNBOUND';
      const isOther = failed === 'BINDING_MISMATCH' || failed === 'TERMS_DIFFER';
      return isOther ? 'DUCHY_TERMS_DIFFER' : 'DUCHY_KEY_INVALID';
    },
    'duchies',
    verified,
  );
}

/** The noise is of a kind that the provider accepts, and has the delta that it needs. */
export function requireNoise(
  noiseMechanism: MpcNoiseMechanism,
  accepted: readonly MpcNoiseMechanism[],
  params: readonly PrivacyParams[],
  at: RefusalPlace,
): void {
  if (!accepted.includes(noiseMechanism)) {
    const message = `The duchies add ${noiseMechanism} noise, and ${accepted.join(', ')} is accepted.`;
    throw new RefusalError('NOISE_NOT_ACCEPTED', message, { at });
  }
  if (noiseMechanism === 'NONE' || params.every(({ delta }) => delta > 0)) return;
  throw new RefusalError('DELTA_REQUIRED', 'The noise of duchies is bounded, which needs a delta above 0.');
}

/** The parameters of each figure that is released. measurementSpecViolations has checked that they are present. */
export function privacyParamsOf(spec: PlainSpec): PrivacyParams[] {
  const { measurementType } = spec;
  if (measurementType === 'REACH' || measurementType === 'REACH_AND_FREQUENCY') {
    return paramsByField(spec).map(([, params]) => params);
  }
  const message = `${measurementType} cannot be computed by duchies.`;
  throw new RefusalError('PROTOCOL_INVALID', message, { at: 'protocolConfig' });
}
