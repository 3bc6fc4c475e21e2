/** Creates root certificates, and the certificates that they issue to parties. */
import 'reflect-metadata'; // @peculiar/x509 requires this import.
import { partyUri } from '@measurement-exchange/consent';
import * as x509 from '@peculiar/x509';

const P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 24 * 3600_000;
const LEAF_DAYS = 3650;
/** The lifetime of a root. A leaf that is issued in the root's first ten years expires before the root. */
const ROOT_DAYS = 2 * LEAF_DAYS;

/** A root certificate and its private key (PKCS #8), both in PEM. */
export interface Root {
  certificatePem: string;
  privateKeyPem: string;
}

/** A certificate in DER and in PEM, and its private key (PKCS #8). */
export interface Leaf {
  der: Uint8Array;
  certificatePem: string;
  privateKeyPem: string;
}

/** Creates a self-signed root. `now` is in epoch milliseconds. */
export async function createRoot(commonName: string, now: number): Promise<Root> {
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(now, ROOT_DAYS),
    name: [{ CN: [commonName] }],
    keys,
    signingAlgorithm: P256,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificatePem: certificate.toString('pem'), privateKeyPem: await toPem(keys.privateKey) };
}

/**
 * Issues a certificate for a new signing key. If `party` is given, the certificate contains this name, so that no other
 * party can use the certificate as its own. `hosts` are names and addresses of a server that uses the certificate for
 * TLS. `now` is in epoch milliseconds.
 */
export async function issueLeaf(
  root: Root,
  commonName: string,
  now: number,
  { party, hosts = [], days = LEAF_DAYS }: { party?: string; hosts?: string[]; days?: number } = {},
): Promise<Leaf> {
  const issuer = new x509.X509Certificate(root.certificatePem);
  const [pkcs8] = x509.PemConverter.decode(root.privateKeyPem);
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity(now, days),
    subject: [{ CN: [commonName] }],
    issuer: issuer.subjectName,
    publicKey: keys.publicKey,
    signingKey: await crypto.subtle.importKey('pkcs8', pkcs8!, P256, false, ['sign']),
    signingAlgorithm: P256,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      ...alternativeNames([
        ...(party === undefined ? [] : [{ type: 'url' as const, value: partyUri(party) }]),
        ...hosts.map((value) => ({
          type: /^[\d.]+$|:/.test(value) ? ('ip' as const) : ('dns' as const),
          value,
        })),
      ]),
    ],
  });
  return {
    der: new Uint8Array(certificate.rawData),
    certificatePem: certificate.toString('pem'),
    privateKeyPem: await toPem(keys.privateKey),
  };
}

function alternativeNames(names: x509.JsonGeneralNames): x509.SubjectAlternativeNameExtension[] {
  return names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)];
}

function generateKeys(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(P256, true, ['sign', 'verify']);
}

/**
 * Returns the validity period and a serial number. The period starts an hour ago, because other clocks may be behind.
 */
function validity(now: number, days: number) {
  const start = Math.floor(now / 1000) * 1000 - 3600_000;
  // Set the first two of the 128 bits to 01. A serial number must be positive, and DER allows no leading zero byte.
  const serial = crypto.getRandomValues(new Uint8Array(16));
  serial[0] = (serial[0]! & 0x3f) | 0x40;
  return {
    serialNumber: [...serial].map((byte) => byte.toString(16).padStart(2, '0')).join(''),
    notBefore: new Date(start),
    notAfter: new Date(start + days * DAY_MS),
  };
}

async function toPem(key: CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}
