/** Verification steps that both consumers and providers use. */
import {
  decrypt,
  parseCertificate,
  type TrustStore,
  unpackSignedMessage,
  verifySignature,
  type X509,
} from '@measurement-exchange/consent';
import {
  decodeMeasurementSpec,
  type EncryptedMessage,
  type PlainSpec,
  SIGNATURE_ALGORITHMS,
  type SignedMessage,
} from '@measurement-exchange/contract';
import type { ExchangeClient } from '../client/index.ts';
import type { Credentials } from '../identity/credentials.ts';
import { certificateInForce, trustedCertificate } from './certificates.ts';
import { type Checklist, DoesNotHold } from './checklist.ts';

/** The party that verifies, and the roots that it trusts. */
export interface Verifier {
  client: ExchangeClient;
  credentials: Credentials;
  trust: TrustStore;
}

/**
 * Checks that a party's certificate exists, is not revoked, is valid now, and was issued by a root that is trusted for
 * that party.
 */
export function checkCertificate(
  list: Checklist,
  { client, trust }: Verifier,
  party: string,
  name: string | undefined,
  whose = 'its certificate',
): Promise<X509 | undefined> {
  return list.checkWith(`${whose} is valid and chains to a trusted root`, [name], async (name) => {
    const fetch = (name: string) => client.getCertificate({ name });
    const x509 = await trustedCertificate(party, name, { fetch, trust, now: new Date() });
    return { value: x509, detail: `${name}, ${x509.subject}, until ${day(x509.notAfter)}` };
  });
}

/**
 * Checks that the verifier's own certificate exists, is not revoked, and is valid now. The issuer of this certificate
 * does not have to be a trusted root.
 */
export function checkOwnCertificate(
  list: Checklist,
  { client, credentials }: Verifier,
  name: string | undefined,
): Promise<X509 | undefined> {
  return list.checkWith('your certificate is valid', [name], async (name) => {
    const fetch = (name: string) => client.getCertificate({ name });
    const x509 = parseCertificate((await certificateInForce(credentials.name, name, fetch)).x509Der);
    const now = new Date();
    if (now < x509.notBefore || now > x509.notAfter) {
      throw new DoesNotHold(`it is valid from ${day(x509.notBefore)} to ${day(x509.notAfter)} only`);
    }
    return { value: x509, detail: `${name}, ${x509.subject}, until ${day(x509.notAfter)}` };
  });
}

/** Checks that the certificate's key signed a message. */
export function checkSignature(
  list: Checklist,
  what: string,
  signed: SignedMessage | undefined,
  certificate: X509 | undefined,
): Promise<SignedMessage | undefined> {
  return list.checkWith(
    `${what} is signed with its key`,
    [signed, certificate],
    async (signed, certificate) => {
      await verifySignature(signed, certificate);
      return { value: signed, detail: algorithmName(signed.signatureAlgorithm) };
    },
  );
}

export function checkSpec(list: Checklist, message: Uint8Array | undefined): Promise<PlainSpec | undefined> {
  return list.checkWith('the MeasurementSpec can be read', [message], (message) => {
    const decoded = decodeMeasurementSpec(message);
    if ('error' in decoded) throw new DoesNotHold(decoded.error);
    return { value: decoded.spec, detail: TYPE_WORDS[decoded.spec.measurementType] };
  });
}

export async function decrypted({ ciphertext }: EncryptedMessage, privateKeyset: Uint8Array) {
  const value = unpackSignedMessage(await decrypt(privateKeyset, ciphertext));
  return { value, detail: `${ciphertext.length} bytes` };
}

/** Human-readable names of the measurement types. */
export const TYPE_WORDS: Readonly<Record<PlainSpec['measurementType'], string>> = {
  REACH: 'reach',
  REACH_AND_FREQUENCY: 'reach and frequency',
  IMPRESSION: 'impressions',
  DURATION: 'watch duration',
  POPULATION: 'population',
};

export function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/**
 * Returns the name of a signature algorithm. `named` may be the name or the OID. A protobuf SignedMessage has only the
 * OID.
 */
function algorithmName(named: string | undefined): string {
  const known = Object.entries(SIGNATURE_ALGORITHMS).find(([, { oid }]) => oid === named);
  return known?.[0] ?? named ?? 'the algorithm of the key';
}
