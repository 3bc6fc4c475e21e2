/** Whether the consent that a request shows holds: who signed, who vouches for the signer, and for which keys. */
import { fromBinary } from '@bufbuild/protobuf';
import {
  equalBytes,
  type Finding,
  type MeasurementInput,
  type SignedMessage,
  specs,
  type Timestamp,
} from '@measurement-exchange/contract';
import { finding } from './findings.ts';
import { keepByBytes } from './keepByBytes.ts';
import { isSignedBy } from './signature.ts';
import { type IssuedCertificate, type Root, type TrustCheck, trustCheck } from './trust.ts';

/** What the exchange knows about those whom a request names. */
export interface Known {
  /** By name. */
  certificates: ReadonlyMap<string, IssuedCertificate>;
  /** By name. */
  parties: ReadonlyMap<string, { publicKey: SignedMessage | undefined }>;
  roots: readonly Root[];
}

/** The consumers' certificates as they were when they were last used, by name. */
const signers = new Map<string, Uint8Array>();
const MAX_SIGNERS = 2_000;

/**
 * Whether the specification is signed by the key of a certificate (DER). What a certificate's name stands for never
 * changes: with the one that is remembered this begins at once, while the database is asked for the one that counts.
 */
export function verifySpec(input: MeasurementInput): (x509Der: Uint8Array) => Promise<boolean> {
  const { measurementConsumerCertificate: name, measurementSpec: spec } = input;
  const remembered = signers.get(name);
  const ahead = remembered && isSignedBy(spec, remembered);
  return (x509Der) => {
    if (remembered !== undefined && equalBytes(remembered, x509Der)) return ahead!;
    if (signers.size >= MAX_SIGNERS) signers.delete(signers.keys().next().value!);
    signers.set(name, x509Der);
    return isSignedBy(spec, x509Der);
  };
}

/** All that the request names exists. */
export async function inspectConsent(
  input: MeasurementInput,
  isSpecSignedBy: ReturnType<typeof verifySpec>,
  known: Known,
  now: Timestamp,
): Promise<Finding[]> {
  const own = known.certificates.get(input.measurementConsumerCertificate)!;
  const signed = isSpecSignedBy(own.x509Der);
  const untrusted = trustCheck(known.roots, now);
  const ofOwn = untrusted('measurementConsumerCertificate', own);
  const ofProviders = inspectProviders(input, known, untrusted);
  if (!(await signed)) {
    const message = 'The signature is not one over message by the key of measurementConsumerCertificate.';
    ofOwn.push(finding('SPEC_SIGNATURE_INVALID', 'measurementSpec.signature', message));
  }
  return [...ofOwn, ...ofProviders];
}

function inspectProviders(input: MeasurementInput, known: Known, untrusted: TrustCheck): Finding[] {
  const findings: Finding[] = [];
  for (const [name, entry] of Object.entries(input.dataProviders)) {
    const at = `dataProviders[${name}]`;
    const certificate = known.certificates.get(entry.dataProviderCertificate)!;
    findings.push(...untrusted(`${at}.dataProviderCertificate`, certificate));
    const { publicKey } = known.parties.get(name)!;
    if (
      publicKey !== undefined &&
      !equalBytes(entry.dataProviderPublicKey.data, keysetOf(publicKey.message))
    ) {
      const message = `The key is not the one that ${name} publishes now.`;
      findings.push(finding('PUBLIC_KEY_NOT_CURRENT', `${at}.dataProviderPublicKey.data`, message));
    }
  }
  return findings;
}

/** The `data` of a registered EncryptionPublicKey. */
const keysetOf = keepByBytes((message) => fromBinary(specs.EncryptionPublicKeySchema, message).data);
