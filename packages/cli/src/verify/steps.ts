/** Steps of both a consumer's and a provider's verification. */
import {
  decodeMeasurementSpec,
  ExchangeError,
  type PlainSpec,
  SIGNATURE_ALGORITHMS,
  type SignedMessage,
} from '@measurement-exchange/contract';
import {
  type Credentials,
  type ExchangeClient,
  parseCertificate,
  type TrustStore,
  verifySignature,
  type X509,
} from '@measurement-exchange/sdk';
import { typeWords } from '../party/spec.ts';
import { type Checked, type Checklist, DoesNotHold } from './checklist.ts';

export interface Context {
  client: ExchangeClient;
  credentials: Credentials;
  trust: TrustStore;
  /** Those that may compute figures. */
  duchies: string[];
}

/** Checks that a party's certificate exists, is not revoked, and was issued by a root that is trusted for the party. */
export function checkCertificate(
  list: Checklist,
  { client, trust }: Context,
  party: string,
  name: string | undefined,
  whose = 'its certificate',
): Promise<X509 | undefined> {
  return list.checkWith(`${whose} is valid and chains to a trusted root`, [name], async (name) => {
    if (!name.startsWith(`${party}/certificates/`)) throw new DoesNotHold(`${name} is not one of ${party}`);
    const { x509Der } = await fetchCertificate(client, name);
    const x509 = await trust.verify(party, x509Der, new Date());
    return { value: x509, detail: `${name}, ${x509.subject}, until ${day(x509.notAfter)}` };
  });
}

/** Checks the caller's own certificate, for which no trusted root is needed. */
export function checkOwnCertificate(
  list: Checklist,
  { client, credentials }: Context,
  name: string | undefined,
): Promise<X509 | undefined> {
  return list.checkWith('your certificate is valid', [name], async (name) => {
    if (!name.startsWith(`${credentials.name}/certificates/`)) throw new DoesNotHold(`${name} is not yours`);
    const x509 = parseCertificate((await fetchCertificate(client, name)).x509Der);
    const now = new Date();
    if (now < x509.notBefore || now > x509.notAfter) {
      throw new DoesNotHold(`it is valid from ${day(x509.notBefore)} to ${day(x509.notAfter)} only`);
    }
    return { value: x509, detail: `${name}, ${x509.subject}, until ${day(x509.notAfter)}` };
  });
}

async function fetchCertificate(client: ExchangeClient, name: string) {
  const certificate = await client.getCertificate({ name }).catch((error) => {
    if (error instanceof ExchangeError && error.code === 'NOT_FOUND') {
      throw new DoesNotHold(`the exchange has no ${name}`);
    }
    throw error;
  });
  if (certificate.revocationState === undefined) return certificate;
  throw new DoesNotHold(`${name} is ${certificate.revocationState}`);
}

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
  return list.checkWith('the MeasurementSpec can be read', [message], (message): Checked<PlainSpec> => {
    const decoded = decodeMeasurementSpec(message);
    if ('error' in decoded) throw new DoesNotHold(decoded.error);
    return { value: decoded.spec, detail: typeWords(decoded.spec.measurementType) };
  });
}

/** The algorithm in a protobuf SignedMessage is an OID. */
function algorithmName(named: string | undefined): string {
  const known = Object.entries(SIGNATURE_ALGORITHMS).find(([, { oid }]) => oid === named);
  return known?.[0] ?? named ?? 'the algorithm of the key';
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}
