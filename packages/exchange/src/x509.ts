/** Reading the certificates that parties register. */
import 'reflect-metadata'; // @peculiar/x509 does not load without it
import { X509Certificate } from 'node:crypto';
import { equalBytes, type Timestamp, timestampOf } from '@measurement-exchange/contract';
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
