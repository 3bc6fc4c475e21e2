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

/** All that the request names exists. */
export async function inspectConsent(
  input: MeasurementInput,
  known: Known,
  now: Timestamp,
): Promise<Finding[]> {
  const own = known.certificates.get(input.measurementConsumerCertificate)!;
  const signed = isSignedBy(input.measurementSpec, own.x509Der);
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
