/** Checks that are the same for all protocols with duchies. */
import {
  requisitionFingerprint,
  termsDigest,
  verifySignature,
  type X509,
} from '@measurement-exchange/consent';
import type {
  Binding,
  Certificate,
  MpcNoiseMechanism,
  PlainSpec,
  PrivacyParams,
  Requisition,
  SignedMessage,
} from '@measurement-exchange/contract';
import type { MpcProtocol } from '@measurement-exchange/mpc/protocols';
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
 * Requires that all duchies are different and trusted. A duchy with two roles would see data that must stay hidden. The
 * `at` of a participant is the field of the requisition that names the duchy.
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

export function requireEntries({ duchies = {} }: Requisition, expected: readonly string[]): void {
  const names = Object.keys(duchies);
  if (names.length === expected.length && expected.every((duchy) => names.includes(duchy))) return;
  const message = `It has entries of ${names.join(', ')}: not of ${expected.join(' and ')}.`;
  throw new RefusalError('DUCHIES_INVALID', message, { at: 'duchies' });
}

/** Returns the duchy that receives the upload, which must be one of the workers. */
export function fulfillingWorker({ fulfillingDuchy }: Requisition, workers: readonly string[]): string {
  if (fulfillingDuchy !== undefined && workers.includes(fulfillingDuchy)) return fulfillingDuchy;
  const message = `fulfillingDuchy is ${fulfillingDuchy}, which is not a worker.`;
  throw new RefusalError('DUCHIES_INVALID', message, { at: 'fulfillingDuchy' });
}

/**
 * Returns the key that a duchy published, and the certificate that must have signed the key. The certificate must not
 * be revoked, and this duchy's root in the settings must have issued it.
 */
export async function publishedKey(
  requisition: Requisition,
  duchy: string,
  [protocol, field]: [MpcProtocol, 'publicKey' | 'elGamalPublicKey'],
  { duchies, fetchCertificate: fetch, now }: DuchyContext,
): Promise<[SignedMessage, X509]> {
  const { duchyCertificate, ...published } = requisition.duchies![duchy]!;
  const trusted = trustedCertificate(duchy, duchyCertificate, { fetch, trust: duchies.get(duchy)!, now });
  const certificate = await refuseOnConsentError(
    'DUCHY_CERTIFICATE_INVALID',
    'duchies',
    trusted,
    isNotYetValid,
  );
  const key = (published[protocol] as { [F in typeof field]?: SignedMessage } | undefined)?.[field];
  if (key !== undefined) return [key, certificate];
  throw new RefusalError('DUCHIES_INVALID', `${duchy} has no ${field}.`, { at: 'duchies' });
}

/**
 * The terms that the duchies must have agreed to. `computation` is the ID of the computation for which the duchies made
 * their keys. `termsSha256` is the digest of the terms as this provider knows them.
 */
export interface AgreedTerms {
  computation: string;
  termsSha256: Uint8Array;
}

export interface VerifiedComputation extends AgreedTerms {
  /** The fingerprint of the signed measurement spec and the encrypted requisition spec. */
  fingerprint: Uint8Array;
  fulfillingDuchy: string;
}

/** Returns the fingerprint of both specifications. `requireAddressedTo` has checked that they are present. */
export function fingerprintIn({
  measurementSpec,
  encryptedRequisitionSpec,
}: Requisition): Promise<Uint8Array> {
  return requisitionFingerprint(measurementSpec!.message, encryptedRequisitionSpec!.ciphertext);
}

/**
 * Returns the terms that every duchy's key must be bound to. The requisition does not contain the computation's ID, so
 * the caller takes `computation` from one duchy's key. The caller then checks every key against these terms.
 */
export async function termsOf(
  { measurementSpec, protocolConfig }: Requisition,
  { nonceHashes }: PlainSpec,
  { computation }: Pick<Binding, 'computation'> = { computation: '' },
): Promise<AgreedTerms> {
  // `requireAddressedTo` and `protocolOf` have checked that both fields are present.
  const told = { measurementSpec: measurementSpec!.message, protocolConfig: protocolConfig! };
  return { computation, termsSha256: await termsDigest({ computation, ...told, nonceHashes }) };
}

/** Verifies the duchy's signature on its key, then reads the key with `read`. */
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

/**
 * Requires a noise mechanism that the provider accepts. Every mechanism except `NONE` also requires a delta above 0.
 */
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

/**
 * Returns the privacy parameters of a reach measurement, with or without frequency. Refuses all other measurement
 * types, because duchies cannot compute them. measurementSpecViolations has checked that the parameters are present.
 */
export function privacyParamsOf(spec: PlainSpec): PrivacyParams[] {
  const { measurementType } = spec;
  if (measurementType === 'REACH' || measurementType === 'REACH_AND_FREQUENCY') {
    return paramsByField(spec).map(([, params]) => params);
  }
  const message = `${measurementType} cannot be computed by duchies.`;
  throw new RefusalError('PROTOCOL_INVALID', message, { at: 'protocolConfig' });
}
