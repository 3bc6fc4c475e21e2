/**
 * Certificates never change, so each is parsed once, and its key and its issuer's signature are looked at once: a
 * create with three providers spent a quarter of its processor time on that.
 */
import { type KeyObject, X509Certificate } from 'node:crypto';
import { keepByBytes } from './keepByBytes.ts';

const keys = new WeakMap<X509Certificate, KeyObject>();
const signatures = new WeakMap<X509Certificate, WeakMap<X509Certificate, boolean>>();

/** Throws where the bytes are no certificate. */
export const parseCertificate = keepByBytes((der) => new X509Certificate(der));

export function publicKeyOf(certificate: X509Certificate): KeyObject {
  let key = keys.get(certificate);
  if (key === undefined) {
    key = certificate.publicKey;
    keys.set(certificate, key);
  }
  return key;
}

/** Whether the issuer's key made the signature on the certificate. */
export function isSignedByIssuer(certificate: X509Certificate, issuer: X509Certificate): boolean {
  const known = signatures.get(certificate) ?? new WeakMap<X509Certificate, boolean>();
  signatures.set(certificate, known);
  let signed = known.get(issuer);
  if (signed === undefined) {
    signed = certificate.verify(publicKeyOf(issuer));
    known.set(issuer, signed);
  }
  return signed;
}
