/** Certificates of every kind, including invalid ones that no issuer should create. */
import 'reflect-metadata'; // @peculiar/x509 does not load without this import
import * as x509 from '@peculiar/x509';

export const NOW = new Date('2027-01-15T12:00:00Z');
export const YEAR_MS = 365 * 24 * 3600_000;
export const P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const { digitalSignature, keyCertSign, cRLSign } = x509.KeyUsageFlags;

export interface Issued {
  name: string;
  keys: CryptoKeyPair;
  der: Uint8Array;
  pem: string;
  /** The subject key identifier in hexadecimal, or undefined if the certificate has none. */
  ski: string | undefined;
}

export interface Options {
  name: string;
  /** Used instead of `name` for a subject that cannot be written as text. */
  subject?: x509.JsonName;
  /** The issuer. If absent, the certificate is self-signed. */
  by?: Issued | undefined;
  keys?: CryptoKeyPair;
  /** The issuer name to write, if it differs from the real issuer's name. */
  issuerName?: string;
  ca?: boolean | 'absent';
  usages?: number | 'absent';
  ski?: string | 'absent';
  aki?: string | 'absent';
  /** The party that the certificate names. */
  party?: string | undefined;
  /** The start and end of the validity, in years from `NOW`. */
  from?: number;
  until?: number;
  extensions?: x509.Extension[];
  algorithm?: { name: string; hash?: string; saltLength?: number };
}

export function generateKeys(algorithm: object = P256): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(algorithm as EcKeyGenParams, true, ['sign', 'verify']);
}

/** Issues a root certificate. It is valid unless the options make it invalid. */
export function root(name: string, options: Partial<Options> = {}): Promise<Issued> {
  return issue({ name, ca: true, usages: keyCertSign | cRLSign, from: -1, until: 20, ...options });
}

/** Issues a signing certificate. It is valid unless the options make it invalid. */
export function leaf(by: Issued, options: Partial<Options> = {}): Promise<Issued> {
  return issue({
    name: 'CN=Streamly TV',
    by,
    ca: false,
    usages: digitalSignature,
    from: -1,
    until: 10,
    ...options,
  });
}

function named(party: string): x509.Extension {
  return new x509.SubjectAlternativeNameExtension([{ type: 'url', value: `mex:${party}` }]);
}

async function issue(options: Options): Promise<Issued> {
  const keys = options.keys ?? (await generateKeys());
  const ski = options.ski ?? (await x509.SubjectKeyIdentifierExtension.create(keys.publicKey)).keyId;
  const aki = options.aki ?? options.by?.ski ?? (options.by === undefined ? ski : 'absent');
  const { ca = 'absent', usages = 'absent', from = -1, until = 10, extensions = [] } = options;
  const certificate = await x509.X509CertificateGenerator.create({
    subject: options.subject ?? options.name,
    issuer: options.issuerName ?? options.by?.name ?? options.name,
    publicKey: keys.publicKey,
    signingKey: (options.by?.keys ?? keys).privateKey,
    signingAlgorithm: (options.algorithm ?? P256) as EcdsaParams,
    notBefore: new Date(NOW.getTime() + from * YEAR_MS),
    notAfter: new Date(NOW.getTime() + until * YEAR_MS),
    extensions: [
      ...(ca === 'absent' ? [] : [new x509.BasicConstraintsExtension(ca, undefined, true)]),
      ...(usages === 'absent' ? [] : [new x509.KeyUsagesExtension(usages, true)]),
      ...(ski === 'absent' ? [] : [new x509.SubjectKeyIdentifierExtension(ski)]),
      ...(aki === 'absent' ? [] : [new x509.AuthorityKeyIdentifierExtension(aki)]),
      ...(options.party === undefined ? [] : [named(options.party)]),
      ...extensions,
    ],
  });
  return {
    name: options.name,
    keys,
    der: new Uint8Array(certificate.rawData),
    pem: certificate.toString('pem'),
    ski: ski === 'absent' ? undefined : ski,
  };
}
