/** Reading the certificates that parties register. */
import 'reflect-metadata'; // @peculiar/x509 does not load without it
import { X509Certificate } from 'node:crypto';
import { equalBytes, fromBase64, invalid, type Timestamp, timestampOf } from '@measurement-exchange/contract';
import * as x509 from '@peculiar/x509';

export interface CertificateDescription {
  subjectKeyIdentifier: Uint8Array;
  /** The subject key identifier of the issuing certificate, if the certificate says. */
  authorityKeyIdentifier?: Uint8Array;
  notBefore: Timestamp;
  notAfter: Timestamp;
}

/** The message completes a sentence that begins with the field's name: "x509Der is not …". */
export class BadCertificate extends Error {}

/** The longest hash in use, SHA-512: key identifiers are hashes of keys. */
const MAX_KEY_IDENTIFIER_BYTES = 64;

/** Far above any in use, far below what a list of a thousand could not carry. */
const MAX_CERTIFICATE_BYTES = 15_000;
const ONE_PEM = /^\s*-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----\s*$/;

/** The certificate of a request, which gives it in one of the two forms; what is wrong is said of its field. */
export function readCertificate(input: {
  x509Der?: Uint8Array | undefined;
  x509Pem?: string | undefined;
}): CertificateDescription & { x509Der: Uint8Array } {
  if ((input.x509Der === undefined) === (input.x509Pem === undefined)) {
    throw invalid([
      { field: 'x509Der', description: 'must be given, or x509Pem in its place, but not both' },
    ]);
  }
  try {
    const x509Der = input.x509Der ?? fromPem(input.x509Pem!);
    return { x509Der, ...describeCertificate(x509Der) };
  } catch (error) {
    if (!(error instanceof BadCertificate)) throw error;
    const field = input.x509Der === undefined ? 'x509Pem' : 'x509Der';
    throw invalid([{ field, description: error.message }]);
  }
}

function fromPem(pem: string): Uint8Array {
  const base64 = ONE_PEM.exec(pem)?.[1]?.replace(/\s/g, '');
  const der = base64 === undefined ? undefined : fromBase64(base64);
  if (der === undefined) throw new BadCertificate('must be the PEM of exactly one certificate');
  return der;
}

export function describeCertificate(der: Uint8Array): CertificateDescription {
  const { notBefore, notAfter, subjectKeyId, authorityKeyId } = parse(der);
  if (subjectKeyId === undefined) throw new BadCertificate('has no subject key identifier');
  return {
    subjectKeyIdentifier: keyIdentifier(subjectKeyId),
    ...(authorityKeyId !== undefined && { authorityKeyIdentifier: keyIdentifier(authorityKeyId) }),
    notBefore,
    notAfter,
  };
}

function parse(der: Uint8Array) {
  if (der.length > MAX_CERTIFICATE_BYTES) {
    throw new BadCertificate(`is longer than ${MAX_CERTIFICATE_BYTES} bytes`);
  }
  try {
    // OpenSSL reads PEM as well and skips what follows the certificate: only the exact bytes will do.
    if (!equalBytes(new X509Certificate(der).raw, der)) throw new Error('not exact');
    const certificate = new x509.X509Certificate(Uint8Array.from(der));
    return {
      notBefore: timestampOf(certificate.notBefore.getTime()),
      notAfter: timestampOf(certificate.notAfter.getTime()),
      subjectKeyId: certificate.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId,
      authorityKeyId: certificate.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId,
    };
  } catch (cause) {
    throw new BadCertificate('is not an X.509 certificate in DER', { cause });
  }
}

function keyIdentifier(hex: string): Uint8Array {
  const bytes = Uint8Array.from(Buffer.from(hex, 'hex'));
  if (bytes.length === 0 || bytes.length > MAX_KEY_IDENTIFIER_BYTES) {
    throw new BadCertificate(`has a key identifier that is not 1 to ${MAX_KEY_IDENTIFIER_BYTES} bytes long`);
  }
  return bytes;
}
