/**
 * Checks whether a request is signed, whether its certificates are trusted, and whether its requisition specs are
 * encrypted for the providers' current keys.
 */
import { fromBinary } from '@bufbuild/protobuf';
import {
  equalBytes,
  type Finding,
  type MeasurementInput,
  type SignedMessage,
  specs,
} from '@measurement-exchange/contract';
import { finding } from './findings.ts';

export interface ConsentFacts {
  isSpecSigned: boolean;
  /** Maps the name of each certificate to the reason why it is untrusted, or to undefined if it is trusted. */
  untrusted: ReadonlyMap<string, string | undefined>;
  parties: ReadonlyMap<string, { publicKey: SignedMessage | undefined }>;
}

export function inspectConsent(input: MeasurementInput, facts: ConsentFacts): Finding[] {
  const { measurementConsumerCertificate: own } = input;
  const findings = trustFindings('measurementConsumerCertificate', facts.untrusted.get(own));
  if (!facts.isSpecSigned) {
    const message = 'The signature is not one over message by the key of measurementConsumerCertificate.';
    findings.push(finding('SPEC_SIGNATURE_INVALID', 'measurementSpec.signature', message));
  }
  for (const [name, entry] of Object.entries(input.dataProviders)) {
    const at = `dataProviders[${name}]`;
    const why = facts.untrusted.get(entry.dataProviderCertificate);
    findings.push(...trustFindings(`${at}.dataProviderCertificate`, why));
    const { publicKey } = facts.parties.get(name)!;
    const sent = entry.dataProviderPublicKey.data;
    if (publicKey !== undefined && !equalBytes(sent, keysetOf(publicKey))) {
      const message = `The key is not the one that ${name} publishes now.`;
      findings.push(finding('PUBLIC_KEY_NOT_CURRENT', `${at}.dataProviderPublicKey.data`, message));
    }
  }
  return findings;
}

/**
 * Returns a finding if a certificate is not trusted. `field` is the request field that has the certificate or its name.
 * `why` is undefined if the certificate is trusted.
 */
export function trustFindings(field: string, why: string | undefined): Finding[] {
  return why === undefined ? [] : [finding('CERTIFICATE_UNTRUSTED', field, why)];
}

export function keysetOf({ message }: SignedMessage): Uint8Array {
  return fromBinary(specs.EncryptionPublicKeySchema, message).data;
}
