/** Describes a certificate. The description includes the fingerprint, which people can compare. */
import { parseCertificate, parseCertificatePem } from '@measurement-exchange/consent';

export interface CertificateFacts {
  subject: string;
  issuer: string;
  notBefore: Date;
  notAfter: Date;
  /** SHA-256, such as `9F:86:D0:…`. People compare it over a separate channel, such as the phone. */
  fingerprint: string;
}

/** Reads a certificate in PEM (text) or DER (bytes). Throws ConsentError if it is not a certificate. */
export async function describeCertificate(certificate: string | Uint8Array): Promise<CertificateFacts> {
  const x509 =
    typeof certificate === 'string' ? parseCertificatePem(certificate) : parseCertificate(certificate);
  const { subject, issuer, notBefore, notAfter } = x509;
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', Uint8Array.from(x509.der)));
  const pairs = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0').toUpperCase());
  return { subject, issuer, notBefore, notAfter, fingerprint: pairs.join(':') };
}

/** Returns whether the text is a SHA-256 fingerprint: 64 hexadecimal digits, with or without colons and spaces. */
export function isFingerprint(text: string): boolean {
  return /^[0-9A-F]{64}$/.test(digitsOf(text));
}

export function isSameFingerprint(a: string, b: string): boolean {
  return digitsOf(a) === digitsOf(b);
}

function digitsOf(fingerprint: string): string {
  return fingerprint.replace(/[:\s]/g, '').toUpperCase();
}
