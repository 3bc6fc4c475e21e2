import 'reflect-metadata'; // @peculiar/x509 requires this import.
import { equalBytes, fromHex, toBase64 } from '@measurement-exchange/contract';
import * as x509 from '@peculiar/x509';
import { asBytes } from '../base/bytes.ts';
import { cache } from '../base/cache.ts';
import { ConsentError } from '../base/errors.ts';
import { derElements, derSequence, oidText, requireDer } from './der.ts';
import { type KeyKind, keyKind } from './keyKind.ts';
import { pemBlocks } from './pem.ts';

export interface CertificateKey extends KeyKind {
  /** The SubjectPublicKeyInfo in DER. */
  spki: Uint8Array;
}

/** A parsed X.509 certificate. Parsing does not mean that the certificate is trusted. */
export interface X509 {
  der: Uint8Array;
  subject: string;
  issuer: string;
  /**
   * The parties named in the certificate. For example, the subject alternative name `mex:dataProviders/streamly` names
   * the party `dataProviders/streamly`.
   */
  parties: string[];
  /** The serial number in hexadecimal. */
  serialNumber: string;
  subjectKeyIdentifier?: Uint8Array;
  /** The subject key identifier of the issuer's certificate. */
  authorityKeyIdentifier?: Uint8Array;
  notBefore: Date;
  notAfter: Date;
  isCa: boolean;
  /**
   * The permitted uses of the key, such as `digitalSignature` or `keyCertSign`. Undefined if the certificate allows any
   * use.
   */
  keyUsages?: string[];
  /**
   * The OIDs of the purposes of the key, such as client authentication. Undefined if the certificate allows any
   * purpose.
   */
  extendedKeyUsages?: string[];
  /**
   * The OIDs of critical extensions that this package does not know. A certificate with such an extension must be
   * rejected.
   */
  unknownCriticalExtensions: string[];
  publicKey: CertificateKey;
}

/**
 * The maximum length of a certificate in bytes. Real certificates are much shorter. A page of a certificate list has at
 * most 8 MiB, which is enough for about 400 certificates of this length.
 */
export const MAX_CERTIFICATE_BYTES = 15_000;

/** The prefix of the URI that names a party in a certificate. The party's resource name follows. */
const PARTY_URI = 'mex:';
const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17';
/** The tag of a URI in a GeneralName (RFC 5280, 4.2.1.6). */
const URI_TAG = 0x86;

/**
 * The critical extensions that a certificate is allowed to have. extKeyUsage is checked only for client certificates,
 * because it does not restrict signing.
 */
const KNOWN_EXTENSIONS = [
  '2.5.29.14', // subjectKeyIdentifier
  '2.5.29.15', // keyUsage
  SUBJECT_ALTERNATIVE_NAME,
  '2.5.29.19', // basicConstraints
  '2.5.29.35', // authorityKeyIdentifier
  '2.5.29.37', // extKeyUsage
];

/** Parses exactly one certificate in DER. Throws if the input is PEM or has trailing bytes. */
export function parseCertificate(der: Uint8Array): X509 {
  try {
    if (der.length > MAX_CERTIFICATE_BYTES) throw new Error(`longer than ${MAX_CERTIFICATE_BYTES} bytes`);
    const { spki } = certificateParts(der);
    const certificate = new x509.X509Certificate(asBytes(der));
    const { extensions } = certificate;
    if (new Set(extensions.map(({ type }) => type)).size < extensions.length) throw new Error('twice');
    const ski = certificate.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId;
    const aki = certificate.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId;
    const usages = certificate.getExtension(x509.KeyUsagesExtension)?.usages;
    const purposes = certificate.getExtension(x509.ExtendedKeyUsageExtension)?.usages;
    const [algorithm] = derSequence(spki);
    return {
      der,
      subject: certificate.subject,
      issuer: certificate.issuer,
      parties: partiesIn(certificate.getExtension(SUBJECT_ALTERNATIVE_NAME)),
      serialNumber: certificate.serialNumber,
      ...(ski && { subjectKeyIdentifier: fromHex(ski)! }),
      ...(aki && { authorityKeyIdentifier: fromHex(aki)! }),
      notBefore: certificate.notBefore,
      notAfter: certificate.notAfter,
      isCa: certificate.getExtension(x509.BasicConstraintsExtension)?.ca ?? false,
      ...(usages !== undefined && { keyUsages: namesOf(usages) }),
      ...(purposes !== undefined && { extendedKeyUsages: purposes.map(String) }),
      unknownCriticalExtensions: extensions
        .filter(({ type, critical }) => critical && !KNOWN_EXTENSIONS.includes(type))
        .map(({ type }) => type),
      publicKey: { ...keyKind(algorithm!), spki },
    };
  } catch (cause) {
    throw new ConsentError(
      'CERTIFICATE_MALFORMED',
      'The certificate is not exactly one X.509 certificate in DER: fetch it again, or ask its owner.',
      { cause },
    );
  }
}

export function parseCertificatePem(pem: string): X509 {
  const block = pemBlocks(pem)?.find(({ label }) => label === 'CERTIFICATE');
  if (block !== undefined) return parseCertificate(block.bytes);
  throw new ConsentError(
    'CERTIFICATE_MALFORMED',
    'The text contains no certificate in PEM: give its PEM file.',
  );
}

const certificates = cache<X509>();

/** Like `parseCertificate`, but caches the parsed certificate. Callers share it and must not modify it. */
export function cachedCertificate(der: Uint8Array): X509 {
  return certificates(toBase64(der), () => parseCertificate(Uint8Array.from(der)));
}

/**
 * Returns a certificate's raw parts, which callers use to check its signature and to compare it with other
 * certificates.
 */
export function certificateParts(der: Uint8Array) {
  requireDer(der);
  const [tbs, algorithm, signature, ...more] = derSequence(der);
  if (tbs === undefined || algorithm === undefined || signature === undefined || more.length > 0) {
    throw new Error('A certificate has three parts.');
  }
  const fields = derElements(tbs.content);
  // Skip the version field, which version 1 certificates do not have.
  if (fields[0]?.tag === 0xa0) fields.shift();
  const [, inner, issuer, , subject, spki] = fields;
  if (!inner || !issuer || !subject || !spki || !equalBytes(inner.bytes, algorithm.bytes)) {
    throw new Error('The signature algorithm is not the one that was signed.');
  }
  // The first byte of a BIT STRING is the number of unused bits in the last byte. This number must be 0 here.
  if (signature.tag !== 3 || signature.content[0] !== 0) throw new Error('The signature is not whole bytes.');
  return {
    tbs: tbs.bytes,
    signatureAlgorithm: oidText(derElements(algorithm.content)[0]),
    signature: signature.content.subarray(1),
    issuer: issuer.bytes,
    subject: subject.bytes,
    spki: spki.bytes,
  };
}

export function partyUri(party: string): string {
  return `${PARTY_URI}${party}`;
}

function partiesIn(extension: x509.Extension | null): string[] {
  if (extension === null) return [];
  return derSequence(new Uint8Array(extension.value))
    .filter(({ tag }) => tag === URI_TAG)
    .map(({ content }) => new TextDecoder('latin1').decode(content))
    .filter((uri) => uri.startsWith(PARTY_URI))
    .map((uri) => uri.slice(PARTY_URI.length));
}

function namesOf(usages: number): string[] {
  return Object.entries(x509.KeyUsageFlags).flatMap(([name, flag]) =>
    typeof flag === 'number' && (usages & flag) !== 0 ? [name] : [],
  );
}
