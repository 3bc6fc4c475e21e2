/** Whether the consent that a request shows holds: who signed, who vouches for the signer, and for which keys. */
import { fromBinary } from '@bufbuild/protobuf';
import {
  equalBytes,
  type Finding,
  type MeasurementInput,
  type SignedMessage,
  specs,
} from '@measurement-exchange/contract';
import { finding } from './findings.ts';

/** What is known about a request and about the parties that it names. */
export interface ConsentFacts {
  /** Whether the key of the consumer's certificate signed the specification. */
  isSpecSigned: boolean;
  /** Why a certificate that the request names is not trusted; undefined where it is. By name. */
  untrusted: ReadonlyMap<string, string | undefined>;
  /** By name. */
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

/** `field` names or holds the certificate; `why` says why it is not trusted. */
export function trustFindings(field: string, why: string | undefined): Finding[] {
  return why === undefined ? [] : [finding('CERTIFICATE_UNTRUSTED', field, why)];
}

/** The `data` of a registered EncryptionPublicKey. */
function keysetOf({ message }: SignedMessage): Uint8Array {
  return fromBinary(specs.EncryptionPublicKeySchema, message).data;
}
