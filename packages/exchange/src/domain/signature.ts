/** Signatures over messages, checked with the key of a certificate. */
import { type KeyObject, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { type SignedMessage, signatureHash } from '@measurement-exchange/contract';
import { parseCertificate, publicKeyOf } from './parsedCertificates.ts';

/** OpenSSL's names to those of the table of algorithms. */
const CURVES: Record<string, string> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };
const KEY_TYPES: Record<string, string> = { ec: 'EC', rsa: 'RSA' };

/** On a thread of the pool: a tenth of a millisecond and more, in which others are served. */
const verifyAside = promisify(verify);

/** Whether the signature (ECDSA: in DER) is one over exactly these bytes by the key of the certificate (DER). */
export async function isSignedBy(signed: SignedMessage, certificateDer: Uint8Array): Promise<boolean> {
  try {
    const key = publicKeyOf(parseCertificate(certificateDer));
    const hash = signatureHash(signed.signatureAlgorithm, kindOf(key));
    return hash !== undefined && (await verifyAside(hash, signed.message, key, signed.signature));
  } catch {
    return false;
  }
}

function kindOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject) {
  const curve = asymmetricKeyDetails?.namedCurve;
  // A curve that the table does not know keeps its name, which no algorithm has.
  return {
    keyType: KEY_TYPES[asymmetricKeyType!] ?? asymmetricKeyType!,
    curve: curve === undefined ? undefined : (CURVES[curve] ?? curve),
  };
}
