/** Parses the certificates that parties register. */
import {
  ConsentError,
  MAX_CERTIFICATE_BYTES,
  parseCertificate,
  type X509,
} from '@measurement-exchange/consent';
import { fromBase64, invalid, type Timestamp, timestampOf } from '@measurement-exchange/contract';

interface CertificateDescription {
  subjectKeyIdentifier: Uint8Array;
  notBefore: Timestamp;
  notAfter: Timestamp;
}

/**
 * The error for a certificate that the exchange does not accept. Its message starts with a verb, such as "is not …",
 * because the field name precedes it.
 */
export class BadCertificate extends Error {}

/**
 * The maximum size of a key identifier. A key identifier is a hash of a key, and the longest hash in use (SHA-512) has
 * 64 bytes.
 */
const MAX_KEY_IDENTIFIER_BYTES = 64;
const ONE_PEM = /^\s*-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----\s*$/;

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
  const { notBefore, notAfter, subjectKeyIdentifier, authorityKeyIdentifier } = parse(der);
  if (subjectKeyIdentifier === undefined) throw new BadCertificate('has no subject key identifier');
  for (const identifier of [subjectKeyIdentifier, authorityKeyIdentifier]) {
    if (identifier !== undefined && identifier.length > MAX_KEY_IDENTIFIER_BYTES) {
      throw new BadCertificate(
        `has a key identifier that is not 1 to ${MAX_KEY_IDENTIFIER_BYTES} bytes long`,
      );
    }
  }
  // A malformed date may be beyond the years that timestamps have.
  if ([notBefore, notAfter].some((date) => date.getUTCFullYear() < 1 || date.getUTCFullYear() > 9999)) {
    throw new BadCertificate('has a date that is not in the years 1 to 9999');
  }
  return {
    subjectKeyIdentifier,
    notBefore: timestampOf(notBefore.getTime()),
    notAfter: timestampOf(notAfter.getTime()),
  };
}

function parse(der: Uint8Array): X509 {
  if (der.length > MAX_CERTIFICATE_BYTES) {
    throw new BadCertificate(`is longer than ${MAX_CERTIFICATE_BYTES} bytes`);
  }
  try {
    return parseCertificate(der);
  } catch (cause) {
    if (!(cause instanceof ConsentError)) throw cause;
    throw new BadCertificate('is not an X.509 certificate in DER', { cause });
  }
}
