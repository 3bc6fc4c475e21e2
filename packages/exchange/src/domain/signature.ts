/** Signatures over messages, checked with the key of a certificate. */
import { type KeyObject, verify, X509Certificate } from 'node:crypto';
import { SIGNATURE_ALGORITHMS, type SignedMessage } from '@measurement-exchange/contract';

type AlgorithmName = keyof typeof SIGNATURE_ALGORITHMS;
interface Algorithm {
  keyType: 'ec' | 'rsa';
  hash: string;
  curve?: string;
}

const ALGORITHMS: Record<AlgorithmName, Algorithm> = {
  ECDSA_P256_SHA256: { keyType: 'ec', hash: 'sha256', curve: 'prime256v1' },
  ECDSA_P384_SHA384: { keyType: 'ec', hash: 'sha384', curve: 'secp384r1' },
  ECDSA_P521_SHA512: { keyType: 'ec', hash: 'sha512', curve: 'secp521r1' },
  RSA_PKCS1_SHA256: { keyType: 'rsa', hash: 'sha256' },
  RSA_PKCS1_SHA384: { keyType: 'rsa', hash: 'sha384' },
  RSA_PKCS1_SHA512: { keyType: 'rsa', hash: 'sha512' },
};
const BY_OID = new Map(
  Object.entries(SIGNATURE_ALGORITHMS).map(([name, oid]) => [
    oid as string,
    ALGORITHMS[name as AlgorithmName],
  ]),
);

/** Whether the signature (ECDSA: in DER) is one over exactly these bytes by the key of the certificate (DER). */
export function isSignedBy(signed: SignedMessage, certificateDer: Uint8Array): boolean {
  try {
    const key = new X509Certificate(certificateDer).publicKey;
    const hash = hashOf(signed.signatureAlgorithm, key);
    return hash !== undefined && verify(hash, signed.message, key, signed.signature);
  } catch {
    return false;
  }
}

/** The hash to verify with; undefined where the named algorithm is not one for this key. */
function hashOf(named: string | undefined, key: KeyObject): string | undefined {
  const keyType = key.asymmetricKeyType;
  const curve = key.asymmetricKeyDetails?.namedCurve;
  const isOfKey = (a: Algorithm) => a.keyType === keyType && a.curve === curve;
  // Where the message does not name its algorithm, the key does.
  if (named === undefined) return Object.values(ALGORITHMS).find(isOfKey)?.hash;
  // An OID tells the kind of key and the hash, a name the curve as well.
  const byOid = BY_OID.get(named);
  if (byOid !== undefined) return byOid.keyType === keyType ? byOid.hash : undefined;
  const byName = ALGORITHMS[named as AlgorithmName];
  return isOfKey(byName) ? byName.hash : undefined;
}
