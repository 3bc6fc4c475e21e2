/**
 * Certificates never change, so each is parsed once, and its key and its issuer's signature are looked at once: a
 * create with three providers spent a quarter of its processor time on that.
 */
import { type KeyObject, X509Certificate } from 'node:crypto';
import { keepByBytes } from './keepByBytes.ts';

const keys = new WeakMap<X509Certificate, KeyObject>();

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

type Relation = (certificate: X509Certificate, issuer: X509Certificate) => boolean;

/** Looked at once for each two. */
function kept(holds: Relation): Relation {
  const known = new WeakMap<X509Certificate, WeakMap<X509Certificate, boolean>>();
  return (certificate, issuer) => {
    const answer = known.get(certificate)?.get(issuer);
    if (answer !== undefined) return answer;
    const ofCertificate = known.get(certificate) ?? new WeakMap<X509Certificate, boolean>();
    const looked = holds(certificate, issuer);
    known.set(certificate, ofCertificate.set(issuer, looked));
    return looked;
  };
}

/** Names, the key identifier where the certificate names its issuer's, and keyCertSign; not the signature. */
export const namesIssuer = kept((certificate, issuer) => certificate.checkIssued(issuer));

/** Whether the issuer's key made the signature on the certificate. */
export const isSignedByIssuer = kept((certificate, issuer) => certificate.verify(publicKeyOf(issuer)));
