import { type Der, derElements, oidText } from './der.ts';

/** The type of a signing key. Types and curves have the names in the contract's table of signature algorithms. */
export interface KeyKind {
  /** The key type: `EC`, `RSA`, or the OID of any other type. */
  keyType: string;
  /** The curve of an EC key: `P-256`, `P-384`, `P-521`, or the OID of any other curve. */
  curve?: string;
}

const EC = '1.2.840.10045.2.1';
const RSA = '1.2.840.113549.1.1.1';
const CURVES: Record<string, string> = {
  '1.2.840.10045.3.1.7': 'P-256',
  '1.3.132.0.34': 'P-384',
  '1.3.132.0.35': 'P-521',
};

/**
 * Returns the key type that an AlgorithmIdentifier states. Both certificates and PKCS #8 keys contain an
 * AlgorithmIdentifier.
 */
export function keyKind(algorithmIdentifier: Der): KeyKind {
  const [algorithm, parameters] = derElements(algorithmIdentifier.content);
  const oid = oidText(algorithm);
  if (oid === RSA) return { keyType: 'RSA' };
  if (oid !== EC) return { keyType: oid };
  const curve = oidText(parameters);
  return { keyType: 'EC', curve: CURVES[curve] ?? curve };
}
